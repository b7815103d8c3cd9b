"""How an expert's hand moves: evenly, from where the tool is, and it lets go where the arm does not follow. Pure."""

from dataclasses import dataclass

import numpy as np

from cobalt_teleop.core.pose import Pose, Vector, angle_between, inverse, multiply, quaternion, rotation_vector

_NEAR_M = 0.006
"""So close to its goal the tool is there [m]."""


@dataclass(frozen=True, kw_only=True)
class ExpertSkill:
    """How the expert moves.

    Attributes:
        speed: Of the tool [m/s].
        turning: Of the tool [rad/s].
        above: Height of the tool over an object before it descends [m].
        lift: Height to which the tool lifts [m].
        lowest: Height below which the tool does not go [m].
    """

    speed: float = 0.22
    turning: float = 1.0
    above: float = 0.09
    lift: float = 0.20
    lowest: float = 0.014


class SteadyHand:
    """The pose that the hand wants of the tool.

    Args:
        skill: How it moves.
        period_s: Tick [s].
    """

    def __init__(self, skill: ExpertSkill, period_s: float) -> None:
        self._skill = skill
        self._period_s = period_s
        self._ticks_behind = 0
        self.wanted = Pose()
        """Of the tool in the base frame."""

    def start_from(self, tool: Pose) -> None:
        """Takes hold of the tool where it is."""
        self.wanted = tool
        self._ticks_behind = 0

    def move_towards(self, goal: Pose, *, slowness: float = 1.0) -> None:
        """Moves for one tick.

        Args:
            goal: Where to.
            slowness: How many times slower than it can.
        """
        way = goal.position - self.wanted.position
        turn = rotation_vector(multiply(goal.quat_xyzw, inverse(self.wanted.quat_xyzw)))
        step = _shortened(way, self._skill.speed * self._period_s / slowness)
        turned = multiply(
            quaternion(_shortened(turn, self._skill.turning * self._period_s / slowness)), self.wanted.quat_xyzw
        )
        self.wanted = Pose(self.wanted.position + step, turned / np.linalg.norm(turned))

    def is_followed(self, tool: Pose, goal: Pose, *, reaches: bool) -> bool:
        """Tells of an arm that stays behind for a second, or beside.

        Args:
            tool: Measured in this tick.
            goal: Where the hand moves to.
            reaches: The tool must get to the goal: the command that it was anchored by may not be the first.
        """
        at_goal = float(np.linalg.norm(goal.position - self.wanted.position)) < 0.001
        allowed = _NEAR_M if reaches and at_goal else 0.06
        behind = float(np.linalg.norm(tool.position - self.wanted.position)) > allowed
        self._ticks_behind = self._ticks_behind + 1 if behind else 0
        return self._ticks_behind <= ticks(1.0, self._period_s)


def is_there(tool: Pose, goal: Pose) -> bool:
    """Returns whether a tool is at a goal."""
    near = float(np.linalg.norm(tool.position - goal.position)) < _NEAR_M
    return near and angle_between(tool.quat_xyzw, goal.quat_xyzw) < 0.04


def ticks(seconds: float, period_s: float) -> int:
    """Returns a time in whole ticks, at least one."""
    return max(1, round(seconds / period_s))


def _shortened(vector: Vector, longest: float) -> Vector:
    length = float(np.linalg.norm(vector))
    return vector * (longest / length) if length > longest else vector
