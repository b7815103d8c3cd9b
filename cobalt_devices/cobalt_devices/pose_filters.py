"""Smoothing of a device's motion, off by default: each filter says by how much it is late."""

import math
from collections import deque
from collections.abc import Callable
from typing import Protocol

import numpy as np

from cobalt_teleop.core.pose import Pose, continuous, inverse, multiply, quaternion, rotation_vector, slerp

NAMES = ('none', 'one_euro', 'fixed_lag')


class PoseFilter(Protocol):
    """Smooths the motion of one press of the clutch."""

    @property
    def delay_s(self) -> float:
        """By how much the last pose is late [s]."""

    def smooth(self, stamp_s: float, pose: Pose) -> Pose:
        """Takes the pose of a sample and returns the smoothed one.

        Args:
            stamp_s: On the device's clock, rising [s].
            pose: As the device has it.
        """


class OneEuro:
    """The 1 Euro filter: a low pass whose cut-off rises with the speed, so that it is calm at rest and late by little.

    Casiez, Roussel and Vogel, "1 Euro Filter: A Simple Speed-based Low-pass Filter for Noisy Input in Interactive
    Systems", CHI 2012. Position and rotation have a filter each, by the speed of each.

    Args:
        min_cutoff_hz: Cut-off at rest [Hz].
        beta_position: Rise of the cut-off with speed [Hz per m/s].
        beta_rotation: Likewise [Hz per rad/s].
        speed_cutoff_hz: Cut-off of the speed itself [Hz].
    """

    def __init__(
        self,
        min_cutoff_hz: float = 2.0,
        beta_position: float = 20.0,
        beta_rotation: float = 4.0,
        speed_cutoff_hz: float = 1.0,
    ) -> None:
        self._min_cutoff_hz = min_cutoff_hz
        self._betas = beta_position, beta_rotation
        self._speed_cutoff_hz = speed_cutoff_hz
        self._stamp_s = 0.0
        self._last: Pose | None = None
        self._velocity = np.zeros(3)
        self._turning = np.zeros(3)
        self.delay_s = 0.0
        """Time constant of the slower of the two low passes at the last sample [s]: their delay at low frequencies."""

    def smooth(self, stamp_s: float, pose: Pose) -> Pose:
        """Takes the pose of a sample and returns the smoothed one."""
        last, period_s = self._last, stamp_s - self._stamp_s
        if last is None:
            self._last, self._stamp_s = pose, stamp_s
            return pose
        if period_s <= 0.0:
            return last
        way = pose.position - last.position
        turn = rotation_vector(multiply(pose.quat_xyzw, inverse(last.quat_xyzw)))
        share = _share(self._speed_cutoff_hz, period_s)
        self._velocity = self._velocity + share * (way / period_s - self._velocity)
        self._turning = self._turning + share * (turn / period_s - self._turning)
        cutoffs = [
            self._min_cutoff_hz + beta * float(np.linalg.norm(speed))
            for beta, speed in zip(self._betas, (self._velocity, self._turning), strict=True)
        ]
        self.delay_s = 1.0 / (2.0 * math.pi * min(cutoffs))
        turned = multiply(quaternion(turn * _share(cutoffs[1], period_s)), last.quat_xyzw)
        smooth = Pose(
            last.position + way * _share(cutoffs[0], period_s),
            continuous(turned / np.linalg.norm(turned), last.quat_xyzw),
        )
        self._last, self._stamp_s = smooth, stamp_s
        return smooth


class FixedLag:
    """Plays the motion back late by a fixed time, so that samples that come in bursts move the arm evenly.

    Args:
        delay_s: By how much [s].
    """

    def __init__(self, delay_s: float = 0.06) -> None:
        self._samples: deque[tuple[float, Pose]] = deque()
        self._lag_s = delay_s
        self.delay_s = 0.0
        """By how much the last pose was late [s]: less than the lag while a press is younger than it."""

    def smooth(self, stamp_s: float, pose: Pose) -> Pose:
        """Takes the pose of a sample and returns the smoothed one."""
        samples = self._samples
        if not samples or stamp_s > samples[-1][0]:
            samples.append((stamp_s, pose))
        wanted_s = max(samples[0][0], samples[-1][0] - self._lag_s)
        self.delay_s = samples[-1][0] - wanted_s
        while len(samples) > 1 and samples[1][0] <= wanted_s:
            samples.popleft()
        if len(samples) == 1:
            return samples[0][1]
        (before_s, before), (after_s, after) = samples[0], samples[1]
        share = (wanted_s - before_s) / (after_s - before_s)
        return Pose(
            before.position + share * (after.position - before.position),
            slerp(before.quat_xyzw, after.quat_xyzw, share),
        )


def _share(cutoff_hz: float, period_s: float) -> float:
    """Returns how far a first-order low pass goes towards its input in a period."""
    time_constant_s = 1.0 / (2.0 * math.pi * cutoff_hz)
    return 1.0 / (1.0 + time_constant_s / period_s)


def filter_maker(name: str, *, lag_s: float, min_cutoff_hz: float) -> Callable[[], PoseFilter] | None:
    """Returns what makes the filter of each press; None for none.

    Args:
        name: One of `NAMES`.
        lag_s: Of the fixed lag [s].
        min_cutoff_hz: Of the 1 Euro filter [Hz].
    """
    if name == 'one_euro':
        return lambda: OneEuro(min_cutoff_hz)
    if name == 'fixed_lag':
        return lambda: FixedLag(lag_s)
    return None
