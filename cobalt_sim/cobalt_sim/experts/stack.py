"""A scripted expert for the task stack: takes the blue cube and puts it down on the yellow one. Pure."""

from collections.abc import Generator
from typing import Any

import numpy as np

from cobalt_sim.experts.carrying import CarryingExpert, pointing_down
from cobalt_sim.experts.pick import grasp_of_cube, grasp_yaw
from cobalt_sim.experts.scripted import Wish
from cobalt_sim.tasks.stack import BLUE, BLUE_HALF, YELLOW, YELLOW_HALF
from cobalt_teleop.core.pose import Pose

_OVER_M = 0.05


class StackExpert(CarryingExpert):
    """Lifts the blue cube, carries it over the yellow one, lowers it, lets go and draws back."""

    def _script(self) -> Generator[Wish, None, Any]:
        if (yield from self._take(self._grasp)):
            yield from self._put(self._grasp, self._over_yellow, over_m=_OVER_M)

    def _grasp(self) -> Pose:
        return grasp_of_cube(self.objects[BLUE], self._skill.lowest)

    def _over_yellow(self, height: float) -> Pose:
        blue, yellow = self.objects[BLUE], self.objects[YELLOW]
        place = yellow.position + np.array([0.0, 0.0, YELLOW_HALF + BLUE_HALF + height])
        # The cube shall come to the place, and the tool with it, however it is held.
        return Pose(place + self.tool.position - blue.position, pointing_down(grasp_yaw(yellow)))
