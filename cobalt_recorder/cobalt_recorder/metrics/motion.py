"""A stretch of motion without a break, and how an episode is cut into such runs."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

GAP_S = 0.25
"""A gap as long as this [s] ends a run: nobody knows how the motion went on in it."""


@dataclass(frozen=True)
class Motion:
    """One run.

    Attributes:
        times_s: (n,) rising [s].
        positions: (n, 3) [m].
        turned_rad: (n,) angle turned since the start, never falling [rad].
    """

    times_s: Vector
    positions: Vector
    turned_rad: Vector
    _at_rate: 'dict[float, Motion]' = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def duration_s(self) -> float:
        """From the first to the last sample [s]."""
        return float(self.times_s[-1] - self.times_s[0]) if len(self.times_s) else 0.0

    @cached_property
    def steps_s(self) -> Vector:
        """(n - 1,) time between neighbouring samples [s]."""
        return np.diff(self.times_s)

    @cached_property
    def steps_m(self) -> Vector:
        """(n - 1,) distance between neighbouring samples [m]."""
        return np.asarray(np.sqrt(np.sum(np.diff(self.positions, axis=0) ** 2, axis=1)))

    @cached_property
    def speeds(self) -> Vector:
        """(n - 1,) mean speed between neighbouring samples [m/s]."""
        return np.asarray(self.steps_m / self.steps_s)

    @cached_property
    def angular_speeds(self) -> Vector:
        """(n - 1,) mean angular speed between neighbouring samples [rad/s]."""
        return np.asarray(np.diff(self.turned_rad) / self.steps_s)

    def at_rate(self, rate_hz: float) -> 'Motion':
        """Returns the run at evenly spaced times, linearly interpolated.

        Args:
            rate_hz: Samples a second [Hz].
        """
        if len(self.times_s) < 2:
            return self
        if rate_hz not in self._at_rate:
            self._at_rate[rate_hz] = self._sampled(rate_hz)
        return self._at_rate[rate_hz]

    def _sampled(self, rate_hz: float) -> 'Motion':
        count = int(self.duration_s * rate_hz + 1e-6) + 1
        times_s = self.times_s[0] + np.arange(count) / rate_hz
        columns = [np.interp(times_s, self.times_s, column) for column in self.positions.T]
        return Motion(times_s, np.stack(columns, axis=1), np.interp(times_s, self.times_s, self.turned_rad))


def angles_between(quats_xyzw: Vector) -> Vector:
    """Returns the angles between neighbouring rotations, precise for small ones as well.

    Args:
        quats_xyzw: (n, 4) unit quaternions; q and -q are the same rotation.

    Returns:
        (n - 1,) in [0, pi] [rad].
    """
    first, second = quats_xyzw[:-1], quats_xyzw[1:]
    signs = np.where(np.sum(first * second, axis=1) < 0, -1.0, 1.0)
    chords = np.linalg.norm(second - signs[:, None] * first, axis=1)
    return np.asarray(4.0 * np.arcsin(np.minimum(1.0, chords / 2.0)))


def summed(steps: Vector) -> Vector:
    """Returns (n + 1,) the running sum of (n,) steps, from zero."""
    return np.concatenate([[0.0], np.cumsum(steps)])


def cut(times_s: Vector, usable: NDArray[np.bool_], key: NDArray[np.generic]) -> list[slice]:
    """Cuts samples into runs: at what isn't usable, where the key changes, at gaps, and where time does not rise.

    Args:
        times_s: (n,) [s].
        usable: (n,).
        key: (n,) the clutch epoch, for example.

    Returns:
        Runs of two samples or more.
    """
    if len(times_s) < 2:
        return []
    steps_s = np.diff(times_s)
    joined = usable[1:] & usable[:-1] & (key[1:] == key[:-1]) & (steps_s > 0) & (steps_s < GAP_S)
    edges = np.diff(np.concatenate([[0], joined.astype(np.int8), [0]]))
    starts, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    return [slice(int(start), int(end) + 1) for start, end in zip(starts, ends, strict=True)]


def total_duration_s(runs: Sequence[Motion]) -> float:
    """Returns how long all runs last together [s]."""
    return sum(run.duration_s for run in runs)
