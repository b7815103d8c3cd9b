"""Scripted experts for the task two_arm_lift: each hand takes its handle, and both lift together. Pure."""

from collections.abc import Generator, Mapping
from typing import Any

import numpy as np

from cobalt_sim.experts.carrying import least_turn, pointing_down, raised, yaw_of
from cobalt_sim.experts.expert import Expert
from cobalt_sim.experts.scripted import Wish
from cobalt_sim.experts.together import PairedExpert, Together
from cobalt_sim.tasks.two_arm_lift import HEIGHT, POT, POT_HALF, handle_at
from cobalt_teleop.core.pose import Pose

_LIFT_M = HEIGHT - POT_HALF + 0.05


class _HandleExpert(PairedExpert):
    """One of the two."""

    def _script(self) -> Generator[Wish, None, Any]:
        self._together.leave(self._part)
        yield from self._go(lambda: raised(self._grasp(), self._skill.above), reaches=True)
        yield from self._go(self._grasp, reaches=True)
        yield from self._close()
        self._together.reach(self._part, 'closed')
        here = self._hand.wanted
        yield from self._go(lambda: here, gripper=0.0, until=lambda: self._together.all_at('closed'), limit_s=15.0)
        high = raised(here, _LIFT_M)
        if (yield from self._go(lambda: high, gripper=0.0, slowness=3.0, unless=lambda: self._lost(self._grasp))):
            yield from self._stay(2.0, gripper=0.0)

    def _grasp(self) -> Pose:
        pot = self.objects[POT]
        return Pose(handle_at(pot, self._part), pointing_down(least_turn(yaw_of(pot), np.pi)))


def two_arm_lift_experts(*, period_s: float) -> Mapping[str, Expert]:
    """Returns the experts of both arms."""
    together = Together(('left', 'right'))
    return {part: _HandleExpert(part, together, period_s=period_s) for part in together.parts}
