"""`cobalt dataset`: statistics, choice, splits, card of a data set, and the one command that removes episodes."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from cobalt_recorder.data_set import with_progress
from cobalt_recorder.dataset.card import dataset_card, is_own_card
from cobalt_recorder.dataset.prune import PRUNED_FILE, prune
from cobalt_recorder.dataset.selection import add_selection, require_some, selection_of
from cobalt_recorder.dataset.statistics import statistics
from cobalt_recorder.dataset.subset import make_subset
from cobalt_recorder.dataset_index import DatasetIndex, IndexedEpisode
from cobalt_recorder.export.choice import GROUPINGS
from cobalt_recorder.export.splits import group_of, valid_groups
from cobalt_recorder.plain_text import plain_text
from cobalt_recorder.rosbag2_metadata import write_atomically
from cobalt_teleop.core.errors import CobaltError

CARD_FILE = 'CARD.md'
SPLITS_FILE = 'splits.json'

_Action = Callable[[argparse.Namespace, DatasetIndex, list[IndexedEpisode]], int]


def add_parser(subparsers: Any) -> None:
    """Adds `dataset` to the command `cobalt`."""
    parser = subparsers.add_parser('dataset', help='statistics, choice, splits and card of a data set; prune')
    actions = parser.add_subparsers(dest='action', required=True, metavar='ACTION')
    _add(actions, 'stats', _stats, 'show what it holds, by task and operator, and progress over time')
    one = _add(actions, 'filter', _filter, 'list the episodes that fit, or make a data set of them')
    one.add_argument(
        '-o', '--output', type=Path, metavar='FOLDER', help='a new data set of them, which shares their bytes'
    )
    one = _add(actions, 'split', _split, 'divide the episodes for training, validation and test')
    one.add_argument('--valid-share', type=float, default=0.1, metavar='X', help='of episodes (0.1)')
    one.add_argument('--test-share', type=float, default=0.0, metavar='X', help='of episodes (0)')
    one.add_argument('--keep-together', choices=GROUPINGS, default='episode', help='what is not torn apart')
    one.add_argument('-o', '--output', type=Path, metavar='FILE', help=f'{SPLITS_FILE} in the data set if not given')
    one = _add(actions, 'card', _card, 'write a card that tells others what it holds')
    one.add_argument('--pseudonyms', action='store_true', help='operators are named by numbers')
    one.add_argument('-o', '--output', type=Path, metavar='FILE', help=f'{CARD_FILE} in the data set if not given')
    one = _add(actions, 'prune', _prune, 'remove episodes for good, after --yes; shows them otherwise')
    one.add_argument('--yes', action='store_true', help='do it')


def _add(actions: Any, name: str, action: _Action, what: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = actions.add_parser(
        name, help=what, description=f'{what[0].upper()}{what[1:]}. Exit code: 0, or 1 if it failed.'
    )
    parser.add_argument('path', type=Path, help='folder of a data set')
    add_selection(parser)
    parser.add_argument('--json', action='store_true', help='print one JSON object')
    parser.set_defaults(func=partial(_run, name=name, action=action))
    return parser


def _run(arguments: argparse.Namespace, *, name: str, action: _Action) -> int:
    """Selects, and does what was asked; returns 0, or 1 if it failed."""
    try:
        index = DatasetIndex(arguments.path, track=lambda folders: with_progress(folders, 'reading'))
        with closing(index):
            episodes = selection_of(arguments).of(index)
            require_some(episodes)
            return action(arguments, index, episodes)
    except CobaltError as error:
        text = str(error)
    except OSError as error:
        text = f'{error.filename}: {error.strerror}' if error.filename else str(error)
    print(f'cobalt dataset {name}: {plain_text(text)}', file=sys.stderr)
    return 1


def _tell(arguments: argparse.Namespace, content: Any, lines: Sequence[str]) -> None:
    print(json.dumps(content) if arguments.json else '\n'.join(plain_text(line) for line in lines))


def _stats(arguments: argparse.Namespace, index: DatasetIndex, episodes: list[IndexedEpisode]) -> int:
    figures = statistics(index, episodes)
    lines = [
        f'{figures["episodes"]} episodes, {figures["hours"]:.2f} hours, {figures["bytes"] / 1e6:.1f} MB',
        f'outcomes     {_counted(figures["outcomes"])}',
        f'verdicts     {_counted(figures["verdicts"])}',
    ]
    for task in figures['tasks']:
        medians = ', '.join(f'{name} {value:.4g}' for name, value in task['medians'].items())
        lines += ['', f'task {task["task"] or "unnamed"}: {_shares(task)}', f'    medians: {medians or "none"}']
    for one in figures['operators']:
        lines += ['', f'operator {one["operator"] or "unnamed"}: {_shares(one)}']
        lines += [f'    {day["day"]}: {_shares(day)}{_smooth(day)}' for day in one['progress']]
    if figures['reasons']:
        lines += ['', 'what verdicts object to:', *(f'    {n:>5}  {text}' for text, n in figures['reasons'].items())]
    _tell(arguments, figures, lines)
    return 0


def _counted(counts: dict[str, int]) -> str:
    return ', '.join(f'{count} {name}' for name, count in counts.items())


def _shares(group: dict[str, Any]) -> str:
    return (
        f'{group["episodes"]} episodes, {group["success_share"]:.0%} success, {group["accepted_share"]:.0%} accepted, '
        f'median {group["median_duration_s"]:.1f} s'
    )


def _smooth(day: dict[str, Any]) -> str:
    return '' if day['median_sparc'] is None else f', SPARC {day["median_sparc"]:.2f}'


def _filter(arguments: argparse.Namespace, index: DatasetIndex, episodes: list[IndexedEpisode]) -> int:
    paths = [str(index.dataset / episode.path) for episode in episodes]
    if arguments.output is None:
        _tell(arguments, {'episodes': paths}, paths)
        return 0
    make_subset(index.dataset, with_progress(episodes, 'linking'), arguments.output)
    made = str(arguments.output.expanduser().absolute())
    _tell(arguments, {'path': made, 'episodes': paths}, [f'{made}: {len(paths)} episodes'])
    return 0


def _split(arguments: argparse.Namespace, index: DatasetIndex, episodes: list[IndexedEpisode]) -> int:
    shares = arguments.valid_share, arguments.test_share
    if min(shares) < 0.0 or sum(shares) >= 1.0:
        raise CobaltError('the shares for validation and test must be 0 or more, and less than 1 together.')
    groups = {episode.path: group_of(episode, arguments.keep_together) for episode in episodes}
    test = valid_groups(list(groups.values()), arguments.test_share)
    rest = [group for group in groups.values() if group not in test]
    valid = valid_groups(rest, arguments.valid_share * len(groups) / max(1, len(rest)))
    parts = {
        'train': [path for path, group in groups.items() if group not in test | valid],
        'valid': [path for path, group in groups.items() if group in valid],
        'test': [path for path, group in groups.items() if group in test],
    }
    output = (arguments.output or index.dataset / SPLITS_FILE).expanduser().absolute()
    content = {'keep_together': arguments.keep_together, **parts}
    write_atomically(output, json.dumps(content, indent=1) + '\n')
    sizes = ', '.join(f'{len(paths)} {name}' for name, paths in parts.items())
    _tell(arguments, {'path': str(output), **content}, [f'{output}: {sizes}'])
    return 0


def _card(arguments: argparse.Namespace, index: DatasetIndex, episodes: list[IndexedEpisode]) -> int:
    output = (arguments.output or index.dataset / CARD_FILE).expanduser().absolute()
    if output.exists() and not is_own_card(output):
        raise CobaltError(f'{output} is there already, and was not written by this command: give another name with -o.')
    card = dataset_card(index.dataset.name, episodes, statistics(index, episodes), pseudonyms=arguments.pseudonyms)
    write_atomically(output, card)
    _tell(arguments, {'path': str(output), 'episodes': len(episodes)}, [str(output)])
    return 0


def _prune(arguments: argparse.Namespace, index: DatasetIndex, episodes: list[IndexedEpisode]) -> int:
    if selection_of(arguments).is_everything:
        raise CobaltError('say which episodes, such as --verdicts REJECT or --outcomes DISCARDED.')
    size = sum(episode.bytes for episode in episodes)
    if not arguments.yes:
        lines = [f'{one.outcome:<10} {one.verdict:<8} {index.dataset / one.path}' for one in episodes]
        lines.append(
            f'{len(episodes)} episodes, {size / 1e6:.1f} MB. Nothing was removed: with --yes, these are, for good.'
        )
        paths = [one.path for one in episodes]
        _tell(arguments, {'would_remove': paths, 'bytes': size, 'removed': [], 'kept': []}, lines)
        return 0
    done = prune(index.dataset, [(one, index.reasons(one.path)) for one in with_progress(episodes, 'removing')])
    lines = [f'KEPT  {index.dataset / one.path}: {reason}' for one, reason in done.kept]
    lines.append(
        f'{len(done.removed)} episodes removed, {done.bytes / 1e6:.1f} MB; listed in {index.dataset / PRUNED_FILE}'
    )
    content = {
        'removed': [one.path for one in done.removed],
        'bytes': done.bytes,
        'kept': [{'path': one.path, 'reason': reason} for one, reason in done.kept],
    }
    _tell(arguments, content, lines)
    return 1 if done.kept else 0
