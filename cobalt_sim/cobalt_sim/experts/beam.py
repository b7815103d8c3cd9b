"""A scripted expert for the task beam: goes to the white end, then along. Pure."""

from collections.abc import Mapping

from cobalt_sim.experts.phased import ExpertPhase, PhasedExpert
from cobalt_sim.experts.steady_hand import is_there
from cobalt_sim.tasks.beam import BEAM, ends
from cobalt_teleop.core.pose import Pose


class BeamExpert(PhasedExpert):
    """Moves the tool straight to the white end, then straight to the green one, turned as it is."""

    def _goal(self, tool: Pose, objects: Mapping[str, Pose]) -> Pose:
        start, end = ends(objects[BEAM])
        return Pose(start if self._phase is ExpertPhase.APPROACH else end, self._hand.wanted.quat_xyzw)

    def _next_phase(self, tool: Pose, objects: Mapping[str, Pose], goal: Pose, gripper: float) -> None:
        if self._phase is ExpertPhase.APPROACH and is_there(tool, goal):
            self._enter(ExpertPhase.CARRY)
        elif self._phase is ExpertPhase.CARRY and self._lasted(8.0):
            # It has left the beam: had it not, the episode would be over.
            self._enter(ExpertPhase.APPROACH)
