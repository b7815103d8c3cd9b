"""Moves the accepted target towards the wanted pose, within box, speed and acceleration."""

import math

import numpy as np

from cobalt_teleop.core.command import Limit
from cobalt_teleop.core.limits import PartLimits
from cobalt_teleop.core.pose import Pose, Vector, continuous, inverse, multiply, quaternion, rotation_vector
from cobalt_teleop.core.tool_motion import ToolMotion, into_box, length

_TOLERANCE = 1e-9

# What is kept free within the box: where joints do not follow exactly, the tool strays by less than this.
_BOX_INSET_M = 5e-4

# Joints that let the target change its speed by a share of its limit alone are taken to brake no better than that,
# though never worse than by this share; what they did long ago is forgotten by and by.
_LEAST_BRAKING = 0.25
_FORGETTING = 1.02


def stopping_speed(distance: float, acceleration: float, period_s: float) -> float:
    """Returns the largest speed from which a stop within `distance` is possible in whole ticks.

    Solves v·T/2·(v/(a·T) + 1) = d for v: the path of a speed that falls by a·T in each tick of T.
    """
    step = acceleration * period_s
    return step * (math.sqrt(0.25 + 2.0 * distance / (step * period_s)) - 0.5)


class TargetLimiter:
    """The accepted target of one part.

    Args:
        limits: Of the part.
        period_s: Tick [s].
    """

    def __init__(self, limits: PartLimits, period_s: float) -> None:
        self._limits = limits
        self._period_s = period_s
        self.start_from(Pose())

    @property
    def motion(self) -> ToolMotion:
        """Of the accepted target, in the last tick."""
        return self._motion

    @property
    def target(self) -> Pose:
        """Accepted target in the base frame."""
        return self._motion.pose

    def start_from(self, pose: Pose) -> None:
        """Puts the target on a pose, at rest."""
        self._motion = self._before = ToolMotion(pose)
        self._linear_braking = self._angular_braking = 1.0

    def accept(self, reached: ToolMotion, *, joints_were_slow: bool = False) -> None:
        """Puts the target where the joints let it get to, so that nothing winds up.

        Args:
            reached: Motion of the target in this tick.
            joints_were_slow: The joints could not change their speed as fast as was asked. Then they will not brake
                faster either, and the target slows down earlier.
        """
        self._linear_braking = min(1.0, self._linear_braking * _FORGETTING)
        self._angular_braking = min(1.0, self._angular_braking * _FORGETTING)
        if joints_were_slow:
            asked, before, limits = self._motion, self._before, self._limits
            linear = _part_done(before.velocity, asked.velocity, reached.velocity)
            angular = _part_done(before.turning, asked.turning, reached.turning)
            self._linear_braking = _braking(linear, limits.linear_acceleration * self._period_s, self._linear_braking)
            self._angular_braking = _braking(
                angular, limits.angular_acceleration * self._period_s, self._angular_braking
            )
        self._motion = reached

    def towards(self, wanted: Pose) -> Limit:
        """Moves the target one tick towards a wanted pose; returns what shortened the way."""
        inside = self._inside(wanted.position)
        limits = Limit.NONE
        if np.abs(inside - wanted.position).max() > _TOLERANCE:
            limits |= Limit.WORKSPACE_BOX
        velocity, shortened = self._velocity_towards(inside)
        turning, braked = self._turning_towards(wanted.quat_xyzw)
        self._move(velocity, turning)
        return limits | shortened | braked

    def along(self, twist: Vector) -> Limit:
        """Moves the target one tick along a wanted (6,) twist; returns what shortened it."""
        return self.towards(self._ahead(twist))

    def share_towards(self, wanted: Pose) -> float:
        """Returns how far the next tick would go towards a wanted pose, as a share of this tick's way, 0 to 1."""
        velocity, _ = self._velocity_towards(self._inside(wanted.position))
        turning, _ = self._turning_towards(wanted.quat_xyzw)
        return min(_share(velocity, self._motion.velocity), _share(turning, self._motion.turning))

    def share_along(self, twist: Vector) -> float:
        """Returns how far the next tick would go along a wanted (6,) twist, as a share of this tick's way, 0 to 1."""
        return self.share_towards(self._ahead(twist))

    def _inside(self, position: Vector) -> Vector:
        """Returns what may be wanted: a place clear of the walls, unless the tool is beyond one already or stands."""
        here, limits = self.target.position, self._limits
        if np.abs(position - here).max() <= _TOLERANCE:
            return position
        lower = np.where(here < limits.workspace_min, here, limits.workspace_min + _BOX_INSET_M)
        upper = np.where(here > limits.workspace_max, here, limits.workspace_max - _BOX_INSET_M)
        return np.minimum(np.maximum(position, lower), upper)

    def _ahead(self, twist: Vector) -> Pose:
        return Pose(
            self.target.position + twist[:3] * self._period_s,
            multiply(quaternion(twist[3:] * self._period_s), self.target.quat_xyzw),
        )

    def _velocity_towards(self, position: Vector) -> tuple[Vector, Limit]:
        return self._velocity_for(
            position - self.target.position,
            self._motion.velocity,
            self._limits.linear_speed,
            self._limits.linear_acceleration,
            self._linear_braking,
            (Limit.LINEAR_SPEED, Limit.LINEAR_ACCELERATION),
        )

    def _turning_towards(self, quat_xyzw: Vector) -> tuple[Vector, Limit]:
        return self._velocity_for(
            rotation_vector(multiply(quat_xyzw, inverse(self.target.quat_xyzw))),
            self._motion.turning,
            self._limits.angular_speed,
            self._limits.angular_acceleration,
            self._angular_braking,
            (Limit.ANGULAR_SPEED, Limit.ANGULAR_ACCELERATION),
        )

    def _velocity_for(
        self,
        way: Vector,
        velocity: Vector,
        speed_limit: float,
        acceleration: float,
        braking: float,
        names: tuple[Limit, Limit],
    ) -> tuple[Vector, Limit]:
        distance = length(way)
        limits = Limit.NONE
        wanted = way / self._period_s
        if distance > _TOLERANCE:
            speed = distance / self._period_s
            allowed = min(speed, stopping_speed(distance, acceleration * braking, self._period_s))
            if allowed > speed_limit:
                allowed = speed_limit
                limits |= names[0]
            wanted = way * (allowed / distance)
        change = wanted - velocity
        size = length(change)
        largest = acceleration * self._period_s
        if size > largest + _TOLERANCE:
            limits |= names[1]
            wanted = velocity + change * (largest / size)
        return wanted, limits

    def _move(self, velocity: Vector, turning: Vector) -> None:
        here = self.target
        position = into_box(here.position + velocity * self._period_s, here.position, self._limits)
        turned = multiply(quaternion(turning * self._period_s), here.quat_xyzw)
        turned /= np.linalg.norm(turned)
        self._before = self._motion
        self._motion = ToolMotion(
            Pose(position, continuous(turned, here.quat_xyzw)), (position - here.position) / self._period_s, turning
        )


def _share(velocity: Vector, before: Vector) -> float:
    """Returns a velocity's part along the one before, as a share of it, 0 to 1; 1 if that was none."""
    squared = float(before @ before)
    return min(1.0, max(0.0, float(velocity @ before) / squared)) if squared > _TOLERANCE**2 else 1.0


def _part_done(before: Vector, asked: Vector, reached: Vector) -> tuple[float, float]:
    """Returns how large a change was asked, and how much of it was done, 0 to 1."""
    change = asked - before
    squared = float(change @ change)
    done = float((reached - before) @ change) / squared if squared > _TOLERANCE**2 else 1.0
    return math.sqrt(squared), min(1.0, max(0.0, done))


def _braking(part_done: tuple[float, float], largest: float, before: float) -> float:
    """Returns the share of the largest change in a tick that the joints allow; a small change tells nothing of it."""
    size, done = part_done
    return max(_LEAST_BRAKING, min(1.0, size * done / largest)) if size > 0.5 * largest else before
