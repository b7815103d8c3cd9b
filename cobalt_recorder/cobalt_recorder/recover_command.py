"""`cobalt bag recover`: whole bags of what is intact in damaged ones."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from cobalt_recorder.bag_reader import bag_files
from cobalt_recorder.data_set import find_bags
from cobalt_recorder.plain_text import plain_text
from cobalt_recorder.recover import DAMAGED, Recovery, damage_of, recover
from cobalt_teleop.core.errors import CobaltError


def add_action(actions: Any) -> None:
    """Adds `recover` to the command `cobalt bag`."""
    parser = actions.add_parser(
        'recover',
        help='make whole bags of damaged ones',
        description='Makes a whole bag of all that is intact in a file that was cut short or altered, and says what '
        f'was lost. The bytes of the damaged file are kept, under a name that ends in {DAMAGED}. Bags that are whole '
        'are left as they are. Exit code: 0, or 1 if a bag could not be recovered or there is none.',
    )
    parser.add_argument('path', type=Path, help='folder of a bag, its .mcap file, or a data set')
    parser.add_argument(
        '-o',
        '--output',
        type=Path,
        metavar='FOLDER',
        help='write the whole bag here, and leave the damaged one as it is in its place; of one bag',
    )
    parser.add_argument('--json', action='store_true', help='print one JSON object')
    parser.set_defaults(func=recover_bags)


def recover_bags(arguments: argparse.Namespace) -> int:
    """Recovers, and prints what was lost.

    Returns:
        0, or 1 if a bag could not be recovered or there is none.
    """
    try:
        path = arguments.path.expanduser().absolute()
        places = [path] if path.is_file() else find_bags(path)
        if arguments.output is not None and len(places) > 1:
            raise CobaltError(f'{path} holds {len(places)} bags: -o takes one.')
    except CobaltError as error:
        print(f'cobalt bag recover: {error}', file=sys.stderr)
        return 1
    done: list[Recovery] = []
    failed: list[tuple[Path, str]] = []
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        all_bags = bar.add_task('bags', total=len(places))
        one_bag = bar.add_task('', visible=False)
        for place in places:
            try:
                if arguments.output is not None or damage_of(place):
                    size = sum(file.stat().st_size for file in bag_files(place))
                    bar.reset(one_bag, description=place.name, total=size, visible=True)
                    done.append(recover(place, arguments.output, lambda read: bar.update(one_bag, completed=read)))
            except (CobaltError, OSError) as error:
                failed.append((place, plain_text(str(error))))
            bar.advance(all_bags)
    whole = len(places) - len(done) - len(failed)
    print(_as_json(done, failed, whole) if arguments.json else _as_text(done, failed, whole))
    return 1 if failed else 0


def _as_json(done: list[Recovery], failed: list[tuple[Path, str]], whole: int) -> str:
    content = {
        'recovered': [recovery.as_json() for recovery in done],
        'whole': whole,
        'failed': [{'path': str(place), 'reason': reason} for place, reason in failed],
    }
    return json.dumps(content)


def _as_text(done: list[Recovery], failed: list[tuple[Path, str]], whole: int) -> str:
    lines = []
    for recovery in done:
        count = sum(recovery.messages.values())
        lines.append(f'recovered  {recovery.folder}: {count} messages of {recovery.seconds:.1f} s')
        lines += [f'    lost: {text}' for text in recovery.lost or ['nothing but the index, which is made anew']]
        if recovery.cut_off:
            lines.append('    the end of the episode is not in it: it counts as broken off')
        lines += [f'    as found: {file}' for file in recovery.originals]
    lines += [f'FAILED     {place}: {reason}' for place, reason in failed]
    lines.append(f'{len(done)} recovered, {whole} whole already, {len(failed)} failed')
    if done:
        lines.append('`cobalt bag judge --recompute --write` judges them anew.')
    return '\n'.join(plain_text(line) for line in lines)
