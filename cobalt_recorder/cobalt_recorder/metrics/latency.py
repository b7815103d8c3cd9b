"""How late: from the operator's hand to the robot, and from the robot to his eyes. All from control_step alone.

Samples are stamped by the operator's device and mapped to the host's clock, so each figure is as good as that mapping:
see LinkStats.clock_uncertainty_ms.
"""

import math

import numpy as np

from cobalt_recorder.metrics.motion import Vector
from cobalt_recorder.metrics.part_record import PartRecord
from cobalt_recorder.metrics.quantity import Quantity, percentile
from cobalt_teleop.core.command import NOTHING_SHOWN_NS

_NO_STAMPS = 'no command of a person carries a stamp'
_NO_PICTURES = 'no command says which picture its operator saw'


def command_latencies(part: PartRecord) -> Vector:
    """Returns, for each new command, how old it was when it was applied [ms]; NaN if it carries no stamp."""
    stamp_ns = part.rows['human_stamp_ns'][part.fresh]
    return np.where(stamp_ns > 0, (part.ticks['applied_ns'][part.fresh] - stamp_ns) * 1e-6, math.nan)


def command_latency(part: PartRecord, percent: float = 50.0) -> Quantity:
    """One-way latency of commands: from the operator's sample until it was applied, a percentile [ms]."""
    return percentile(command_latencies(part), percent, _NO_STAMPS)


def frame_ages(part: PartRecord) -> Vector:
    """Returns, for each new command, how old the picture was that its operator saw then [ms]; NaN if it names none."""
    shown_ns, stamp_ns = part.rows['human_shown_ns'][part.fresh], part.rows['human_stamp_ns'][part.fresh]
    return np.where((shown_ns > NOTHING_SHOWN_NS) & (stamp_ns > 0), (stamp_ns - shown_ns) * 1e-6, math.nan)


def frame_age(part: PartRecord, percent: float = 50.0) -> Quantity:
    """Age of the picture that the operator saw when he made a command, a percentile [ms]."""
    return percentile(frame_ages(part), percent, _NO_PICTURES)


def input_to_picture_latencies(part: PartRecord) -> Vector:
    """Returns, for each new command, how long its operator waited for a picture that shows what it did [ms].

    That is the time from its sample to the first later sample whose operator had seen the state after the command's
    tick, or a newer one. It is too long by half the interval of samples on average, never too short.
    """
    fresh = part.fresh
    fresh = fresh[(part.rows['human_stamp_ns'][fresh] > 0) & (fresh + 1 < len(part.ticks))]
    if not fresh.size:
        return np.zeros(0)
    sampled_ns = part.rows['human_stamp_ns'][fresh]
    effect_ns = part.ticks['stamp_ns'][fresh + 1]
    # What was seen never becomes older: with several cameras, or a sample that came late, the newest counts.
    seen_ns = np.maximum.accumulate(part.rows['human_shown_ns'][fresh])
    first = np.searchsorted(seen_ns, effect_ns)
    shown = first < len(fresh)
    waited_ns = sampled_ns[first[shown]] - sampled_ns[shown]
    return np.asarray(waited_ns[waited_ns > 0] * 1e-6)


def input_to_picture_latency(part: PartRecord, percent: float = 50.0) -> Quantity:
    """From the operator's sample until he saw a picture of what it did, a percentile [ms]."""
    return percentile(input_to_picture_latencies(part), percent, _NO_PICTURES)
