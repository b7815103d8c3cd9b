"""`cobalt export`: training data out of bags, and its validator."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from cobalt_recorder.data_set import with_progress
from cobalt_recorder.export.choice import ACTIONS, GROUPINGS, ExportChoice
from cobalt_recorder.export.run import FORMATS, Export, export_data_set
from cobalt_recorder.plain_text import plain_text
from cobalt_recorder.quality_rules import VERDICTS
from cobalt_teleop.core.errors import CobaltError


def add_parser(subparsers: Any) -> None:
    """Adds `export` to the command `cobalt`."""
    parser = subparsers.add_parser(
        'export',
        help='make training data out of bags: LeRobot, robomimic',
        description='Exports the episodes of a data set that fit, and validates what was written. Bags are only read. '
        'Without --format, the given export itself is validated. Exit code: 0, 1 if it failed or an episode had to be '
        'left out, 2 if what was written is not valid.',
    )
    parser.add_argument('path', type=Path, help='data set, or folder of a bag; without --format, an export')
    parser.add_argument('--format', choices=FORMATS, help='lerobot (a folder) or robomimic (an .hdf5 file)')
    parser.add_argument('-o', '--output', type=Path, metavar='PATH', help='what is made; must not exist')
    parser.add_argument('--action', choices=ACTIONS, default='absolute', help='action space')
    parser.add_argument('--rate', type=float, default=0.0, metavar='HZ', help='the declared control rate if not given')
    parser.add_argument('--every-row', action='store_true', help='each recorded row is a frame: nothing is resampled')
    parser.add_argument('--cameras', nargs='*', metavar='NAME', help='all if not given; none after a bare --cameras')
    parser.add_argument('--size', type=_size, metavar='WxH', help='of pictures, such as 128x96; as recorded otherwise')
    parser.add_argument(
        '--verdicts', nargs='+', choices=VERDICTS, default=['ACCEPT'], help='which episodes; ACCEPT if not given'
    )
    parser.add_argument('--tasks', nargs='+', default=(), metavar='NAME', help='only these')
    parser.add_argument(
        '--objects',
        action='store_true',
        help="with the poses of the task's objects, as a simulator or a tracker told them",
    )
    parser.add_argument('--human-only', action='store_true', help='only stretches that a person drove')
    parser.add_argument('--pseudonyms', action='store_true', help='operators are named by numbers')
    parser.add_argument('--valid-share', type=float, default=0.1, metavar='X', help='of episodes, for validation (0.1)')
    parser.add_argument(
        '--keep-together', choices=GROUPINGS, default='episode', help='what is not torn apart by the split'
    )
    parser.add_argument('--json', action='store_true', help='print one JSON object')
    parser.set_defaults(func=export)


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.partition('x')
    if not (width.isdigit() and height.isdigit()):
        raise argparse.ArgumentTypeError(f'{text} is no size such as 128x96')
    return int(width), int(height)


def export(arguments: argparse.Namespace) -> int:
    """Exports or validates, and prints what came of it.

    Returns:
        0, 1 if it failed or an episode had to be left out, 2 if what was written is not valid.
    """
    # Only this command needs pyarrow and h5py, and `cobalt` loads every command.
    from cobalt_recorder.export.validate import validate

    try:
        if arguments.format is None:
            return _tell_problems(arguments, validate(arguments.path))
        if arguments.output is None:
            raise CobaltError('-o is missing: say where the export goes.')
        choice = ExportChoice(
            action=arguments.action,
            rate_hz=arguments.rate,
            every_row=arguments.every_row,
            cameras=None if arguments.cameras is None else tuple(arguments.cameras),
            size=arguments.size,
            verdicts=tuple(arguments.verdicts),
            tasks=tuple(arguments.tasks),
            objects=arguments.objects,
            human_only=arguments.human_only,
            pseudonyms=arguments.pseudonyms,
            valid_share=arguments.valid_share,
            keep_together=arguments.keep_together,
        )
        made = export_data_set(
            arguments.path,
            arguments.output,
            arguments.format,
            choice,
            lambda episodes: with_progress(episodes, 'exporting'),
        )
        problems = validate(made.path)
    except CobaltError as error:
        print(f'cobalt export: {plain_text(str(error))}', file=sys.stderr)
        return 1
    print(_as_json(made, problems) if arguments.json else _as_text(made, problems))
    return 2 if problems else 1 if made.skipped else 0


def _tell_problems(arguments: argparse.Namespace, problems: list[str]) -> int:
    if arguments.json:
        print(json.dumps({'path': str(arguments.path), 'valid': not problems, 'problems': problems}))
    else:
        print('\n'.join([*(f'NOT VALID  {plain_text(one)}' for one in problems), *([] if problems else ['valid'])]))
    return 2 if problems else 0


def _as_json(made: Export, problems: list[str]) -> str:
    content = {
        'path': str(made.path),
        'rate_hz': made.rate_hz,
        'cameras': list(made.cameras),
        'frames': sum(episode.frames for episode in made.episodes),
        'episodes': [
            {'source': one.source, 'segment': one.segment, 'frames': one.frames, 'split': one.split}
            for one in made.episodes
        ],
        'skipped': [{'source': source, 'reason': reason} for source, reason in made.skipped],
        'valid': not problems,
        'problems': problems,
    }
    return json.dumps(content)


def _as_text(made: Export, problems: list[str]) -> str:
    frames = sum(episode.frames for episode in made.episodes)
    valid = sum(episode.split == 'valid' for episode in made.episodes)
    lines = [f'LEFT OUT   {source}: {reason}' for source, reason in made.skipped]
    lines += [f'NOT VALID  {problem}' for problem in problems]
    lines.append(
        f'{made.path}: {len(made.episodes)} episodes ({valid} for validation), {frames} frames at {made.rate_hz:g} Hz, '
        f'cameras: {", ".join(made.cameras) or "none"}; {"NOT VALID" if problems else "validated"}'
    )
    return '\n'.join(plain_text(line) for line in lines)
