"""`cobalt bag trim` and `cobalt bag merge`: new bags of parts of bags."""

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from cobalt_recorder.merge import merge
from cobalt_recorder.plain_text import plain_text
from cobalt_recorder.trim import trim
from cobalt_teleop.core.errors import CobaltError


def add_actions(actions: Any) -> None:
    """Adds `trim` and `merge` to the command `cobalt bag`."""
    parser = actions.add_parser(
        'trim',
        help='cut a stretch of time out of a bag into a new bag',
        description='Writes the messages from one time to another into a new bag, with what they cannot be read '
        'without: the newest latched messages before, and video since its last key frame. The bag itself is left as '
        'it is. Exit code: 0, or 1 if it failed.',
    )
    parser.add_argument('path', type=Path, help='folder of a bag, or its .mcap file')
    parser.add_argument('-o', '--output', type=Path, required=True, metavar='FOLDER', help='the new bag')
    parser.add_argument('--start', type=float, default=0.0, metavar='S', help='since the first message [s]')
    parser.add_argument('--end', type=float, default=math.inf, metavar='S', help='since the first message [s]')
    parser.add_argument('--json', action='store_true', help='print one JSON object')
    parser.set_defaults(func=trim_bag)
    parser = actions.add_parser(
        'merge',
        help='join bags into a new one, to be looked at together',
        description='Writes all messages of several bags into a new one, in the order of their log times; the bags are '
        'left as they are. The new bag is no episode: it belongs into no data set. Exit code: 0, or 1 if it failed.',
    )
    parser.add_argument('paths', type=Path, nargs='+', help='folders of bags, or their .mcap files')
    parser.add_argument('-o', '--output', type=Path, required=True, metavar='FOLDER', help='the new bag')
    parser.add_argument('--json', action='store_true', help='print one JSON object')
    parser.set_defaults(func=merge_bags)


@contextmanager
def _bar(what: str) -> Iterator[Callable[[int, int], None]]:
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def trim_bag(arguments: argparse.Namespace) -> int:
    """Trims a bag; returns 0, or 1 if it failed."""
    try:
        with _bar('trimming') as progress:
            made = trim(arguments.path, arguments.output, arguments.start, arguments.end, progress)
    except CobaltError as error:
        print(f'cobalt bag trim: {plain_text(str(error))}', file=sys.stderr)
        return 1
    _tell(arguments, made.folder, made.messages)
    return 0


def merge_bags(arguments: argparse.Namespace) -> int:
    """Merges bags; returns 0, or 1 if it failed."""
    try:
        with _bar('merging') as progress:
            messages = merge(arguments.paths, arguments.output, progress)
    except CobaltError as error:
        print(f'cobalt bag merge: {plain_text(str(error))}', file=sys.stderr)
        return 1
    _tell(arguments, arguments.output.expanduser().absolute(), messages)
    return 0


def _tell(arguments: argparse.Namespace, folder: Path, messages: dict[str, int]) -> None:
    if arguments.json:
        print(json.dumps({'path': str(folder), 'messages': messages}))
    else:
        print(plain_text(f'{folder}: {sum(messages.values())} messages of {len(messages)} topics'))
