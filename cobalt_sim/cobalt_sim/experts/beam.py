"""A scripted expert for the task beam: goes to the white end, then along. Pure."""

from collections.abc import Generator
from typing import Any

from cobalt_sim.experts.scripted import ScriptedExpert, Wish
from cobalt_sim.tasks.beam import BEAM, ends
from cobalt_teleop.core.pose import Pose


class BeamExpert(ScriptedExpert):
    """Moves the tool straight to the white end, then straight to the green one, turned as it is."""

    def _script(self) -> Generator[Wish, None, Any]:
        yield from self._go(lambda: self._end(0), reaches=True)
        yield from self._go(lambda: self._end(1), until=lambda: False, limit_s=8.0)

    def _end(self, index: int) -> Pose:
        return Pose(ends(self.objects[BEAM])[index], self._hand.wanted.quat_xyzw)
