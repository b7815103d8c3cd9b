"""`cobalt bag verify`: whether bags hold what they seem to hold."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from cobalt_recorder.data_set import find_bags, with_progress
from cobalt_recorder.plain_text import plain_text
from cobalt_recorder.verify import Check, verify_bag
from cobalt_teleop.core.errors import CobaltError


def add_action(actions: Any) -> None:
    """Adds `verify` to the command `cobalt bag`."""
    parser = actions.add_parser(
        'verify',
        help='check that bags are whole',
        description='Reads every bag at or below a folder, decodes all messages and pictures, and checks counts, '
        'stamps and metadata. What ran more slowly than declared is noted, and no fault. Exit code: 0, or 1 if a bag '
        'has a problem or there is none.',
    )
    parser.add_argument('path', type=Path, help='folder of a bag, its .mcap file, or a data set')
    parser.add_argument('--json', action='store_true', help='print one JSON object')
    parser.set_defaults(func=verify)


def verify(arguments: argparse.Namespace) -> int:
    """Verifies, and prints what was found.

    Returns:
        0, or 1 if a bag has a problem or there is none.
    """
    try:
        folders = find_bags(arguments.path)
    except CobaltError as error:
        print(f'cobalt bag verify: {error}', file=sys.stderr)
        return 1
    found = {folder: _checks(folder) for folder in with_progress(folders, 'verifying')}
    print(_as_json(found) if arguments.json else _as_text(found))
    return 1 if any(check.problems for checks in found.values() for check in checks) else 0


def _checks(folder: Path) -> list[Check]:
    try:
        return verify_bag(folder)[1]
    except CobaltError as error:
        return [Check('file', (str(error),))]


def _as_json(found: dict[Path, list[Check]]) -> str:
    bags = [
        {
            'path': str(folder),
            'ok': not any(check.problems for check in checks),
            'checks': {check.name: list(check.problems) for check in checks},
            'notes': {check.name: list(check.notes) for check in checks if check.notes},
        }
        for folder, checks in found.items()
    ]
    return json.dumps({'ok': all(bag['ok'] for bag in bags), 'bags': bags})


def _as_text(found: dict[Path, list[Check]]) -> str:
    lines = []
    for folder, checks in found.items():
        bad = [check for check in checks if check.problems]
        lines.append(f'{"FAULTY" if bad else "ok    "}  {folder}')
        lines += [f'    {check.name}: {problem}' for check in bad for problem in check.problems]
        lines += [f'    note: {check.name}: {note}' for check in checks for note in check.notes]
    faulty = sum(any(check.problems for check in checks) for checks in found.values())
    names = ', '.join(check.name for check in max(found.values(), key=len))
    lines.append(f'{len(found)} bags checked ({names}): {faulty} have problems')
    return '\n'.join(plain_text(line) for line in lines)
