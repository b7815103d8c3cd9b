"""A scripted expert for the task pick_place: carries one thing after the other over the box and lets go. Pure."""

from collections.abc import Mapping

import numpy as np

from cobalt_sim.experts.phased import ExpertPhase
from cobalt_sim.experts.pick import PickExpert
from cobalt_sim.experts.steady_hand import ExpertSkill, is_there
from cobalt_sim.tasks.pick_place import BOX_PLACE, CAN, CUBE, WALL_HEIGHT, is_in_box
from cobalt_teleop.core.pose import Pose

_OVER_M, _LET_GO_M, _AWAY_M = 0.14, 0.03, 0.10
_ROOM_M = {CUBE: np.array([0.03, 0.0]), CAN: np.array([-0.03, 0.0])}
"""Where in the box each is let go."""
_SLIPPED_M = 0.05


class PickPlaceExpert(PickExpert):
    """Takes what is not in the box yet: lifts it, carries it over the box, lowers it, lets go and draws back."""

    def __init__(self, *, period_s: float = 0.05, skill: ExpertSkill | None = None) -> None:
        super().__init__(CUBE, period_s=period_s, skill=skill)

    def _goal(self, tool: Pose, objects: Mapping[str, Pose]) -> Pose:
        wanted = self._hand.wanted
        match self._phase:
            case ExpertPhase.APPROACH:
                self._cube = next((name for name in (CUBE, CAN) if not is_in_box(objects[name])), CUBE)
                return super()._goal(tool, objects)
            case ExpertPhase.CARRY | ExpertPhase.LOWER:
                height = _OVER_M if self._phase is ExpertPhase.CARRY else WALL_HEIGHT + _LET_GO_M
                return Pose(np.array([*BOX_PLACE + _ROOM_M[self._cube], height]), wanted.quat_xyzw)
            case ExpertPhase.RETREAT:
                return Pose(np.array([*wanted.position[:2], _OVER_M + _AWAY_M]), wanted.quat_xyzw)
            case _:
                return super()._goal(tool, objects)

    def _next_phase(self, tool: Pose, objects: Mapping[str, Pose], goal: Pose, gripper: float) -> None:
        slipped = float(np.linalg.norm(tool.position - objects[self._cube].position)) > _SLIPPED_M
        match self._phase:
            case ExpertPhase.CARRY | ExpertPhase.LOWER if slipped:
                self._enter(ExpertPhase.APPROACH)
            case ExpertPhase.LIFT if is_there(tool, goal) and not slipped:
                self._enter(ExpertPhase.CARRY)
            case ExpertPhase.CARRY if is_there(tool, goal):
                self._enter(ExpertPhase.LOWER)
            case ExpertPhase.LOWER if is_there(tool, goal) or self._lasted(4.0):
                self._enter(ExpertPhase.OPEN)
            case ExpertPhase.OPEN if gripper > 0.9 or self._lasted(1.5):
                self._enter(ExpertPhase.RETREAT)
            case ExpertPhase.RETREAT if is_there(tool, goal) or self._lasted(3.0):
                self._enter(ExpertPhase.APPROACH)
            case _:
                super()._next_phase(tool, objects, goal, gripper)
