"""When the rows of an episode were made: rate, regularity, gaps. Source: control_step's own stamps and counters."""

import numpy as np

from cobalt_recorder.metrics.motion import Vector
from cobalt_recorder.metrics.quantity import Quantity, known, unknown
from cobalt_recorder.metrics.step_table import Array
from cobalt_teleop.core.command import Authority

_NO_ROWS = 'there are fewer than two rows'


def intervals_ms(ticks: Array) -> Vector:
    """Returns (n - 1,) time between neighbouring rows [ms]."""
    return np.asarray(np.diff(ticks['stamp_ns']) * 1e-6)


def duration(ticks: Array) -> Quantity:
    """From the first row to the last [s]."""
    return known(float(intervals_ms(ticks).sum() * 1e-3)) if len(ticks) else unknown('there is no row')


def rate(ticks: Array) -> Quantity:
    """Achieved control rate: ticks, by their numbers, divided by the time that they took [Hz]."""
    span_s = float(intervals_ms(ticks).sum() * 1e-3)
    return known((int(ticks['step'][-1]) - int(ticks['step'][0])) / span_s) if span_s > 0 else unknown(_NO_ROWS)


def rate_jitter(ticks: Array) -> Quantity:
    """Standard deviation of the time between neighbouring rows [ms]."""
    steps = intervals_ms(ticks)
    return known(float(steps.std())) if steps.size else unknown(_NO_ROWS)


def longest_gap(ticks: Array) -> Quantity:
    """Longest time between neighbouring rows [ms]."""
    steps = intervals_ms(ticks)
    return known(float(steps.max())) if steps.size else unknown(_NO_ROWS)


def ticks_missed(ticks: Array) -> Quantity:
    """Ticks that the host missed, as a share of all that were due, 0 to 1."""
    if not len(ticks):
        return unknown(_NO_ROWS)
    missed = int(ticks['ticks_missed'][-1]) - int(ticks['ticks_missed'][0])
    due = int(ticks['step'][-1]) - int(ticks['step'][0]) + missed
    return known(missed / due) if due > 0 else unknown(_NO_ROWS)


def stamps_backwards(ticks: Array) -> Quantity:
    """Rows whose time is earlier than that of the row before.

    The same time is none: a real arm may not have measured anew between two ticks.
    """
    return known(float(np.count_nonzero(intervals_ms(ticks) < 0)))


def resets(ticks: Array) -> Quantity:
    """How often the simulation began anew, or the arm was sent home, while the episode ran."""
    if not len(ticks):
        return unknown('there is no row')
    homing = ticks['authority'] == Authority.HOMING
    began_anew = np.diff(ticks['sim_time']) < 0
    went_home = homing[1:] & ~homing[:-1]
    return known(float(np.count_nonzero(began_anew | went_home)))
