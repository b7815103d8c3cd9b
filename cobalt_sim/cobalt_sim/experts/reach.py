"""Scripted experts for the tasks reach_*: go to what hangs in the air, turn as it is turned, and stay. Pure."""

from abc import abstractmethod
from collections.abc import Generator
from typing import Any

from cobalt_sim.experts.scripted import ScriptedExpert, Wish
from cobalt_sim.tasks.ghost_hand import GHOST
from cobalt_sim.tasks.reach_position import BALL
from cobalt_teleop.core.pose import Pose


class _ReachExpert(ScriptedExpert):
    def _script(self) -> Generator[Wish, None, Any]:
        yield from self._go(self._goal, reaches=True, until=lambda: False)

    @abstractmethod
    def _goal(self) -> Pose:
        """Returns where the tool shall be."""


class ReachPoseExpert(_ReachExpert):
    """Moves the tool straight into the green hand, turning on the way."""

    def _goal(self) -> Pose:
        return self.objects[GHOST]


class ReachRotationExpert(_ReachExpert):
    """Turns the tool where it is."""

    def _goal(self) -> Pose:
        return Pose(self._hand.wanted.position, self.objects[GHOST].quat_xyzw)


class ReachPositionExpert(_ReachExpert):
    """Moves the tool straight to the ball, turned as it is."""

    def _goal(self) -> Pose:
        return Pose(self.objects[BALL].position, self._hand.wanted.quat_xyzw)
