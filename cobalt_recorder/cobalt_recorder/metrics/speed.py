"""How fast, how soon, and how often not at all. Source: elementary kinematics."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cobalt_recorder.metrics.motion import Motion, total_duration_s
from cobalt_recorder.metrics.quantity import Quantity, known, unknown

STILL_M_S = 0.005
"""A point that moves slower than this [m/s] stands still."""

STILL_RAD_S = 0.05
"""Likewise for turning [rad/s]."""

_NO_RUN = 'nothing was driven'


def moves(run: Motion) -> NDArray[np.bool_]:
    """Returns (n - 1,) whether it moves between neighbouring samples."""
    return np.asarray((run.speeds > STILL_M_S) | (run.angular_speeds > STILL_RAD_S))


def mean_speed(runs: Sequence[Motion]) -> Quantity:
    """Length of the path, divided by the time that the runs last [m/s]."""
    duration_s = total_duration_s(runs)
    if duration_s <= 0:
        return unknown(_NO_RUN)
    return known(sum(float(run.steps_m.sum()) for run in runs) / duration_s)


def peak_speed(runs: Sequence[Motion]) -> Quantity:
    """Largest speed between neighbouring samples [m/s]."""
    speeds = [float(run.speeds.max()) for run in runs if len(run.times_s) > 1]
    return known(max(speeds)) if speeds else unknown(_NO_RUN)


def idle_share(runs: Sequence[Motion]) -> Quantity:
    """Share of the time in which it neither moves faster than 5 mm/s nor turns faster than 0.05 rad/s, 0 to 1."""
    duration_s = total_duration_s(runs)
    if duration_s <= 0:
        return unknown('it lasts no time')
    moving_s = sum(float(run.steps_s[moves(run)].sum()) for run in runs if len(run.times_s) > 1)
    return known(1.0 - moving_s / duration_s)


def time_to_first_motion(runs: Sequence[Motion]) -> Quantity:
    """Time from the first row of the episode until it first moves [s]."""
    for run in runs:
        moving = np.flatnonzero(moves(run)) if len(run.times_s) > 1 else np.zeros(0, int)
        if moving.size:
            return known(float(run.times_s[moving[0]]))
    return unknown('it never moves')
