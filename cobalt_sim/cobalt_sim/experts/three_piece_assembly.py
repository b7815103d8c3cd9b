"""A scripted expert for the task three_piece_assembly: the tower into the base, then the cap on the tower. Pure."""

from collections.abc import Callable, Generator
from functools import partial
from typing import Any

import numpy as np

from cobalt_sim.experts.carrying import CarryingExpert, least_turn, pointing_down, raised, yaw_of
from cobalt_sim.experts.scripted import Moves, Wish
from cobalt_sim.tasks.three_piece_assembly import (
    BASE,
    BASE_HEIGHT,
    CAP,
    TOWER,
    TOWER_HEIGHT,
    cap_place,
    is_in_base,
    tower_place,
)
from cobalt_teleop.core.pose import Pose, Vector, quaternion

_TAKEN_AT = {TOWER: 0.040, CAP: 0.002}
"""Where each piece is taken, above its frame [m]."""
_OVER_M = {TOWER: BASE_HEIGHT, CAP: 0.04}


class ThreePieceExpert(CarryingExpert):
    """Carries one piece after the other to its place, turned as what it fits into."""

    def _script(self) -> Generator[Wish, None, Any]:
        if not is_in_base(self.objects[TOWER], self.objects[BASE]):
            yield from self._fit(TOWER, BASE, tower_place)
        else:
            yield from self._fit(CAP, TOWER, cap_place)

    def _fit(self, piece: str, onto: str, place_on: Callable[[Pose], Vector]) -> Moves:
        grasp = partial(self._grasp, piece)
        if not (yield from self._take(grasp)):
            return False
        # It fits in four ways: the one at which the hand ends near to its turn at home.
        in_hand = yaw_of(self.tool) - yaw_of(self.objects[piece])
        yaw = least_turn(yaw_of(self.objects[onto]) + in_hand, np.pi / 2) - in_hand

        def place(height: float) -> Pose:
            target = Pose(place_on(self.objects[onto]), quaternion([0.0, 0.0, yaw]))
            return self._bearing(piece, raised(target, height))

        return (yield from self._put(grasp, place, over_m=_OVER_M[piece], away_m=TOWER_HEIGHT))

    def _grasp(self, piece: str) -> Pose:
        thing = self.objects[piece]
        turn = pointing_down(least_turn(yaw_of(thing), np.pi / 2))
        return Pose(thing.position + np.array([0.0, 0.0, _TAKEN_AT[piece]]), turn)
