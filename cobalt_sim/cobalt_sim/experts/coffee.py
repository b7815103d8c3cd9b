"""A scripted expert for the task coffee: puts the pod into the machine and closes the lid. Pure."""

from collections.abc import Generator
from functools import partial
from typing import Any

import numpy as np

from cobalt_sim.experts.carrying import CarryingExpert, across, pointing_down, yaw_of
from cobalt_sim.experts.scripted import Moves, Wish
from cobalt_sim.tasks.coffee import HINGE, HOLDER, LID, POD, POD_HALF, is_in_holder, opening_of
from cobalt_teleop.core.pose import Pose

_OVER_M, _AWAY_M = 0.04, 0.15
_BEHIND = HINGE + np.array([0.0, 0.075, 0.07])
"""Behind the upper part of the open lid."""
_PAST_UPRIGHT = HINGE + np.array([0.0, -0.05, 0.07])
_SHUT_RAD = 0.05


class CoffeeExpert(CarryingExpert):
    """Carries the pod into the holder, goes behind the lid, pushes it over, and presses it down."""

    def _script(self) -> Generator[Wish, None, Any]:
        if is_in_holder(self.objects[POD]):
            yield from self._shut()
        elif (yield from self._take(self._grasp)):
            yield from self._put(self._grasp, self._over_holder, over_m=_OVER_M, away_m=_AWAY_M)

    def _shut(self) -> Moves:
        turn = self._hand.wanted.quat_xyzw
        down = HINGE + np.array([0.0, -0.07, 0.0])
        for place, slowness in ((_BEHIND + np.array([0.0, 0.0, 0.11]), 1.0), (_BEHIND, 1.0), (_PAST_UPRIGHT, 2.0)):
            yield from self._go(partial(Pose, place, turn), gripper=0.0, slowness=slowness, limit_s=5.0)
        return (
            yield from self._go(
                partial(Pose, down, turn),
                gripper=0.0,
                slowness=2.0,
                until=lambda: opening_of(self.objects[LID]) < _SHUT_RAD,
                limit_s=4.0,
            )
        )

    def _grasp(self) -> Pose:
        pod = self.objects[POD].position
        return Pose(pod + np.array([0.0, 0.0, 0.008]), pointing_down(across(yaw_of(self.tool))))

    def _over_holder(self, height: float) -> Pose:
        pod = self.objects[POD]
        place = HOLDER + np.array([0.0, 0.0, POD_HALF + height])
        return Pose(place + self.tool.position - pod.position, pointing_down(across(yaw_of(self.tool))))
