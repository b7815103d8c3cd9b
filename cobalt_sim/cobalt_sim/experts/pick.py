"""Taking a cube from the table: what the experts of several tasks begin with. Pure."""

from collections.abc import Mapping
from enum import Enum

import numpy as np

from cobalt_sim.experts.expert import ExpertCommand
from cobalt_sim.experts.steady_hand import ExpertSkill, SteadyHand, is_there, ticks
from cobalt_teleop.core.pose import Pose, multiply, quaternion, rotate

_POINTING_DOWN = np.array([1.0, 0.0, 0.0, 0.0])
_SLIPPED_M = 0.04


class ExpertPhase(Enum):
    """What an expert is doing."""

    RELEASED = 'released'
    APPROACH = 'approach'
    DESCEND = 'descend'
    CLOSE = 'close'
    LIFT = 'lift'
    CARRY = 'carry'
    LOWER = 'lower'
    OPEN = 'open'
    RETREAT = 'retreat'


_REACHING = (ExpertPhase.APPROACH, ExpertPhase.DESCEND)
_GRIPPING = (ExpertPhase.CLOSE, ExpertPhase.LIFT, ExpertPhase.CARRY, ExpertPhase.LOWER)


class PickExpert:
    """Takes a cube and lifts it. Releases the clutch and begins again where the arm does not follow.

    Args:
        cube: Name of the object that it takes.
        period_s: Time between two calls of `step` [s].
        skill: How it moves.
    """

    def __init__(self, cube: str, *, period_s: float = 0.05, skill: ExpertSkill | None = None) -> None:
        self._cube = cube
        self._period_s = period_s
        self._skill = skill or ExpertSkill()
        self._hand = SteadyHand(self._skill, period_s)
        self._phase = ExpertPhase.RELEASED
        self._ticks_in_phase = 0
        self._closed_at: list[float] = []

    @property
    def phase(self) -> ExpertPhase:
        """What it is doing."""
        return self._phase

    def restart(self) -> None:
        """Releases the clutch; the next steps begin anew, as after a reset."""
        self._enter(ExpertPhase.RELEASED)

    def step(self, *, tool: Pose, objects: Mapping[str, Pose], gripper: float) -> ExpertCommand:
        """Decides one tick from measured poses in the base frame and the gripper's opening (0 to 1)."""
        self._ticks_in_phase += 1
        if self._phase is ExpertPhase.RELEASED:
            if not self._lasted(0.15):
                return ExpertCommand(pose=tool, gripper=float('nan'), engaged=False)
            self._hand.start_from(tool)
            self._enter(ExpertPhase.APPROACH)
            return ExpertCommand(pose=tool, gripper=1.0, engaged=True)
        goal = self._goal(tool, objects)
        if not self._hand.is_followed(tool, goal, reaches=self._phase in _REACHING):
            self.restart()
            return ExpertCommand(pose=tool, gripper=float('nan'), engaged=False)
        self._hand.move_towards(goal, slowness=3.0 if self._phase is ExpertPhase.LOWER else 1.0)
        self._next_phase(tool, objects, goal, gripper)
        return ExpertCommand(pose=self._hand.wanted, gripper=0.0 if self._phase in _GRIPPING else 1.0, engaged=True)

    def _goal(self, tool: Pose, objects: Mapping[str, Pose]) -> Pose:
        wanted = self._hand.wanted
        match self._phase:
            case ExpertPhase.APPROACH | ExpertPhase.DESCEND:
                cube = objects[self._cube]
                height = max(float(cube.position[2]), self._skill.lowest)
                above = self._skill.above if self._phase is ExpertPhase.APPROACH else 0.0
                return Pose(np.array([*cube.position[:2], height + above]), pointing_down(grasp_yaw(cube)))
            case ExpertPhase.LIFT:
                return Pose(np.array([*wanted.position[:2], self._skill.lift]), wanted.quat_xyzw)
            case _:
                return wanted

    def _next_phase(self, tool: Pose, objects: Mapping[str, Pose], goal: Pose, gripper: float) -> None:
        match self._phase:
            case ExpertPhase.APPROACH if is_there(tool, goal) and gripper > 0.9:
                self._enter(ExpertPhase.DESCEND)
            case ExpertPhase.DESCEND if is_there(tool, goal):
                self._enter(ExpertPhase.CLOSE)
            case ExpertPhase.CLOSE:
                self._closed_at.append(gripper)
                still = ticks(0.2, self._period_s)
                if len(self._closed_at) > 2 * still and np.ptp(self._closed_at[-still:]) < 0.01:
                    self._enter(ExpertPhase.LIFT)
            case ExpertPhase.LIFT if tool.position[2] - objects[self._cube].position[2] > _SLIPPED_M:
                self._enter(ExpertPhase.APPROACH)
            case _:
                pass

    def _enter(self, phase: ExpertPhase) -> None:
        self._phase = phase
        self._ticks_in_phase = 0
        self._closed_at = []

    def _lasted(self, seconds: float) -> bool:
        """Returns whether it has been in this phase for longer."""
        return self._ticks_in_phase > ticks(seconds, self._period_s)


def pointing_down(yaw: float) -> np.ndarray:
    """Returns the rotation of a tool that points down, turned about z by an angle [rad], (4,) xyzw."""
    return multiply(quaternion([0.0, 0.0, yaw]), _POINTING_DOWN)


def grasp_yaw(cube: Pose) -> float:
    """Returns the turn about z [rad], between -45 and 45 deg, at which the fingers meet two faces of the cube."""
    axes = [rotate(cube.quat_xyzw, axis) for axis in np.eye(3)]
    level = min(axes, key=lambda axis: abs(axis[2]))
    yaw = float(np.arctan2(level[1], level[0]))
    quarter = np.pi / 2
    return yaw - quarter * round(yaw / quarter)
