"""Taking things, carrying them, and putting them down: what the experts of most tasks are made of. Pure."""

import math
from collections.abc import Callable

import numpy as np

from cobalt_sim.experts.scripted import Moves, ScriptedExpert
from cobalt_sim.experts.steady_hand import is_there, ticks
from cobalt_sim.tasks.ghost_hand import POINTING_DOWN
from cobalt_teleop.core.pose import Pose, Vector, multiply, quaternion, rotate

_SLIPPED_M = 0.04
"""Way of a thing from where it was grasped after which it is lost [m]."""
_OPEN = 0.9


class CarryingExpert(ScriptedExpert):
    """Has the moves of a hand that carries things."""

    def _take(self, grasp: Callable[[], Pose]) -> Moves:
        """Grasps a thing from above and lifts it.

        Args:
            grasp: Pose of the tool that grasps it where it is now, in the base frame.

        Returns:
            Whether the thing has come along.
        """
        yield from self._go(
            lambda: raised(grasp(), self._skill.above),
            reaches=True,
            until=lambda: is_there(self.tool, raised(grasp(), self._skill.above)) and self.gripper > _OPEN,
        )
        yield from self._go(grasp, reaches=True)
        yield from self._close()
        x, y, _ = self._hand.wanted.position
        up = Pose(np.array([x, y, self._skill.lift]), self._hand.wanted.quat_xyzw)
        return (yield from self._go(lambda: up, gripper=0.0, unless=lambda: self._lost(grasp)))

    def _put(
        self,
        grasp: Callable[[], Pose],
        place: Callable[[float], Pose],
        *,
        over_m: float,
        gap_m: float = 0.001,
        settle_s: float = 0.3,
        lower_s: float = 6.0,
        away_m: float = 0.10,
    ) -> Moves:
        """Carries the thing in the hand over its place, lowers it, lets go, and draws back upwards.

        Args:
            grasp: Pose of the tool that grasps it where it is now.
            place: Pose of the tool at which the thing is so far over its place [m].
            over_m: Height at which it is carried [m].
            gap_m: Height at which it is let go of [m].
            settle_s: Time that it is held there [s].
            lower_s: Time after which it is let go of in any case [s].
            away_m: Way back [m].

        Returns:
            Whether it has not been lost on the way.
        """

        def lost() -> bool:
            return self._lost(grasp)

        if not (yield from self._go(lambda: place(over_m), gripper=0.0, unless=lost)):
            return False
        if not (yield from self._go(lambda: place(gap_m), gripper=0.0, slowness=3.0, unless=lost, limit_s=lower_s)):
            return False
        yield from self._stay(settle_s, gripper=0.0)
        yield from self._let_go(away_m)
        return True

    def _close(self) -> Moves:
        """Closes the gripper until it has come to rest."""
        still = ticks(0.2, self._period_s)
        seen: list[float] = []

        def rests() -> bool:
            seen.append(self.gripper)
            return len(seen) > 2 * still and float(np.ptp(seen[-still:])) < 0.01

        here = self._hand.wanted
        return (yield from self._go(lambda: here, gripper=0.0, until=rests))

    def _let_go(self, away_m: float) -> Moves:
        """Opens the gripper and draws back upwards so far [m]."""
        here = self._hand.wanted
        yield from self._go(lambda: here, until=lambda: self.gripper > _OPEN, limit_s=1.5)
        return (yield from self._go(lambda: raised(here, away_m), limit_s=2.0))

    def _stay(self, seconds: float = math.inf, *, gripper: float, unless: Callable[[], bool] | None = None) -> Moves:
        """Stays where it is for a time [s]."""
        here = self._hand.wanted
        return (yield from self._go(lambda: here, gripper=gripper, until=lambda: False, unless=unless, limit_s=seconds))

    def _lost(self, grasp: Callable[[], Pose]) -> bool:
        return float(np.linalg.norm(self.tool.position - grasp().position)) > _SLIPPED_M

    def _bearing(self, name: str, place: Pose) -> Pose:
        """Returns the pose of the tool at which the thing in the hand is at a place, however it is held."""
        return place @ self.objects[name].inverse() @ self.tool


def raised(pose: Pose, height_m: float) -> Pose:
    """Returns a pose that is so much higher [m]."""
    return Pose(pose.position + np.array([0.0, 0.0, height_m]), pose.quat_xyzw)


def pointing_down(yaw: float) -> Vector:
    """Returns the rotation of a tool that points down, turned about z by an angle [rad], (4,) xyzw."""
    return multiply(quaternion([0.0, 0.0, yaw]), POINTING_DOWN)


def yaw_of(thing: Pose) -> float:
    """Returns the direction of a thing's x axis about z [rad]."""
    x, y, _ = rotate(thing.quat_xyzw, np.array([1.0, 0.0, 0.0]))
    return float(np.arctan2(y, x))


def least_turn(yaw: float, symmetry: float) -> float:
    """Returns the smallest angle [rad] that is the same as another for what looks the same after a turn [rad]."""
    return yaw - symmetry * round(yaw / symmetry)


def across(yaw: float, thing_yaw: float = 0.0) -> float:
    """Returns the turn about z that is nearest to another and square to that of a thing: it is taken from its sides.

    Args:
        yaw: Of the tool [rad].
        thing_yaw: Of the axis along which the fingers open [rad].
    """
    away = yaw - thing_yaw
    return thing_yaw + float(np.copysign(np.pi / 2, np.arctan2(np.sin(away), np.cos(away))))
