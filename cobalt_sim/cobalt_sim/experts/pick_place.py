"""A scripted expert for the task pick_place: carries one thing after the other over the box and lets go. Pure."""

from collections.abc import Generator
from functools import partial
from typing import Any

import numpy as np

from cobalt_sim.experts.carrying import CarryingExpert
from cobalt_sim.experts.pick import grasp_of_cube
from cobalt_sim.experts.scripted import Wish
from cobalt_sim.tasks.pick_place import BOX_PLACE, CAN, CUBE, WALL_HEIGHT, is_in_box
from cobalt_teleop.core.pose import Pose

_OVER_M, _LET_GO_M, _AWAY_M = 0.14, WALL_HEIGHT + 0.03, 0.15
_ROOM_M = {CUBE: np.array([0.03, 0.0]), CAN: np.array([-0.03, 0.0])}
"""Where in the box each is let go."""


class PickPlaceExpert(CarryingExpert):
    """Takes what is not in the box yet: lifts it, carries it over the box, lowers it, lets go and draws back."""

    def _script(self) -> Generator[Wish, None, Any]:
        for thing in (CUBE, CAN):
            if is_in_box(self.objects[thing]):
                continue
            grasp = partial(self._grasp, thing)
            if (yield from self._take(grasp)):
                yield from self._put(
                    grasp,
                    partial(self._over_box, thing),
                    over_m=_OVER_M,
                    gap_m=_LET_GO_M,
                    settle_s=0.0,
                    lower_s=4.0,
                    away_m=_AWAY_M,
                )

    def _grasp(self, thing: str) -> Pose:
        return grasp_of_cube(self.objects[thing], self._skill.lowest)

    def _over_box(self, thing: str, height: float) -> Pose:
        return Pose(np.array([*BOX_PLACE + _ROOM_M[thing], height]), self._hand.wanted.quat_xyzw)
