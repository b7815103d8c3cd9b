"""A scripted expert for the task square_nut: takes the nut by its handle and puts it over the peg. Pure."""

from collections.abc import Generator
from typing import Any

import numpy as np

from cobalt_sim.experts.carrying import CarryingExpert, least_turn, pointing_down, raised, yaw_of
from cobalt_sim.experts.scripted import Wish
from cobalt_sim.tasks.square_nut import HANDLE, NUT, NUT_HALF, PEG, PEG_HEIGHT
from cobalt_teleop.core.pose import Pose, quaternion


class SquareNutExpert(CarryingExpert):
    """Lifts the nut, carries it over the peg, turned as the peg is, lowers it, lets go and draws back."""

    def _script(self) -> Generator[Wish, None, Any]:
        if (yield from self._take(self._grasp)):
            # The hole fits in four ways: the one at which the hand ends near to its turn at home.
            in_hand = yaw_of(self.tool) - yaw_of(self.objects[NUT])
            peg_yaw = yaw_of(self.objects[PEG])
            nut_yaw = least_turn(peg_yaw + in_hand, np.pi / 2) - in_hand
            yield from self._put(
                self._grasp, lambda height: self._over_peg(nut_yaw, height), over_m=PEG_HEIGHT + 0.02, away_m=0.15
            )

    def _grasp(self) -> Pose:
        nut = self.objects[NUT]
        x, y, z = (nut @ Pose(np.array([HANDLE, 0.0, 0.0]))).position
        return Pose(np.array([x, y, max(z, self._skill.lowest)]), pointing_down(least_turn(yaw_of(nut), np.pi)))

    def _over_peg(self, nut_yaw: float, height: float) -> Pose:
        place = Pose(self.objects[PEG].position, quaternion([0.0, 0.0, nut_yaw]))
        return self._bearing(NUT, raised(place, NUT_HALF + height))
