"""`cobalt bag report`: one HTML page on an episode or on a data set."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from cobalt_recorder.bag_files import PAGE
from cobalt_recorder.bag_reader import find_bag
from cobalt_recorder.data_set import find_bags, with_progress
from cobalt_recorder.judge import judge_bag, read_episode
from cobalt_recorder.metrics import catalogue
from cobalt_recorder.plain_text import plain_text
from cobalt_recorder.report.data_set_page import data_set_page
from cobalt_recorder.report.episode_page import episode_page
from cobalt_recorder.report.thumbnails import thumbnails
from cobalt_recorder.rules_file import load_rules, shipped_rules
from cobalt_recorder.verdict_file import EpisodeVerdict, read_verdict
from cobalt_teleop.core.errors import CobaltError


def add_action(actions: Any) -> None:
    """Adds `report` to the command `cobalt bag`."""
    parser = actions.add_parser(
        'report',
        help='write an HTML page on an episode or a data set',
        description='Writes one HTML file that needs no network: of a bag, pictures, plots and metrics; of a data set, '
        'verdicts, spreads and outliers. Exit code: 0, or 1 if an episode or the page failed.',
    )
    parser.add_argument('path', type=Path, help='folder of a bag, its .mcap file, or a data set')
    parser.add_argument(
        '-o', '--output', type=Path, metavar='FILE', help=f'the page; {PAGE} in the folder if not given'
    )
    parser.add_argument('--json', action='store_true', help='print one JSON object: the page, and what is not in it')
    parser.set_defaults(func=write_report)


def write_report(arguments: argparse.Namespace) -> int:
    """Writes the page, and prints where it lies.

    Returns:
        0, or 1 if an episode could not be read or the page could not be written.
    """
    path = arguments.path.expanduser().absolute()
    failed: list[tuple[Path, str]] = []
    try:
        folders = find_bags(path)
        is_bag = path.is_file() or folders == [path]
        content = _of_bag(path) if is_bag else _of_data_set(path, folders, failed)
    except CobaltError as error:
        print(f'cobalt bag report: {error}', file=sys.stderr)
        return 1
    output = (arguments.output or (folders[0] if is_bag else path) / PAGE).absolute()
    output.write_text(content, encoding='utf-8')
    if arguments.json:
        print(json.dumps({'page': str(output), 'failed': [{'path': str(p), 'reason': why} for p, why in failed]}))
    else:
        for folder, reason in failed:
            print(f'NOT IN IT  {folder}: {plain_text(reason)}')
        print(f'{output} ({len(content) / 1e6:.1f} MB): open it in a browser')
    return 1 if failed else 0


def _of_bag(path: Path) -> str:
    bag, verdict = judge_bag(path, load_rules(shipped_rules()))
    stored = read_verdict(bag.folder)
    if stored is not None and stored.metrics_version == catalogue.VERSION and stored.episode_id == bag.episode_id:
        verdict = verdict if bag.damage else stored
    return episode_page(bag, read_episode(find_bag(path)), verdict, thumbnails(bag))


def _of_data_set(path: Path, folders: list[Path], failed: list[tuple[Path, str]]) -> str:
    verdicts: list[EpisodeVerdict] = []
    rules = load_rules(shipped_rules())
    for folder in with_progress(folders, 'reading'):
        verdict = read_verdict(folder)
        try:
            if verdict is None or verdict.metrics_version != catalogue.VERSION:
                _, verdict = judge_bag(folder, rules)
        except CobaltError as error:
            failed.append((folder, str(error)))
        else:
            verdicts.append(verdict)
    verdicts.sort(key=lambda verdict: verdict.episode_id)
    return data_set_page(path.name, verdicts)
