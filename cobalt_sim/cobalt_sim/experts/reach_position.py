"""A scripted expert for the task reach_position: goes to the ball and stays. Pure."""

from collections.abc import Mapping

from cobalt_sim.experts.phased import PhasedExpert
from cobalt_sim.tasks.reach_position import BALL
from cobalt_teleop.core.pose import Pose


class ReachPositionExpert(PhasedExpert):
    """Moves the tool straight to the ball, turned as it is."""

    def _goal(self, tool: Pose, objects: Mapping[str, Pose]) -> Pose:
        return Pose(objects[BALL].position, self._hand.wanted.quat_xyzw)

    def _next_phase(self, tool: Pose, objects: Mapping[str, Pose], goal: Pose, gripper: float) -> None:
        """Stays."""
