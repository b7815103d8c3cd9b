"""Where a tool is and how it moves from one tick to the next, and which limits such a tick would break."""

import math
from dataclasses import dataclass, field

import numpy as np

from cobalt_teleop.core.command import Limit
from cobalt_teleop.core.limits import PartLimits
from cobalt_teleop.core.pose import Pose, Vector, continuous, inverse, multiply, rotation_vector

# What rounding may add to a speed [m/s, rad/s], and to a place [m].
_SPEED_TOLERANCE = 1e-7
_PLACE_TOLERANCE = 1e-9


@dataclass(frozen=True)
class ToolMotion:
    """A tool after a tick.

    Attributes:
        pose: In the base frame.
        velocity: (3,) mean of the tick [m/s].
        turning: (3,) mean of the tick [rad/s], axes of the base frame.
    """

    pose: Pose = field(default_factory=Pose)
    velocity: Vector = field(default_factory=lambda: np.zeros(3))
    turning: Vector = field(default_factory=lambda: np.zeros(3))

    def to(self, pose: Pose, period_s: float) -> 'ToolMotion':
        """Returns the motion that brings the tool to a pose within the next tick."""
        turn = rotation_vector(multiply(pose.quat_xyzw, inverse(self.pose.quat_xyzw)))
        return ToolMotion(
            Pose(pose.position, continuous(pose.quat_xyzw, self.pose.quat_xyzw)),
            (pose.position - self.pose.position) / period_s,
            turn / period_s,
        )


def into_box(position: Vector, here: Vector, limits: PartLimits) -> Vector:
    """Returns the place of the box that is next to a (3,) position [m].

    A tool that is outside already is not thrown back: from `here` (3,) it may stay or come nearer.
    """
    lower, upper = np.minimum(limits.workspace_min, here), np.maximum(limits.workspace_max, here)
    return np.minimum(np.maximum(position, lower), upper)


def broken_limits(before: ToolMotion, after: ToolMotion, limits: PartLimits, period_s: float) -> Limit:
    """Returns the limits of the tool that a tick from one motion to the next would break."""
    broken = Limit.NONE
    place = after.pose.position
    if np.abs(into_box(place, before.pose.position, limits) - place).max() > _PLACE_TOLERANCE:
        broken |= Limit.WORKSPACE_BOX
    if length(after.velocity) > limits.linear_speed + _SPEED_TOLERANCE:
        broken |= Limit.LINEAR_SPEED
    if length(after.turning) > limits.angular_speed + _SPEED_TOLERANCE:
        broken |= Limit.ANGULAR_SPEED
    if length(after.velocity - before.velocity) > limits.linear_acceleration * period_s + _SPEED_TOLERANCE:
        broken |= Limit.LINEAR_ACCELERATION
    if length(after.turning - before.turning) > limits.angular_acceleration * period_s + _SPEED_TOLERANCE:
        broken |= Limit.ANGULAR_ACCELERATION
    return broken


def length(vector: Vector) -> float:
    """Returns the length of a (n,) vector."""
    return math.sqrt(float(vector @ vector))
