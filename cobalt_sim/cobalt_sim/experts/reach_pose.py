"""Scripted experts for the tasks reach_rotation and reach_pose: turn like the green hand, go to it, and stay. Pure."""

from collections.abc import Mapping

from cobalt_sim.experts.phased import PhasedExpert
from cobalt_sim.tasks.ghost_hand import GHOST
from cobalt_teleop.core.pose import Pose


class ReachPoseExpert(PhasedExpert):
    """Moves the tool straight into the green hand, turning on the way."""

    def _goal(self, tool: Pose, objects: Mapping[str, Pose]) -> Pose:
        return objects[GHOST]

    def _next_phase(self, tool: Pose, objects: Mapping[str, Pose], goal: Pose, gripper: float) -> None:
        """Stays."""


class ReachRotationExpert(ReachPoseExpert):
    """Turns the tool where it is."""

    def _goal(self, tool: Pose, objects: Mapping[str, Pose]) -> Pose:
        return Pose(self._hand.wanted.position, objects[GHOST].quat_xyzw)
