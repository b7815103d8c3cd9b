"""A scripted expert for the task threading: takes the needle by its handle and puts it through the ring. Pure."""

from collections.abc import Generator
from functools import partial
from typing import Any

import numpy as np

from cobalt_sim.experts.carrying import CarryingExpert, least_turn, pointing_down, raised, yaw_of
from cobalt_sim.experts.scripted import Wish
from cobalt_sim.tasks.threading import NEEDLE, RING, THROUGH_M, TIP
from cobalt_teleop.core.pose import Pose, quaternion, rotate

_BEFORE_M, _BEYOND_M, _ABOVE_M = 0.03, 0.015, 0.08


class ThreadingExpert(CarryingExpert):
    """Carries the needle high before the ring, brings it down before the hole, and pushes it through."""

    def _script(self) -> Generator[Wish, None, Any]:
        if not (yield from self._take(self._grasp)):
            return
        for tip_beyond, above, slowness in (
            (-_BEFORE_M, _ABOVE_M, 1.0),
            (-_BEFORE_M, 0.0, 2.0),
            (THROUGH_M + _BEYOND_M, 0.0, 3.0),
        ):
            if not (
                yield from self._go(
                    partial(self._before_ring, tip_beyond, above),
                    gripper=0.0,
                    slowness=slowness,
                    unless=lambda: self._lost(self._grasp),
                    limit_s=8.0,
                )
            ):
                return
        yield from self._stay(1.0, gripper=0.0)

    def _grasp(self) -> Pose:
        needle = self.objects[NEEDLE]
        x, y, z = needle.position
        return Pose(np.array([x, y, max(z, self._skill.lowest)]), pointing_down(least_turn(yaw_of(needle), np.pi)))

    def _before_ring(self, tip_beyond: float, above: float) -> Pose:
        """Returns the pose of the tool at which the tip is so far beyond the hole, and so far above it [m]."""
        ring = self.objects[RING]
        along = rotate(ring.quat_xyzw, np.array([0.0, 0.0, 1.0]))
        yaw = float(np.arctan2(along[1], along[0]))
        place = Pose(ring.position - along * (TIP - tip_beyond), quaternion([0.0, 0.0, yaw]))
        return self._bearing(NEEDLE, raised(place, above))
