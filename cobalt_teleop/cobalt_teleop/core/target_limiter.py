"""Moves the accepted target towards the wanted pose, within box, speed and acceleration."""

import math

import numpy as np

from cobalt_teleop.core.command import Limit
from cobalt_teleop.core.limits import PartLimits
from cobalt_teleop.core.pose import Pose, Vector, continuous, inverse, multiply, quaternion, rotation_vector

_TOLERANCE = 1e-9


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
        self._velocity = np.zeros(3)
        self._turning = np.zeros(3)
        self.target = Pose()
        """Accepted target in the base frame."""

    def start_from(self, pose: Pose) -> None:
        """Puts the target on a pose, at rest."""
        self.target = pose
        self._velocity = np.zeros(3)
        self._turning = np.zeros(3)

    def accept(self, reached: Pose) -> None:
        """Puts the target where the later limits (joints) let it get to, so that nothing winds up."""
        moved = (reached.position - self.target.position) / self._period_s
        turned = rotation_vector(multiply(reached.quat_xyzw, inverse(self.target.quat_xyzw))) / self._period_s
        self._velocity = self._velocity + moved
        self._turning = self._turning + turned
        self.target = Pose(reached.position, continuous(reached.quat_xyzw, self.target.quat_xyzw))

    def towards(self, wanted: Pose) -> Limit:
        """Moves the target one tick towards a wanted pose; returns what shortened the way."""
        inside = self._into_box(wanted.position)
        limits = Limit.NONE
        if np.abs(inside - wanted.position).max() > _TOLERANCE:
            limits |= Limit.WORKSPACE_BOX
        self._velocity, shortened = self._velocity_towards(inside)
        self._turning, braked = self._turning_towards(wanted.quat_xyzw)
        self._move()
        return limits | shortened | braked

    def along(self, twist: Vector) -> Limit:
        """Moves the target one tick along a wanted (6,) twist; returns what shortened it."""
        return self.towards(self._ahead(twist))

    def slow_down(self) -> bool:
        """Moves the target one tick while braking to rest; returns whether it still moves."""
        if not (self._velocity.any() or self._turning.any()):
            return False
        self._velocity = self._braked(self._velocity, self._limits.linear_acceleration)
        self._turning = self._braked(self._turning, self._limits.angular_acceleration)
        self._move()
        return bool(self._velocity.any() or self._turning.any())

    def share_towards(self, wanted: Pose) -> float:
        """Returns how far the next tick would go towards a wanted pose, as a share of this tick's way, 0 to 1."""
        velocity, _ = self._velocity_towards(self._into_box(wanted.position))
        turning, _ = self._turning_towards(wanted.quat_xyzw)
        return min(_share(velocity, self._velocity), _share(turning, self._turning))

    def share_along(self, twist: Vector) -> float:
        """Returns how far the next tick would go along a wanted (6,) twist, as a share of this tick's way, 0 to 1."""
        return self.share_towards(self._ahead(twist))

    def share_of_braking(self) -> float:
        """Returns how far the next tick would go while braking, as a share of this tick's way, 0 to 1."""
        velocity = self._braked(self._velocity, self._limits.linear_acceleration)
        turning = self._braked(self._turning, self._limits.angular_acceleration)
        return min(_share(velocity, self._velocity), _share(turning, self._turning))

    def _ahead(self, twist: Vector) -> Pose:
        return Pose(
            self.target.position + twist[:3] * self._period_s,
            multiply(quaternion(twist[3:] * self._period_s), self.target.quat_xyzw),
        )

    def _braked(self, velocity: Vector, acceleration: float) -> Vector:
        speed = float(np.linalg.norm(velocity))
        left = speed - acceleration * self._period_s
        return velocity * (left / speed) if left > _TOLERANCE else np.zeros(3)

    def _into_box(self, position: Vector) -> Vector:
        # A tool that is outside already is not thrown back: it may stay or come nearer.
        lower = np.minimum(self._limits.workspace_min, self.target.position)
        upper = np.maximum(self._limits.workspace_max, self.target.position)
        return np.clip(position, lower, upper)

    def _velocity_towards(self, position: Vector) -> tuple[Vector, Limit]:
        return self._velocity_for(
            position - self.target.position,
            self._velocity,
            self._limits.linear_speed,
            self._limits.linear_acceleration,
            (Limit.LINEAR_SPEED, Limit.LINEAR_ACCELERATION),
        )

    def _turning_towards(self, quat_xyzw: Vector) -> tuple[Vector, Limit]:
        return self._velocity_for(
            rotation_vector(multiply(quat_xyzw, inverse(self.target.quat_xyzw))),
            self._turning,
            self._limits.angular_speed,
            self._limits.angular_acceleration,
            (Limit.ANGULAR_SPEED, Limit.ANGULAR_ACCELERATION),
        )

    def _velocity_for(
        self, way: Vector, velocity: Vector, speed_limit: float, acceleration: float, names: tuple[Limit, Limit]
    ) -> tuple[Vector, Limit]:
        distance = float(np.linalg.norm(way))
        limits = Limit.NONE
        wanted = way / self._period_s
        if distance > _TOLERANCE:
            speed = distance / self._period_s
            allowed = min(speed, stopping_speed(distance, acceleration, self._period_s))
            if allowed > speed_limit:
                allowed = speed_limit
                limits |= names[0]
            wanted = way * (allowed / distance)
        change = wanted - velocity
        size = float(np.linalg.norm(change))
        largest = acceleration * self._period_s
        if size > largest + _TOLERANCE:
            limits |= names[1]
            wanted = velocity + change * (largest / size)
        return wanted, limits

    def _move(self) -> None:
        position = self._into_box(self.target.position + self._velocity * self._period_s)
        self._velocity = (position - self.target.position) / self._period_s
        turned = multiply(quaternion(self._turning * self._period_s), self.target.quat_xyzw)
        turned /= np.linalg.norm(turned)
        self.target = Pose(position, continuous(turned, self.target.quat_xyzw))


def _share(velocity: Vector, before: Vector) -> float:
    """Returns a velocity's part along the one before, as a share of it, 0 to 1; 1 if that was none."""
    squared = float(before @ before)
    return min(1.0, max(0.0, float(velocity @ before) / squared)) if squared > _TOLERANCE**2 else 1.0
