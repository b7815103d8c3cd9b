"""A scripted expert for the task lift: from what it sees to what a person's hand would command. Pure."""

from dataclasses import dataclass
from enum import Enum

import numpy as np

from cobalt_teleop.core.pose import (
    Pose,
    Vector,
    angle_between,
    inverse,
    multiply,
    quaternion,
    rotate,
    rotation_vector,
)

_POINTING_DOWN = np.array([1.0, 0.0, 0.0, 0.0])

_NEAR = 0.006
"""So close to its goal the tool is there [m]."""


@dataclass(frozen=True, kw_only=True)
class ExpertCommand:
    """What the expert wants in a tick.

    Attributes:
        pose: Of the tool in the base frame; at an engage the measured one, then moving. Its way since the engage
            is a hand's motion, as REFERENCE_ENGAGE wants it.
        gripper: 0 closed to 1 open.
        engaged: The clutch is pressed.
    """

    pose: Pose
    gripper: float
    engaged: bool


class ExpertPhase(Enum):
    """What the expert is doing."""

    RELEASED = 'released'
    APPROACH = 'approach'
    DESCEND = 'descend'
    CLOSE = 'close'
    LIFT = 'lift'


@dataclass(frozen=True, kw_only=True)
class ExpertSkill:
    """How the expert moves.

    Attributes:
        speed: Of the tool [m/s].
        turning: Of the tool [rad/s].
        above: Height of the tool over the cube before it descends [m].
        lift: Height to which the tool lifts [m].
        lowest: Height below which the tool does not go [m].
    """

    speed: float = 0.22
    turning: float = 1.0
    above: float = 0.09
    lift: float = 0.20
    lowest: float = 0.014


class LiftExpert:
    """Drives one arm, tick by tick. Releases the clutch and begins again where the arm does not follow.

    Args:
        period_s: Time between two calls of `step` [s].
        skill: How it moves.
    """

    def __init__(self, *, period_s: float = 0.05, skill: ExpertSkill | None = None) -> None:
        self._period_s = period_s
        self._skill = skill or ExpertSkill()
        self._phase = ExpertPhase.RELEASED
        self._ticks_in_phase = 0
        self._ticks_lost = 0
        self._closed_at: list[float] = []
        self._wanted = Pose()

    @property
    def phase(self) -> ExpertPhase:
        """What it is doing."""
        return self._phase

    def restart(self) -> None:
        """Releases the clutch; the next steps begin anew, as after a reset."""
        self._enter(ExpertPhase.RELEASED)

    def step(self, *, tool: Pose, cube: Pose, gripper: float) -> ExpertCommand:
        """Decides one tick from measured poses in the base frame and the gripper's opening (0 to 1)."""
        self._ticks_in_phase += 1
        if self._phase is ExpertPhase.RELEASED:
            if self._ticks_in_phase <= self._ticks(0.15):
                return ExpertCommand(pose=tool, gripper=float('nan'), engaged=False)
            self._wanted = tool
            self._enter(ExpertPhase.APPROACH)
            return ExpertCommand(pose=tool, gripper=1.0, engaged=True)
        goal = self._goal(cube)
        if self._does_not_follow(tool, goal):
            self.restart()
            return ExpertCommand(pose=tool, gripper=float('nan'), engaged=False)
        self._move_towards(goal)
        self._next_phase(tool, cube, goal, gripper)
        closing = self._phase in (ExpertPhase.CLOSE, ExpertPhase.LIFT)
        return ExpertCommand(pose=self._wanted, gripper=0.0 if closing else 1.0, engaged=True)

    def _goal(self, cube: Pose) -> Pose:
        skill = self._skill
        if self._phase is ExpertPhase.CLOSE:
            return self._wanted
        if self._phase is ExpertPhase.LIFT:
            x, y, _ = self._wanted.position
            return Pose(np.array([x, y, skill.lift]), self._wanted.quat_xyzw)
        height = max(float(cube.position[2]), skill.lowest)
        if self._phase is ExpertPhase.APPROACH:
            height += skill.above
        turned = multiply(quaternion([0.0, 0.0, grasp_yaw(cube)]), _POINTING_DOWN)
        return Pose(np.array([*cube.position[:2], height]), turned)

    def _move_towards(self, goal: Pose) -> None:
        way = goal.position - self._wanted.position
        turn = rotation_vector(multiply(goal.quat_xyzw, inverse(self._wanted.quat_xyzw)))
        step = _shortened(way, self._skill.speed * self._period_s)
        turned = multiply(quaternion(_shortened(turn, self._skill.turning * self._period_s)), self._wanted.quat_xyzw)
        self._wanted = Pose(self._wanted.position + step, turned / np.linalg.norm(turned))

    def _next_phase(self, tool: Pose, cube: Pose, goal: Pose, gripper: float) -> None:
        near = float(np.linalg.norm(tool.position - goal.position)) < _NEAR
        aligned = angle_between(tool.quat_xyzw, goal.quat_xyzw) < 0.04
        if self._phase is ExpertPhase.APPROACH and near and aligned and gripper > 0.9:
            self._enter(ExpertPhase.DESCEND)
        elif self._phase is ExpertPhase.DESCEND and near and aligned:
            self._enter(ExpertPhase.CLOSE)
        elif self._phase is ExpertPhase.CLOSE:
            self._closed_at.append(gripper)
            still = self._ticks(0.2)
            if len(self._closed_at) > 2 * still and np.ptp(self._closed_at[-still:]) < 0.01:
                self._enter(ExpertPhase.LIFT)
        elif self._phase is ExpertPhase.LIFT and tool.position[2] - cube.position[2] > 0.04:
            self._enter(ExpertPhase.APPROACH)

    def _does_not_follow(self, tool: Pose, goal: Pose) -> bool:
        """Tells of an arm that stays behind, or beside: the command that it was anchored by may not be the first."""
        reaches = self._phase in (ExpertPhase.APPROACH, ExpertPhase.DESCEND)
        at_goal = float(np.linalg.norm(goal.position - self._wanted.position)) < 0.001
        allowed = _NEAR if reaches and at_goal else 0.06
        behind = float(np.linalg.norm(tool.position - self._wanted.position)) > allowed
        self._ticks_lost = self._ticks_lost + 1 if behind else 0
        return self._ticks_lost > self._ticks(1.0)

    def _enter(self, phase: ExpertPhase) -> None:
        self._phase = phase
        self._ticks_in_phase = 0
        self._ticks_lost = 0
        self._closed_at = []

    def _ticks(self, seconds: float) -> int:
        return max(1, round(seconds / self._period_s))


def grasp_yaw(cube: Pose) -> float:
    """Returns the turn about z [rad], between -45 and 45 deg, at which the fingers meet two faces of the cube."""
    axes = [rotate(cube.quat_xyzw, axis) for axis in np.eye(3)]
    level = min(axes, key=lambda axis: abs(axis[2]))
    yaw = float(np.arctan2(level[1], level[0]))
    quarter = np.pi / 2
    return yaw - quarter * round(yaw / quarter)


def _shortened(vector: Vector, longest: float) -> Vector:
    length = float(np.linalg.norm(vector))
    return vector * (longest / length) if length > longest else vector
