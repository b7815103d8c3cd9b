"""`cobalt bag judge`: what other rules say of the episodes of a data set. Bags are only read, if at all."""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cobalt_recorder.accepted_episodes import AcceptedEpisodes
from cobalt_recorder.data_set import find_bags, with_progress
from cobalt_recorder.judge import judge_bag
from cobalt_recorder.metrics import catalogue
from cobalt_recorder.plain_text import plain_text
from cobalt_recorder.quality_rules import VERDICTS, QualityRules
from cobalt_recorder.rejudge import rejudge
from cobalt_recorder.rules_file import load_rules, shipped_rules
from cobalt_recorder.verdict_file import EpisodeVerdict, read_label, read_verdict
from cobalt_teleop.core.errors import CobaltError

_BAD_RULES = 2


@dataclass(frozen=True)
class _Rejudged:
    folder: Path
    before: str
    verdict: EpisodeVerdict


def add_action(actions: Any) -> None:
    """Adds `judge` to the command `cobalt bag`."""
    parser = actions.add_parser(
        'judge',
        help='judge a data set by other rules',
        description='Judges all episodes below a folder from the figures beside their bags, and shows whose verdict '
        'changes. Exit code: 0, 1 if an episode could not be judged, 2 if the rules are bad.',
    )
    parser.add_argument('path', type=Path, help='data set, folder of a task, or folder of a bag')
    parser.add_argument('--rules', type=Path, metavar='FILE', help='quality rules; the shipped ones if not given')
    parser.add_argument('--write', action='store_true', help='replace the verdict.json beside each bag')
    parser.add_argument('--recompute', action='store_true', help='compute all figures again from the bags')
    parser.add_argument('--json', action='store_true', help='print one JSON object')
    parser.set_defaults(func=judge_data_set)


def judge_data_set(arguments: argparse.Namespace) -> int:
    """Judges, and prints what came of it.

    Returns:
        0, 1 if an episode could not be judged, 2 if the rules are bad.
    """
    try:
        rules = load_rules(arguments.rules or shipped_rules())
    except CobaltError as error:
        print(f'cobalt bag judge: {error}', file=sys.stderr)
        return _BAD_RULES
    try:
        folders = find_bags(arguments.path)
    except CobaltError as error:
        print(f'cobalt bag judge: {error}', file=sys.stderr)
        return 1
    known: list[tuple[Path, str, EpisodeVerdict]] = []
    failed: list[tuple[Path, str]] = []
    for folder in with_progress(folders, 'judging'):
        stored = read_verdict(folder)
        try:
            figures = _figures(folder, stored, rules, recompute=arguments.recompute)
        except (CobaltError, OSError) as error:
            failed.append((folder, plain_text(str(error))))
        else:
            known.append((folder, stored.judged.verdict if stored else 'UNKNOWN', figures))
    verdicts = rejudge([figures for _, _, figures in known], rules)
    found = [_Rejudged(folder, before, verdict) for (folder, before, _), verdict in zip(known, verdicts, strict=True)]
    if arguments.write:
        failed += _write(found)
    show = _as_json if arguments.json else _as_text
    print(show(found, failed, rules, written=arguments.write))
    return 1 if failed else 0


def _figures(folder: Path, stored: EpisodeVerdict | None, rules: QualityRules, *, recompute: bool) -> EpisodeVerdict:
    """Returns what is known of an episode: from verdict.json as far as that still holds, else from the bag."""
    label = read_label(folder)
    usable = stored is not None and stored.metrics_version == catalogue.VERSION
    if usable and stored is not None and (label is None or label.outcome == stored.outcome) and not recompute:
        return stored
    _, verdict = judge_bag(folder, rules, accepted=AcceptedEpisodes(()))
    return verdict


def _write(found: Sequence[_Rejudged]) -> list[tuple[Path, str]]:
    failed = []
    for one in found:
        try:
            one.verdict.write(one.folder)
        except OSError as error:
            failed.append((one.folder, f'its verdict.json cannot be written: {error.strerror or error}'))
    return failed


def _counts(found: Sequence[_Rejudged]) -> dict[str, int]:
    counts = Counter(one.verdict.judged.verdict for one in found)
    return {verdict: counts[verdict] for verdict in VERDICTS[1:]}


def _as_json(
    found: Sequence[_Rejudged], failed: Sequence[tuple[Path, str]], rules: QualityRules, *, written: bool
) -> str:
    content = {
        'rules_hash': rules.hash,
        'counts': _counts(found),
        'changed': sum(one.verdict.judged.verdict != one.before for one in found),
        'written': written,
        'episodes': [
            {
                'path': str(one.folder),
                'episode_id': one.verdict.episode_id,
                'task': one.verdict.task,
                'outcome': one.verdict.outcome,
                'before': one.before,
                'verdict': one.verdict.judged.verdict,
                'reasons': list(one.verdict.judged.reasons),
                'tip': one.verdict.judged.tip,
            }
            for one in found
        ],
        'failed': [{'path': str(folder), 'reason': reason} for folder, reason in failed],
    }
    return json.dumps(content)


def _as_text(
    found: Sequence[_Rejudged], failed: Sequence[tuple[Path, str]], rules: QualityRules, *, written: bool
) -> str:
    lines = []
    changed = [one for one in found if one.verdict.judged.verdict != one.before]
    for one in changed:
        judged = one.verdict.judged
        lines.append(f'{one.before} -> {judged.verdict}  {one.folder}')
        lines += [f'    - {reason}' for reason in judged.reasons]
        lines += [f'    tip: {judged.tip}'] if judged.tip else []
    lines += [f'NOT JUDGED  {folder}: {reason}' for folder, reason in failed]
    counts = ', '.join(f'{count} {verdict}' for verdict, count in _counts(found).items())
    lines.append(f'{len(found)} episodes by rules {rules.hash}: {counts}; {len(changed)} changed')
    if changed and not written:
        lines.append('Nothing was written: with --write, verdict.json beside each bag is replaced.')
    return '\n'.join(plain_text(line) for line in lines)
