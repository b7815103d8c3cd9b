"""How well the robot follows its target: how far off, and how late."""

import numpy as np
from numpy.typing import NDArray

from cobalt_recorder.metrics.motion import Vector, cut
from cobalt_recorder.metrics.part_record import PartRecord
from cobalt_recorder.metrics.quantity import Quantity, known, unknown

_LONGEST_LAG_S = 0.5
_LEAST_PATH_M = 0.01
_LEAST_CORRELATION = 0.5
_NOT_DRIVEN = 'nothing was driven'


def _driven_pairs(part: PartRecord) -> NDArray[np.intp]:
    """Indices of driven rows whose next row shows what became of their target."""
    if len(part.rows) < 2:
        return np.zeros(0, np.intp)
    steps = np.diff(part.ticks['step'].astype(np.int64))
    finite = np.isfinite(part.rows['target_position'][:-1]).all(axis=1)
    finite &= np.isfinite(part.rows['position'][1:]).all(axis=1)
    return np.flatnonzero(part.driven[:-1] & (steps == 1) & finite)


def tracking_error(part: PartRecord) -> Quantity:
    """Root of the mean squared distance between a row's target and the pose measured one tick later [m].

    It holds the lag: an arm that follows exactly, but late, has an error of its speed times its lag.
    """
    pairs = _driven_pairs(part)
    if not pairs.size:
        return unknown(_NOT_DRIVEN)
    off = part.rows['target_position'][pairs] - part.rows['position'][pairs + 1]
    return known(float(np.sqrt(np.mean(np.sum(off**2, axis=1)))))


def tracking_error_rotation(part: PartRecord) -> Quantity:
    """Root of the mean squared angle between a row's target and the pose measured one tick later [rad]."""
    pairs = _driven_pairs(part)
    if not pairs.size:
        return unknown(_NOT_DRIVEN)
    dots = np.abs(np.sum(part.rows['target_quat_xyzw'][pairs] * part.rows['quat_xyzw'][pairs + 1], axis=1))
    return known(float(np.sqrt(np.mean((2.0 * np.arccos(np.clip(dots, 0.0, 1.0))) ** 2))))


def tracking_lag(part: PartRecord) -> Quantity:
    """How long the measured velocity comes after the target's: the shift of their largest cross-correlation [ms].

    Targets count from when they were applied. Looked for from 0 to 500 ms in steps of a tick; a parabola through the
    largest correlation and its neighbours tells the rest.
    """
    finite = np.isfinite(part.rows['target_position']).all(axis=1) & np.isfinite(part.rows['position']).all(axis=1)
    applied_s = (part.ticks['applied_ns'] - part.ticks['stamp_ns'][:1]) * 1e-9
    rising = np.concatenate([[True], np.diff(applied_s) > 0]) if len(applied_s) else np.zeros(0, bool)
    period_s = 1.0 / part.rate_hz
    shifts = range(-1, round(_LONGEST_LAG_S / period_s) + 2)
    correlations = np.zeros(len(shifts))
    energy_target = energy_measured = path_m = 0.0
    for run in cut(part.times_s, part.driven & finite & rising, part.rows['human_epoch']):
        start_s, end_s = max(part.times_s[run][0], applied_s[run][0]), part.times_s[run][-1]
        grid_s = np.arange(start_s, end_s + period_s / 2, period_s)
        target = _steps(grid_s, applied_s[run], part.rows['target_position'][run])
        measured = _steps(grid_s, part.times_s[run], part.rows['position'][run])
        path_m += float(np.linalg.norm(target, axis=1).sum())
        energy_target += float(np.sum(target**2))
        energy_measured += float(np.sum(measured**2))
        correlations += [_product(target, measured, shift) for shift in shifts]
    if not path_m >= _LEAST_PATH_M:
        return unknown('the target moved less than a centimetre')
    best = 1 + int(np.argmax(correlations[1:-1]))
    if not correlations[best] >= _LEAST_CORRELATION * np.sqrt(energy_target * energy_measured):
        return unknown('the motion does not resemble the target')
    return known(max(0.0, (shifts[best] + _vertex(*correlations[best - 1 : best + 2])) * period_s * 1e3))


def _steps(grid_s: Vector, times_s: Vector, positions: Vector) -> Vector:
    columns = [np.diff(np.interp(grid_s, times_s, column)) for column in positions.T]
    return np.stack(columns, axis=1)


def _product(target: Vector, measured: Vector, shift: int) -> float:
    """Returns how alike they are if the second comes `shift` samples after the first."""
    size = len(target) - abs(shift)
    if size <= 0:
        return 0.0
    first = target[:size] if shift >= 0 else target[-size:]
    return float(np.sum(first * (measured[-size:] if shift >= 0 else measured[:size])))


def _vertex(before: float, here: float, after: float) -> float:
    """Returns where the parabola through a largest value and its neighbours is highest: -0.5 to 0.5 from the middle."""
    bend = before - 2.0 * here + after
    return min(0.5, max(-0.5, float(0.5 * (before - after) / bend))) if bend < 0 else 0.0
