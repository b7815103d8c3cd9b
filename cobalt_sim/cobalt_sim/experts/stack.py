"""A scripted expert for the task stack: takes the blue cube and puts it down on the yellow one. Pure."""

from collections.abc import Mapping

import numpy as np

from cobalt_sim.experts.phased import ExpertPhase
from cobalt_sim.experts.pick import PickExpert, grasp_yaw, pointing_down
from cobalt_sim.experts.steady_hand import ExpertSkill, is_there
from cobalt_sim.tasks.stack import BLUE, BLUE_HALF, YELLOW, YELLOW_HALF
from cobalt_teleop.core.pose import Pose

_OVER_M = 0.05
_GAP_M = 0.001
_RETREAT_M = 0.10


class StackExpert(PickExpert):
    """Lifts the blue cube, carries it over the yellow one, lowers it, lets go and draws back."""

    def __init__(self, *, period_s: float = 0.05, skill: ExpertSkill | None = None) -> None:
        super().__init__(BLUE, period_s=period_s, skill=skill)

    def _goal(self, tool: Pose, objects: Mapping[str, Pose]) -> Pose:
        wanted = self._hand.wanted
        match self._phase:
            case ExpertPhase.CARRY | ExpertPhase.LOWER:
                blue, yellow = objects[BLUE], objects[YELLOW]
                gap = _OVER_M if self._phase is ExpertPhase.CARRY else _GAP_M
                place = yellow.position + np.array([0.0, 0.0, YELLOW_HALF + BLUE_HALF + gap])
                # The cube shall come to the place, and the tool with it, however it is held.
                return Pose(place + tool.position - blue.position, pointing_down(grasp_yaw(yellow)))
            case ExpertPhase.RETREAT:
                top = objects[YELLOW].position[2] + YELLOW_HALF + BLUE_HALF
                return Pose(np.array([*wanted.position[:2], top + _RETREAT_M]), wanted.quat_xyzw)
            case _:
                return super()._goal(tool, objects)

    def _next_phase(self, tool: Pose, objects: Mapping[str, Pose], goal: Pose, gripper: float) -> None:
        slipped = float(np.linalg.norm(tool.position - objects[BLUE].position)) > 0.04
        match self._phase:
            case ExpertPhase.CARRY | ExpertPhase.LOWER if slipped:
                self._enter(ExpertPhase.APPROACH)
            case ExpertPhase.LIFT if is_there(tool, goal) and not slipped:
                self._enter(ExpertPhase.CARRY)
            case ExpertPhase.CARRY if is_there(tool, goal):
                self._enter(ExpertPhase.LOWER)
            case ExpertPhase.LOWER if (is_there(tool, goal) and self._lasted(0.3)) or self._lasted(6.0):
                self._enter(ExpertPhase.OPEN)
            case ExpertPhase.OPEN if gripper > 0.9 or self._lasted(1.5):
                self._enter(ExpertPhase.RETREAT)
            case ExpertPhase.RETREAT if self._lasted(2.0):
                # Had it stood, the episode would be over.
                self._enter(ExpertPhase.APPROACH)
            case _:
                super()._next_phase(tool, objects, goal, gripper)
