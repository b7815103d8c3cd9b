"""`cobalt bag label`: what a reviewer calls an episode; judged anew at once. The bag stays as it is."""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from cobalt_recorder.data_set import find_bags
from cobalt_recorder.judge import judge_bag
from cobalt_recorder.plain_text import plain_text
from cobalt_recorder.rules_file import load_rules, shipped_rules
from cobalt_recorder.verdict_file import LABEL_FILE, EpisodeVerdict, Label
from cobalt_teleop.core.episode import Outcome, OutcomeSource
from cobalt_teleop.core.errors import CobaltError

_OUTCOMES = [outcome.name for outcome in Outcome if outcome is not Outcome.UNKNOWN]


def add_action(actions: Any) -> None:
    """Adds `label` to the command `cobalt bag`."""
    parser = actions.add_parser(
        'label',
        help='say what an episode is, after looking at it',
        description=f'Writes {LABEL_FILE} beside bags, which overrules the outcome in them, and judges them anew. Bags '
        'themselves are left as they are. Exit code: 0, or 1 if an episode could not be labelled or judged.',
    )
    parser.add_argument('paths', type=Path, nargs='+', help='folders of bags')
    parser.add_argument('--outcome', choices=_OUTCOMES, required=True, help='what it is')
    parser.add_argument('--note', default='', help='why, in words')
    parser.add_argument('--rules', type=Path, metavar='FILE', help='quality rules; the shipped ones if not given')
    parser.add_argument('--json', action='store_true', help='print one JSON object')
    parser.set_defaults(func=label)


def label(arguments: argparse.Namespace) -> int:
    """Labels, and prints the verdicts; returns 0, or 1 if one failed."""
    done: list[EpisodeVerdict] = []
    failed: list[tuple[Path, str]] = []
    for path in arguments.paths:
        try:
            done.append(_label_one(path, arguments))
        except (CobaltError, OSError) as error:
            failed.append((path, plain_text(str(error))))
    if arguments.json:
        episodes = [
            {'path': one.bag_uri, 'outcome': one.outcome, 'verdict': one.judged.verdict, 'reasons': one.judged.reasons}
            for one in done
        ]
        print(json.dumps({'labelled': episodes, 'failed': [{'path': str(p), 'reason': why} for p, why in failed]}))
    else:
        for one in done:
            reasons = f': {"; ".join(one.judged.reasons)}' if one.judged.reasons else ''
            print(plain_text(f'{one.bag_uri}: {one.outcome}, {one.judged.verdict}{reasons}'))
        for path, reason in failed:
            print(f'cobalt bag label: {path}: {reason}', file=sys.stderr)
    return 1 if failed else 0


def _label_one(path: Path, arguments: argparse.Namespace) -> EpisodeVerdict:
    folders = find_bags(path)
    if folders != [path.expanduser().absolute()]:
        raise CobaltError(f'it is not one bag, but a folder of {len(folders)}: give the folder of each episode')
    rules = load_rules(arguments.rules or shipped_rules())
    Label(
        outcome=arguments.outcome,
        outcome_source=OutcomeSource.REVIEWER.name,
        note=plain_text(arguments.note),
        labelled_ns=time.time_ns(),
    ).write(folders[0])
    _, verdict = judge_bag(folders[0], rules)
    verdict.write(folders[0])
    return verdict
