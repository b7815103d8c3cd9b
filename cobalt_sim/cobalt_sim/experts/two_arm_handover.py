"""Scripted experts for the task two_arm_handover: one hand gives the bar, the other takes it to the box. Pure."""

from collections.abc import Generator, Mapping
from typing import Any

import numpy as np

from cobalt_sim.experts.carrying import across, pointing_down, raised, yaw_of
from cobalt_sim.experts.expert import Expert
from cobalt_sim.experts.scripted import Moves, Wish
from cobalt_sim.experts.together import PairedExpert, Together
from cobalt_sim.tasks.two_arm_handover import BAR, BAR_HALF, BOX, FLOOR, TAKEN_AT
from cobalt_teleop.core.pose import Pose

_PRESENTED_AT = np.array([0.47, -0.19, 0.26])
"""Where the left hand shows the bar, in its arm's base frame [m]."""


class _BarExpert(PairedExpert):
    """One of the two."""

    def _grasp(self) -> Pose:
        bar = self.objects[BAR]
        x, y, z = (bar @ Pose(np.array([0.0, TAKEN_AT[self._part], 0.0]))).position
        turn = pointing_down(across(yaw_of(self.tool), yaw_of(bar)))
        return Pose(np.array([x, y, max(z, self._skill.lowest)]), turn)

    def _wait_for(self, part: str, point: str, *, gripper: float) -> Moves:
        here = self._hand.wanted
        lost = (lambda: self._lost(self._grasp)) if gripper == 0.0 else None
        return (
            yield from self._go(
                lambda: here, gripper=gripper, until=lambda: self._together.is_at(part, point), unless=lost
            )
        )


class _GivingExpert(_BarExpert):
    """Takes the bar by its near end, shows it, and lets go of it once the other hand holds it."""

    def _script(self) -> Generator[Wish, None, Any]:
        if self._together.is_at('right', 'holds'):
            return
        self._together.leave(self._part)
        if not (yield from self._take(self._grasp)):
            return
        shown = Pose(_PRESENTED_AT)
        yield from self._go(
            lambda: self._bearing(BAR, shown), gripper=0.0, slowness=1.5, unless=lambda: self._lost(self._grasp)
        )
        yield from self._stay(0.3, gripper=0.0)
        self._together.reach(self._part, 'shows')
        if (yield from self._wait_for('right', 'holds', gripper=0.0)):
            yield from self._let_go(0.10)
            self._together.reach(self._part, 'gave')


class _TakingExpert(_BarExpert):
    """Waits until the bar is shown, takes it by its far end, and lays it into the box."""

    def _script(self) -> Generator[Wish, None, Any]:
        self._together.leave(self._part)
        yield from self._wait_for('left', 'shows', gripper=1.0)
        yield from self._go(lambda: raised(self._grasp(), self._skill.above), reaches=True)
        yield from self._go(self._grasp, reaches=True, slowness=2.0)
        yield from self._close()
        self._together.reach(self._part, 'holds')
        if (yield from self._wait_for('left', 'gave', gripper=0.0)):
            yield from self._put(self._grasp, self._over_box, over_m=0.10, gap_m=0.004)

    def _over_box(self, height: float) -> Pose:
        return self._bearing(BAR, raised(self.objects[BOX], FLOOR + float(BAR_HALF[2]) + height))


def two_arm_handover_experts(*, period_s: float) -> Mapping[str, Expert]:
    """Returns the experts of both arms."""
    together = Together(('left', 'right'))
    return {
        'left': _GivingExpert('left', together, period_s=period_s),
        'right': _TakingExpert('right', together, period_s=period_s),
    }
