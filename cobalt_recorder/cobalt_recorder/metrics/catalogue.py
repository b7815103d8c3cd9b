"""The list of all metrics: name, unit, subject, and the function that computes each."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from cobalt_recorder.metrics import (
    clutch,
    completeness,
    gripper,
    jitter,
    latency,
    limits,
    link,
    path,
    smoothness,
    speed,
    timing,
    tracking,
)
from cobalt_recorder.metrics.motion import Motion
from cobalt_recorder.metrics.part_record import PartRecord
from cobalt_recorder.metrics.quantity import Quantity
from cobalt_recorder.metrics.record import EpisodeRecord

VERSION = 1
"""Rises when a metric changes its meaning: figures of another version are computed again from their bags."""

SUBJECTS = ('COMMAND', 'ROBOT', 'LINK', 'DATA')
"""Names of Metric.SUBJECT_*, by value."""


@dataclass(frozen=True)
class PartMetric:
    """A metric of each part.

    Attributes:
        name: Unique.
        unit: Empty for a count, `share` for 0 to 1, `1` for a number without a unit.
        subject: One of SUBJECTS.
        of: Computes it.
    """

    name: str
    unit: str
    subject: str
    of: Callable[[PartRecord], Quantity]


@dataclass(frozen=True)
class EpisodeMetric:
    """A metric of the whole episode; fields as in PartMetric."""

    name: str
    unit: str
    subject: str
    of: Callable[[EpisodeRecord], Quantity]


@dataclass(frozen=True)
class NamedMetric:
    """A metric of each camera or topic, called `<name>/<camera or topic>`; fields as in PartMetric."""

    name: str
    unit: str
    subject: str
    of: Callable[[EpisodeRecord, str], Quantity]


def _motion_metrics(subject: str, runs: Callable[[PartRecord], list[Motion]]) -> Iterator[PartMetric]:
    def metric(name: str, unit: str, of: Callable[[PartRecord], Quantity]) -> PartMetric:
        return PartMetric(f'{subject.lower()}_{name}', unit, subject, of)

    yield metric('path_length', 'm', lambda part: path.path_length(runs(part)))
    yield metric('rotation_length', 'rad', lambda part: path.rotation_length(runs(part)))
    yield metric('path_efficiency', 'share', lambda part: path.path_efficiency(runs(part)))
    yield metric('mean_speed', 'm/s', lambda part: speed.mean_speed(runs(part)))
    yield metric('peak_speed', 'm/s', lambda part: speed.peak_speed(runs(part)))
    yield metric('sparc', '1', lambda part: smoothness.sparc(runs(part), part.rate_hz))
    yield metric('ldlj', '1', lambda part: smoothness.ldlj(runs(part), part.rate_hz))
    yield metric('jitter', 'm/s^2', lambda part: jitter.jitter(runs(part), part.rate_hz))


PART_METRICS: tuple[PartMetric, ...] = (
    PartMetric('clutch_count', '', 'COMMAND', clutch.clutch_count),
    PartMetric('disengaged_share', 'share', 'COMMAND', clutch.disengaged_share),
    PartMetric(
        'command_time_to_first_motion', 's', 'COMMAND', lambda part: speed.time_to_first_motion(part.command_runs)
    ),
    PartMetric('command_idle_share', 'share', 'COMMAND', lambda part: speed.idle_share(part.command_runs)),
    *_motion_metrics('COMMAND', lambda part: part.command_runs),
    PartMetric(
        'command_gripper_toggles',
        '',
        'COMMAND',
        gripper.command_gripper_toggles,
    ),
    PartMetric('rejected_commands', '', 'COMMAND', limits.rejected_commands),
    PartMetric(
        'robot_time_to_first_motion', 's', 'ROBOT', lambda part: speed.time_to_first_motion([part.whole_motion])
    ),
    PartMetric('robot_idle_share', 'share', 'ROBOT', lambda part: speed.idle_share([part.whole_motion])),
    *_motion_metrics('ROBOT', lambda part: part.robot_runs),
    PartMetric(
        'robot_gripper_toggles',
        '',
        'ROBOT',
        lambda part: gripper.gripper_toggles(part.rows['gripper_target'][part.driven]),
    ),
    PartMetric('limit_share', 'share', 'ROBOT', limits.limit_share),
    PartMetric('saturation_share', 'share', 'ROBOT', limits.saturation_share),
    PartMetric('tracking_error', 'm', 'ROBOT', tracking.tracking_error),
    PartMetric('tracking_error_rotation', 'rad', 'ROBOT', tracking.tracking_error_rotation),
    PartMetric('tracking_lag', 'ms', 'ROBOT', tracking.tracking_lag),
    PartMetric('command_latency', 'ms', 'LINK', latency.command_latency),
    PartMetric('command_latency_p95', 'ms', 'LINK', partial(latency.command_latency, percent=95.0)),
    PartMetric('input_to_picture_latency', 'ms', 'LINK', latency.input_to_picture_latency),
    PartMetric('input_to_picture_latency_p95', 'ms', 'LINK', partial(latency.input_to_picture_latency, percent=95.0)),
    PartMetric('frame_age', 'ms', 'LINK', latency.frame_age),
    PartMetric('frame_age_p95', 'ms', 'LINK', partial(latency.frame_age, percent=95.0)),
)

RUNNING_METRICS: tuple[EpisodeMetric, ...] = (
    EpisodeMetric('round_trip', 'ms', 'LINK', lambda episode: link.round_trip(episode.links)),
    EpisodeMetric('network_jitter', 'ms', 'LINK', lambda episode: link.network_jitter(episode.links)),
    EpisodeMetric('samples_lost', 'share', 'LINK', lambda episode: link.samples_lost(episode.links)),
    EpisodeMetric('video_lost', 'share', 'LINK', lambda episode: link.video_lost(episode.links)),
    EpisodeMetric('sample_rate', 'Hz', 'LINK', lambda episode: link.sample_rate(episode.links)),
    EpisodeMetric('duration', 's', 'DATA', lambda episode: timing.duration(episode.steps.ticks)),
    EpisodeMetric('control_rate', 'Hz', 'DATA', completeness.control_rate),
    EpisodeMetric('rate', 'Hz', 'DATA', lambda episode: timing.rate(episode.steps.ticks)),
    EpisodeMetric('rate_jitter', 'ms', 'DATA', lambda episode: timing.rate_jitter(episode.steps.ticks)),
    EpisodeMetric('longest_gap', 'ms', 'DATA', lambda episode: timing.longest_gap(episode.steps.ticks)),
    EpisodeMetric('ticks_missed', 'share', 'DATA', lambda episode: timing.ticks_missed(episode.steps.ticks)),
    EpisodeMetric('stamps_backwards', '', 'DATA', lambda episode: timing.stamps_backwards(episode.steps.ticks)),
    EpisodeMetric('resets', '', 'ROBOT', lambda episode: timing.resets(episode.steps.ticks)),
)
"""What can be told of an episode while it runs, besides its parts."""

FINAL_METRICS: tuple[EpisodeMetric, ...] = (
    EpisodeMetric('success', '', 'ROBOT', completeness.success),
    EpisodeMetric('success_seen', '', 'ROBOT', completeness.success_seen),
    EpisodeMetric('rows', '', 'DATA', completeness.rows),
    EpisodeMetric('rows_missing', '', 'DATA', completeness.rows_missing),
)
"""What only the whole episode tells."""

LINK_CAMERA_METRICS: tuple[NamedMetric, ...] = (
    NamedMetric('frame_rate', 'Hz', 'LINK', lambda episode, camera: link.frame_rate(episode.links, camera)),
    NamedMetric('frames_unshown', '', 'LINK', lambda episode, camera: link.frames_unshown(episode.links, camera)),
    NamedMetric('freezes', '', 'LINK', lambda episode, camera: link.freezes(episode.links, camera)),
)
"""Of each camera that the holder of control saw."""

CAMERA_METRICS: tuple[NamedMetric, ...] = (
    NamedMetric('frames', '', 'LINK', completeness.frames),
    NamedMetric('frames_referenced', '', 'LINK', completeness.frames_referenced),
    NamedMetric('frames_missing', '', 'LINK', completeness.frames_missing),
    NamedMetric('frames_undecodable', '', 'LINK', completeness.frames_undecodable),
)
"""Of each camera in the bag."""

TOPIC_METRICS: tuple[NamedMetric, ...] = (NamedMetric('dropped', '', 'DATA', completeness.dropped),)
"""Of each topic in the bag."""


def metric_names() -> list[str]:
    """Returns all names; where a metric has one figure for each camera or topic, `<name>/*`."""
    plain = [metric.name for metric in PART_METRICS]
    plain += [metric.name for metric in (*FINAL_METRICS, *RUNNING_METRICS)]
    named = [f'{metric.name}/*' for metric in (*LINK_CAMERA_METRICS, *CAMERA_METRICS, *TOPIC_METRICS)]
    return sorted([*plain, *named])
