"""Taking a cube from the table: what the experts of several tasks begin with. Pure."""

from collections.abc import Mapping

import numpy as np

from cobalt_sim.experts.phased import ExpertPhase, PhasedExpert
from cobalt_sim.experts.steady_hand import ExpertSkill, is_there, ticks
from cobalt_sim.tasks.ghost_hand import POINTING_DOWN
from cobalt_teleop.core.pose import Pose, Vector, multiply, quaternion, rotate

_SLIPPED_M = 0.04


class PickExpert(PhasedExpert):
    """Takes a cube and lifts it.

    Args:
        cube: Name of the object that it takes.
        period_s: Time between two calls of `step` [s].
        skill: How it moves.
    """

    def __init__(self, cube: str, *, period_s: float = 0.05, skill: ExpertSkill | None = None) -> None:
        super().__init__(period_s=period_s, skill=skill)
        self._cube = cube
        self._closed_at: list[float] = []

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
        super()._enter(phase)
        self._closed_at = []


def pointing_down(yaw: float) -> Vector:
    """Returns the rotation of a tool that points down, turned about z by an angle [rad], (4,) xyzw."""
    return multiply(quaternion([0.0, 0.0, yaw]), POINTING_DOWN)


def grasp_yaw(cube: Pose) -> float:
    """Returns the turn about z [rad], between -45 and 45 deg, at which the fingers meet two faces of the cube."""
    axes = [rotate(cube.quat_xyzw, axis) for axis in np.eye(3)]
    level = min(axes, key=lambda axis: abs(axis[2]))
    yaw = float(np.arctan2(level[1], level[0]))
    quarter = np.pi / 2
    return yaw - quarter * round(yaw / quarter)
