"""Metrics of an episode, from what its bag holds. Pure: no file, no ROS 2."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

NAN = math.nan

SUBJECTS = ('COMMAND', 'ROBOT', 'LINK', 'DATA')
"""Names of Metric.SUBJECT_*, by value."""


@dataclass(frozen=True)
class Row:
    """What the metrics need of a ControlStep.

    Attributes:
        step: Number of the tick.
        stamp_ns: Time of the state [ns].
        success: The task's predicate held.
        terminal: Last row of the episode, without an action.
        ticks_missed: Since the host started.
        frames: Stamp of the newest frame of each camera [ns].
    """

    step: int
    stamp_ns: int
    success: bool
    terminal: bool
    ticks_missed: int
    frames: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class CameraRecord:
    """What a bag holds of one camera.

    Attributes:
        stamps_ns: Of the recorded frames, in order [ns].
        decoded: How many of them a decoder turned into pictures.
    """

    stamps_ns: Sequence[int]
    decoded: int


@dataclass(frozen=True, kw_only=True)
class EpisodeRecord:
    """What a bag holds of an episode.

    Attributes:
        outcome: Name of EpisodeState.OUTCOME_*.
        judged_by_task: The outcome is the predicate's, or the task has one that could have seen it.
        control_rate_hz: Declared [Hz]; NaN if unknown.
        first_step: As the host says; 0 if unknown.
        last_step: As the host says; 0 if unknown.
        rows: Of the episode, in the order of the file.
        cameras: By name.
        dropped: Messages missing, by topic relative to the workcell.
    """

    outcome: str
    judged_by_task: bool
    control_rate_hz: float
    first_step: int
    last_step: int
    rows: Sequence[Row]
    cameras: Mapping[str, CameraRecord]
    dropped: Mapping[str, int]


@dataclass(frozen=True)
class Measurement:
    """One metric before it is judged.

    Attributes:
        name: Such as rate or frames_missing/front.
        value: NaN if it could not be computed.
        unit: Empty for a count.
        subject: One of SUBJECTS.
    """

    name: str
    value: float
    unit: str = ''
    subject: str = 'DATA'


def measure(episode: EpisodeRecord) -> list[Measurement]:
    """Returns every metric of an episode."""
    return [*_task(episode), *_timing(episode), *_completeness(episode)]


def _task(episode: EpisodeRecord) -> list[Measurement]:
    known = episode.outcome != 'UNKNOWN'
    success = float(episode.outcome == 'SUCCESS') if known else NAN
    found = [Measurement('success', success, subject='ROBOT')]
    if episode.outcome == 'SUCCESS' and episode.judged_by_task:
        found.append(Measurement('success_seen', float(any(row.success for row in episode.rows)), subject='ROBOT'))
    return found


def _timing(episode: EpisodeRecord) -> list[Measurement]:
    rows = episode.rows
    steps = [later.stamp_ns - earlier.stamp_ns for earlier, later in pairwise(rows)]
    span_s = sum(steps) / 1e9
    ticks = rows[-1].step - rows[0].step if rows else 0
    missed = rows[-1].ticks_missed - rows[0].ticks_missed if rows else 0
    return [
        Measurement('duration', span_s if rows else NAN, 's'),
        Measurement('control_rate', episode.control_rate_hz, 'Hz'),
        Measurement('rate', ticks / span_s if span_s > 0 else NAN, 'Hz'),
        Measurement('longest_gap', max(steps) / 1e6 if steps else NAN, 'ms'),
        Measurement('ticks_missed', missed / (ticks + missed) if ticks + missed > 0 else NAN, 'share'),
        Measurement('stamps_backwards', float(sum(step <= 0 for step in steps))),
    ]


def _completeness(episode: EpisodeRecord) -> list[Measurement]:
    rows = episode.rows
    held = {row.step for row in rows}
    if episode.last_step >= episode.first_step > 0:
        expected = episode.last_step - episode.first_step + 1
    else:
        expected = max(held) - min(held) + 1 if held else 0
    found = [
        Measurement('rows', float(len(rows))),
        Measurement('rows_missing', float(max(0, expected - len(held)))),
    ]
    found += [Measurement(f'dropped/{topic}', float(count)) for topic, count in sorted(episode.dropped.items())]
    for name, camera in sorted(episode.cameras.items()):
        referenced = {row.frames[name] for row in rows if row.frames.get(name)}
        found += [
            Measurement(f'frames/{name}', float(len(camera.stamps_ns)), subject='LINK'),
            Measurement(f'frames_referenced/{name}', float(len(referenced)), subject='LINK'),
            Measurement(f'frames_missing/{name}', float(len(referenced - set(camera.stamps_ns))), subject='LINK'),
            Measurement(f'frames_undecodable/{name}', float(len(camera.stamps_ns) - camera.decoded), subject='LINK'),
        ]
    return found
