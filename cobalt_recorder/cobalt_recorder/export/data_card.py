"""The data card of an export: README.md, in words, for whoever finds the data."""

from collections import Counter
from collections.abc import Sequence

from cobalt_recorder.episode_facts import recorder_version
from cobalt_recorder.export.choice import ExportChoice, ExportedEpisode
from cobalt_recorder.plain_text import plain_text

_ACTIONS = {
    'absolute': 'the pose of the tool that was executed (after all limits), in the base frame of its part, and the '
    'gripper; the last frame of an episode shows its terminal state, whose action repeats the one before',
    'delta': 'the way from the measured pose to the executed one, as a translation [m] and a rotation vector [rad] in '
    'the base frame of the part, and the gripper (absolute)',
    'joint': 'the joint targets that were executed, and the gripper',
}


def data_card(title: str, form: str, choice: ExportChoice, rate_hz: float, episodes: Sequence[ExportedEpisode]) -> str:
    """Returns the card, in Markdown with the head that Hugging Face reads.

    Args:
        title: Of the data set.
        form: Its format, such as LeRobotDataset v3.0.
        choice: How it was exported.
        rate_hz: Of the export [Hz].
        episodes: What it holds.
    """
    frames = sum(episode.frames for episode in episodes)
    rates = [episode.achieved_rate_hz for episode in episodes]
    robots = sorted({episode.workcell.get('robot', '') or 'unknown' for episode in episodes})
    kinds = sorted({episode.workcell.get('kind', '') or 'unknown' for episode in episodes})
    lines = [
        '---',
        'task_categories:',
        '- robotics',
        *(['tags:', '- LeRobot'] if form.startswith('LeRobot') else []),
        '---',
        '',
        f'# {title}',
        '',
        f'{form}, exported by Cobalt {recorder_version()}. {len(episodes)} episodes, {frames} frames at {rate_hz:g} Hz '
        f'({frames / rate_hz / 60:.1f} minutes). Robot: {", ".join(robots)} ({", ".join(kinds)}).',
        '',
        '| task | instruction | episodes | frames |',
        '|---|---|---|---|',
        *_task_lines(episodes),
        '',
        f'- **Operators**: {_counted(episode.operator or "unnamed" for episode in episodes)}'
        f'{" (pseudonyms)" if choice.pseudonyms else ""}',
        f'- **Outcomes**: {_counted(episode.outcome for episode in episodes)}; '
        f'**verdicts**: {_counted(episode.verdict for episode in episodes)}, filtered to {", ".join(choice.verdicts)}',
        f'- **Splits**: {_counted(episode.split for episode in episodes)}; kept together by {choice.keep_together}',
        f'- **Action**: {_ACTIONS[choice.action]}',
        '- **Poses**: metres, quaternions xyzw with continuous sign',
        f'- **Resampling**: {choice.resampling}',
        f'- **Achieved rate of the recordings**: {min(rates):.2f} to {max(rates):.2f} Hz',
        f'- **Stretches**: {"only those that a person drove" if choice.human_only else "whole episodes"}',
        '- **Truth of each step** (`cobalt.*`): true stamps, who had authority, the commands of person and policy as '
        'they were received, limits, phase, clutch epoch',
        '- **Provenance**: `cobalt.json` names the bag of each episode with its SHA-256, its seed, split, calibration '
        'and workcell',
        '',
    ]
    return '\n'.join(lines)


def _task_lines(episodes: Sequence[ExportedEpisode]) -> list[str]:
    tasks = sorted({(episode.task, episode.instruction) for episode in episodes})
    lines = []
    for task, instruction in tasks:
        of_task = [one for one in episodes if (one.task, one.instruction) == (task, instruction)]
        text = plain_text(instruction).replace('|', ' ')
        lines.append(f'| {plain_text(task)} | {text} | {len(of_task)} | {sum(one.frames for one in of_task)} |')
    return lines


def _counted(values: object) -> str:
    counts = Counter(values)  # type: ignore[call-overload]
    return ', '.join(f'{plain_text(str(name))} {count}' for name, count in sorted(counts.items()))
