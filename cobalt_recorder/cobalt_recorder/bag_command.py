"""`cobalt bag`: its actions, and `info`, what a bag holds and what it is worth. Needs no ROS 2 running."""

import argparse
import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cobalt_recorder import episode_facts
from cobalt_recorder.bag_reader import Bag, read_bag
from cobalt_recorder.cut_commands import add_actions as add_trim_and_merge
from cobalt_recorder.index_command import add_action as add_index
from cobalt_recorder.judge import judge_bag
from cobalt_recorder.judge_command import add_action as add_judge
from cobalt_recorder.label_command import add_action as add_label
from cobalt_recorder.metric_table import metric_lines
from cobalt_recorder.plain_text import plain_text
from cobalt_recorder.play_command import add_action as add_play
from cobalt_recorder.recover import RECOVERY
from cobalt_recorder.recover_command import add_action as add_recover
from cobalt_recorder.report_command import add_action as add_report
from cobalt_recorder.rules_file import load_rules, shipped_rules
from cobalt_recorder.trim import TRIM
from cobalt_recorder.verdict_file import EpisodeVerdict, read_label, read_verdict
from cobalt_recorder.verify_command import add_action as add_verify
from cobalt_teleop.core.errors import CobaltError

_FACTS = ('task', 'instruction', 'workcell_id', 'operator_id', 'policy_id', 'robot_id', 'seed')


def add_parser(subparsers: Any) -> None:
    """Adds `bag` to the command `cobalt`."""
    bag = subparsers.add_parser('bag', help='look into bags, check, judge, repair, cut and play them')
    actions = bag.add_subparsers(dest='action', required=True, metavar='ACTION')
    info = actions.add_parser('info', help='show what a bag holds, and its verdict')
    info.add_argument('path', type=Path, help='folder of the bag, or its .mcap file')
    info.add_argument('--json', action='store_true', help='print one JSON object')
    info.set_defaults(func=show_info)
    add_judge(actions)
    add_verify(actions)
    add_recover(actions)
    add_report(actions)
    add_label(actions)
    add_index(actions)
    add_trim_and_merge(actions)
    add_play(actions)


def show_info(arguments: argparse.Namespace) -> int:
    """Prints what a bag holds.

    Returns:
        0, or 1 if there is no bag, or it is damaged or cannot be read.
    """
    try:
        bag = read_bag(arguments.path)
        verdict = read_verdict(bag.folder)
        if verdict is None or bag.damage or verdict.episode_id != bag.episode_id:
            # Its recorder had no time to judge it or was killed, or the file isn't what it judged.
            bag, verdict = judge_bag(arguments.path, load_rules(shipped_rules()))
    except CobaltError as error:
        print(f'cobalt bag info: {error}', file=sys.stderr)
        return 1
    print(json.dumps(as_json(bag, verdict)) if arguments.json else as_text(bag, verdict))
    return 1 if bag.damage else 0


def _outcome(bag: Bag) -> tuple[str, str, str]:
    label = read_label(bag.folder)
    if label is not None:
        return label.outcome, label.outcome_source, label.note
    end = bag.facts.get(episode_facts.END, {})
    return end.get('outcome', 'UNKNOWN'), end.get('outcome_source', ''), end.get('end_reason', '')


def as_json(bag: Bag, verdict: EpisodeVerdict) -> dict[str, Any]:
    """Returns what is known of a bag, for programs."""
    outcome, source, reason = _outcome(bag)
    return {
        'path': str(bag.folder),
        'files': [file.name for file in bag.files],
        'bytes': bag.size_bytes,
        'complete': bag.complete,
        'damage': bag.damage,
        'episode_id': bag.episode_id,
        'outcome': outcome,
        'outcome_source': source,
        'end_reason': reason,
        'facts': {name: {k: v for k, v in facts.items() if k != 'counts'} for name, facts in bag.facts.items()},
        'verdict': verdict.as_json(),
        'topics': [
            {
                'name': topic.name,
                'type': topic.type,
                'count': topic.count,
                'expected': topic.expected,
                'dropped': topic.dropped,
                'rate_hz': round(topic.rate_hz, 3),
                'first_ns': topic.first_ns,
                'last_ns': topic.last_ns,
            }
            for topic in sorted(bag.topics.values(), key=lambda topic: topic.name)
        ],
    }


def as_text(bag: Bag, verdict: EpisodeVerdict) -> str:
    """Returns what is known of a bag, for people."""
    outcome, source, reason = _outcome(bag)
    lines = [f'episode      {bag.episode_id}']
    lines += [
        f'{name.removesuffix("_id"):<12} {text}' for name in _FACTS if (text := bag.fact(episode_facts.EPISODE, name))
    ]
    times = [topic.first_ns for topic in bag.topics.values() if topic.count]
    if times:
        last = max(topic.last_ns for topic in bag.topics.values() if topic.count)
        start = datetime.fromtimestamp(min(times) / 1e9, UTC)
        lines.append(f'recorded     {start:%Y-%m-%d %H:%M:%S} UTC, {(last - min(times)) / 1e9:.1f} s')
    by = f' (by {source.lower()})' if source and outcome != 'ABORTED' else ''
    lines.append(f'outcome      {outcome}{by}{": " + reason if reason else ""}')
    version = bag.fact(episode_facts.RECORDING, 'software_version')
    if version:
        lines.append(f'software     {version} {bag.fact(episode_facts.RECORDING, "software_hash")}'.rstrip())
    count = f'{len(bag.files)} files, ' if len(bag.files) > 1 else ''
    lines.append(f'file         {bag.file}, {count}{bag.size_bytes / 1e6:.2f} MB')
    for record, how in ((RECOVERY, 'recovered from'), (TRIM, 'cut out of')):
        if record in bag.facts:
            lines.append(
                f'origin       {how} {bag.fact(record, "source")}, SHA-256 {bag.fact(record, "source_sha256")}'
            )
    lines += [f'             lost: {text}' for text in _lost(bag)]
    if bag.damage:
        lines.append(f'DAMAGED      {bag.damage}; shown is what whole chunks hold; `cobalt bag recover` makes it whole')
    lines += ['', *_verdict_lines(verdict), '', *metric_lines(verdict.judged.metrics), '', *_topic_lines(bag)]
    return '\n'.join(plain_text(line) for line in lines)


def _lost(bag: Bag) -> list[str]:
    try:
        lost = json.loads(bag.fact(RECOVERY, 'lost', '[]'))
    except (ValueError, RecursionError):
        return []
    return [str(text) for text in lost] if isinstance(lost, list) else []


def _verdict_lines(verdict: EpisodeVerdict) -> list[str]:
    judged = verdict.judged
    lines = [f'verdict      {judged.verdict} (rules {verdict.rules_hash})']
    lines += [f'             - {reason}' for reason in judged.reasons]
    if judged.tip:
        lines.append(f'tip          {judged.tip}')
    return lines


def _topic_lines(bag: Bag) -> list[str]:
    rows = [('topic', 'type', 'messages', 'Hz', 'dropped')]
    rows += [
        (topic.name, topic.type, str(topic.count), f'{topic.rate_hz:.2f}' if topic.rate_hz else '-', str(topic.dropped))
        for topic in sorted(bag.topics.values(), key=lambda topic: topic.name)
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    return [
        f'{name:<{widths[0]}}  {kind:<{widths[1]}}  {count:>{widths[2]}}  {rate:>{widths[3]}}  {dropped:>{widths[4]}}'
        for name, kind, count, rate, dropped in rows
    ]
