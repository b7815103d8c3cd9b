"""A scripted expert for the task mug_cleanup: opens the drawer, puts the mug in, and pushes it shut. Pure."""

from collections.abc import Generator
from typing import Any

import numpy as np

from cobalt_sim.experts.carrying import CarryingExpert, across, least_turn, pointing_down, yaw_of
from cobalt_sim.experts.scripted import Moves, Wish
from cobalt_sim.tasks.mug_cleanup import CLOSED, DRAWER, KNOB, KNOB_HALF, MUG, MUG_HALF, TRAVEL, is_in_drawer
from cobalt_teleop.core.pose import Pose

_OPEN_M, _SHUT_M = TRAVEL - 0.008, 0.006
_ABOVE_M, _AWAY_M = 0.10, 0.14
_PLACE = np.array([0.0, -0.012, MUG_HALF + 0.002])
"""Of the mug in the drawer."""


class MugCleanupExpert(CarryingExpert):
    """Pulls the drawer by its knob, carries the mug into it, and pushes the knob with closed fingers."""

    def _script(self) -> Generator[Wish, None, Any]:
        if not is_in_drawer(self.objects[MUG], self.objects[DRAWER]):
            if self._opened() < _OPEN_M:
                yield from self._pull()
            if (yield from self._take(self._grasp)):
                yield from self._put(self._grasp, self._over_drawer, over_m=_ABOVE_M, gap_m=0.004, away_m=_AWAY_M)
        else:
            yield from self._push()

    def _opened(self) -> float:
        return float(CLOSED[1] - self.objects[DRAWER].position[1])

    def _at_knob(self, y: float = 0.0, z: float = 0.0) -> Pose:
        place = self.objects[DRAWER].position + KNOB + np.array([0.0, y, z])
        return Pose(place, pointing_down(across(yaw_of(self.tool))))

    def _pull(self) -> Moves:
        yield from self._go(lambda: self._at_knob(z=_ABOVE_M), reaches=True)
        yield from self._go(self._at_knob, reaches=True)
        yield from self._close()
        here = self._hand.wanted
        open_end = Pose(here.position - np.array([0.0, TRAVEL - self._opened() + 0.005, 0.0]), here.quat_xyzw)
        yield from self._go(
            lambda: open_end, gripper=0.0, slowness=2.0, until=lambda: self._opened() > _OPEN_M, limit_s=4.0
        )
        return (yield from self._let_go(_AWAY_M))

    def _push(self) -> Moves:
        before = -KNOB_HALF - 0.03
        yield from self._go(lambda: self._at_knob(y=before, z=_AWAY_M), gripper=0.0, limit_s=4.0)
        yield from self._go(lambda: self._at_knob(y=before), gripper=0.0, limit_s=3.0)
        return (
            yield from self._go(
                lambda: self._at_knob(y=0.0),
                gripper=0.0,
                slowness=2.0,
                until=lambda: self._opened() < _SHUT_M,
                limit_s=6.0,
            )
        )

    def _grasp(self) -> Pose:
        mug = self.objects[MUG]
        x, y, z = mug.position
        return Pose(np.array([x, y, z + 0.006]), pointing_down(least_turn(yaw_of(mug), np.pi)))

    def _over_drawer(self, height: float) -> Pose:
        mug, drawer = self.objects[MUG], self.objects[DRAWER]
        place = drawer.position + _PLACE + np.array([0.0, 0.0, height])
        # With the handle it is longer along one side: the middle of both shall be the place.
        handle = 0.012 * np.sign(np.sin(yaw_of(mug)))
        shift = np.array([0.0, -handle, 0.0])
        return Pose(place + shift + self.tool.position - mug.position, pointing_down(across(yaw_of(self.tool))))
