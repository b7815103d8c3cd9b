"""The way home: a straight line in joint space, smooth at both ends."""

import math

import numpy as np

from cobalt_teleop.core.pose import Vector


class HomingPath:
    """Joint positions from a start to home, one a tick.

    Args:
        start: (n,) [rad].
        home: (n,) [rad].
        speed: (n,) largest joint speeds on the way [rad/s].
        acceleration: (n,) largest accelerations [rad/s^2].
        period_s: Tick [s].
    """

    def __init__(self, start: Vector, home: Vector, speed: Vector, acceleration: Vector, period_s: float) -> None:
        way = np.abs(home - start)
        # Smoothstep 3s²-2s³ is 1.5 times as fast in its middle as on average, and speeds up by 6 at its ends.
        duration_s = max(
            1.5 * float(np.max(way / speed, initial=0.0)),
            math.sqrt(6.0 * float(np.max(way / acceleration, initial=0.0))),
        )
        self._start = start.copy()
        self._home = home
        self._ticks = max(1, math.ceil(duration_s / period_s))
        self._tick = 0

    @property
    def done(self) -> bool:
        """Whether home is reached."""
        return self._tick >= self._ticks

    def advance(self) -> Vector:
        """Returns the (n,) joint targets of the next tick [rad]."""
        self._tick = min(self._tick + 1, self._ticks)
        share = self._tick / self._ticks
        return np.asarray(self._start + (self._home - self._start) * (share * share * (3.0 - 2.0 * share)))
