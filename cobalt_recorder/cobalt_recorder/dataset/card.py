"""The card of a data set of bags, in Markdown: what it holds, who made it, how good it is."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cobalt_recorder.dataset_index import IndexedEpisode
from cobalt_recorder.episode_facts import recorder_version
from cobalt_recorder.plain_text import plain_text


def dataset_card(name: str, episodes: Sequence[IndexedEpisode], figures: dict[str, Any], *, pseudonyms: bool) -> str:
    """Returns the card.

    Args:
        name: Of the data set.
        episodes: Of it, at least one.
        figures: Their statistics.
        pseudonyms: Operators are named by numbers.
    """
    first, last = (_day(pick(one.started_ns for one in episodes)) for pick in (min, max))
    instructions = sorted({(one.task, one.instruction) for one in episodes})
    lines = [
        f'# {_cell(name)}',
        '',
        f'{len(episodes)} episodes, {figures["hours"]:.2f} hours, {figures["bytes"] / 1e6:.0f} MB, recorded from '
        f'{first} to {last}. rosbag2 bags (MCAP), one an episode, written by Cobalt; this card by cobalt_recorder '
        f'{recorder_version()}.',
        '',
        f'- **Robots**: {_counted(one.robot_id for one in episodes)}',
        f'- **Workcells**: {_counted(one.workcell_id for one in episodes)}',
        f'- **Outcomes**: {_counted(one.outcome for one in episodes)}',
        f'- **Verdicts**: {_counted(one.verdict for one in episodes)}, by rules '
        f'{", ".join(sorted({one.rules_hash for one in episodes if one.rules_hash})) or "unknown"}',
        f'- **Seeds**: {len({(one.task, one.seed) for one in episodes})} different',
        f'- **Policies**: {_counted(one.policy_id for one in episodes if one.policy_id) or "none; people drove"}',
        '',
        '## Tasks',
        '',
        '| task | instruction | episodes | success | accepted | median duration [s] |',
        '|---|---|---|---|---|---|',
    ]
    for task in figures['tasks']:
        told = '; '.join(_cell(text) for name_, text in instructions if name_ == task['task'])
        lines.append(
            f'| {_cell(task["task"])} | {told} | {task["episodes"]} | {task["success_share"]:.0%} | '
            f'{task["accepted_share"]:.0%} | {task["median_duration_s"]:.1f} |'
        )
    lines += ['', '## Operators', '', '| operator | episodes | success | accepted | days |', '|---|---|---|---|---|']
    for number, one in enumerate(figures['operators']):
        who = f'operator_{number + 1:03d}' if pseudonyms else _cell(one['operator']) or 'unnamed'
        lines.append(
            f'| {who} | {one["episodes"]} | {one["success_share"]:.0%} | {one["accepted_share"]:.0%} | '
            f'{len(one["progress"])} |'
        )
    if figures['reasons']:
        lines += ['', '## What verdicts object to', '', '| reason | episodes |', '|---|---|']
        lines += [f'| {_cell(reason)} | {count} |' for reason, count in figures['reasons'].items()]
    lines += [
        '',
        '## Reading it',
        '',
        'Log time is when the recorder received a message; the stamp in a message is when the state or picture was '
        'taken. Poses are metres and quaternions xyzw in the base frame of their part. Failed and discarded episodes '
        'are part of the data: choose by `verdict.json`, or with `cobalt dataset filter` and `cobalt export`.',
        '',
    ]
    return '\n'.join(lines)


def is_own_card(path: Path) -> bool:
    """Tells whether a file is a card that may be replaced by a newer one."""
    try:
        return 'this card by cobalt_recorder' in path.read_text(encoding='utf-8')
    except (OSError, UnicodeDecodeError):
        return False


def _day(stamp_ns: int) -> str:
    return datetime.fromtimestamp(stamp_ns / 1e9, UTC).date().isoformat()


def _cell(text: str) -> str:
    return plain_text(text).replace('|', '\\|')


def _counted(values: Iterable[str]) -> str:
    return ', '.join(f'{_cell(name) or "unnamed"} {count}' for name, count in sorted(Counter(values).items()))
