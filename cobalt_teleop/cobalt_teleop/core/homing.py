"""The way home: a straight line in joint space, smooth at both ends, within all limits of the part."""

import itertools
import math

import numpy as np
from numpy.typing import NDArray

from cobalt_teleop.core.kinematics import Kinematics
from cobalt_teleop.core.limits import PartLimits
from cobalt_teleop.core.pose import Vector, inverse, multiply, rotation_vector

_SAMPLES = 60
_SLACK = 1.03
"""Between two samples the tool may be a little faster than from one to the other."""
_PLACE_TOLERANCE_M = 1e-9

# Smoothstep 3s²-2s³ is 1.5 times as fast in its middle as on average, and speeds up by 6 at its ends.
_FASTEST, _HARDEST = 1.5, 6.0


class HomingPath:
    """Joint positions from a start to home, one a tick.

    Args:
        start: (n,) [rad].
        home: (n,) [rad].
        limits: Of the part; it takes as long as none of them is broken.
        kinematics: Of the arm.
        scale: Share of the joint speeds, above 0 to 1.
        period_s: Tick [s].
    """

    def __init__(
        self,
        start: Vector,
        home: Vector,
        *,
        limits: PartLimits,
        kinematics: Kinematics,
        scale: float,
        period_s: float,
    ) -> None:
        way = np.abs(home - start)
        duration_s = max(
            _duration_s(way, np.zeros_like(way), limits.joint_speed * scale, limits.joint_acceleration),
            *_tool_durations_s(start, home, limits, kinematics),
        )
        ticks = max(1, math.ceil(duration_s / period_s))
        shares = np.arange(1, ticks + 1) / ticks
        shares = (shares * shares * (3.0 - 2.0 * shares))[:, None]
        self._joints = start + (home - start) * shares
        self._joints[-1] = home
        self._next = 0
        places = np.array([kinematics.forward(joints).position for joints in (start, *self._joints)])
        self.leaves_box_by_m = _leaves_box_by(places, limits)
        """How far it leads the tool out of the workspace's box, or further out than it is [m]; 0 for not at all."""

    @property
    def done(self) -> bool:
        """Whether home is reached."""
        return self._next >= len(self._joints)

    def advance(self) -> Vector:
        """Returns the (n,) joint targets of the next tick [rad]."""
        joints = self._joints[min(self._next, len(self._joints) - 1)]
        self._next += 1
        return np.asarray(joints)


def _duration_s(way: Vector, bend: Vector, speed: Vector, acceleration: Vector) -> float:
    """Returns how long a way takes at least [s].

    Args:
        way: (n,) largest derivatives by the share of the way.
        bend: (n,) largest second derivatives.
        speed: (n,) limits.
        acceleration: (n,) limits.
    """
    return max(
        _FASTEST * float(np.max(way / speed, initial=0.0)),
        math.sqrt(float(np.max((_HARDEST * way + _FASTEST**2 * bend) / acceleration, initial=0.0))),
    )


def _tool_durations_s(start: Vector, home: Vector, limits: PartLimits, kinematics: Kinematics) -> tuple[float, float]:
    """Returns how long the way takes at least for the tool's place, and for its turn [s]."""
    poses = [kinematics.forward(start + (home - start) * share) for share in np.linspace(0.0, 1.0, _SAMPLES + 1)]
    moves = np.diff([pose.position for pose in poses], axis=0) * _SAMPLES
    turns = [
        rotation_vector(multiply(after.quat_xyzw, inverse(before.quat_xyzw)))
        for before, after in itertools.pairwise(poses)
    ]
    pairs = (
        (moves, limits.linear_speed, limits.linear_acceleration),
        (np.array(turns) * _SAMPLES, limits.angular_speed, limits.angular_acceleration),
    )
    linear, angular = (
        _duration_s(
            _SLACK * _largest(rates),
            _SLACK * _largest(np.diff(rates, axis=0) * _SAMPLES),
            np.array([speed]),
            np.array([acceleration]),
        )
        for rates, speed, acceleration in pairs
    )
    return linear, angular


def _largest(vectors: NDArray[np.float64]) -> Vector:
    return np.array([np.linalg.norm(vectors, axis=1).max()])


def _leaves_box_by(places: NDArray[np.float64], limits: PartLimits) -> float:
    """Returns how far places (m, 3) of a way leave the box, or go further out than they were on the way [m]."""
    outside = np.maximum(np.hstack([limits.workspace_min - places, places - limits.workspace_max]), 0.0)
    grown = float((outside - np.minimum.accumulate(outside, axis=0)).max())
    return grown if grown > _PLACE_TOLERANCE_M else 0.0
