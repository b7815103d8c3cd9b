"""What all experts do: they press, go from phase to phase, and begin again where the arm does not follow. Pure."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from enum import Enum

from cobalt_sim.experts.expert import ExpertCommand
from cobalt_sim.experts.steady_hand import ExpertSkill, SteadyHand, ticks
from cobalt_teleop.core.pose import Pose


class ExpertPhase(Enum):
    """What an expert is doing."""

    RELEASED = 'released'
    APPROACH = 'approach'
    DESCEND = 'descend'
    CLOSE = 'close'
    LIFT = 'lift'
    CARRY = 'carry'
    LOWER = 'lower'
    OPEN = 'open'
    RETREAT = 'retreat'


_REACHING = (ExpertPhase.APPROACH, ExpertPhase.DESCEND)
_GRIPPING = (ExpertPhase.CLOSE, ExpertPhase.LIFT, ExpertPhase.CARRY, ExpertPhase.LOWER)


class PhasedExpert(ABC):
    """Drives one arm by phases: the first is APPROACH.

    Args:
        period_s: Time between two calls of `step` [s].
        skill: How it moves.
    """

    def __init__(self, *, period_s: float = 0.05, skill: ExpertSkill | None = None) -> None:
        self._period_s = period_s
        self._skill = skill or ExpertSkill()
        self._hand = SteadyHand(self._skill, period_s)
        self._phase = ExpertPhase.RELEASED
        self._ticks_in_phase = 0

    @property
    def phase(self) -> ExpertPhase:
        """What it is doing."""
        return self._phase

    def restart(self) -> None:
        """Releases the clutch; the next steps begin anew, as after a reset."""
        self._enter(ExpertPhase.RELEASED)

    def step(self, *, tool: Pose, objects: Mapping[str, Pose], gripper: float) -> ExpertCommand:
        """Decides one tick from measured poses in the base frame and the gripper's opening (0 to 1)."""
        self._ticks_in_phase += 1
        if self._phase is ExpertPhase.RELEASED:
            if not self._lasted(0.15):
                return ExpertCommand(pose=tool, gripper=float('nan'), engaged=False)
            self._hand.start_from(tool)
            self._enter(ExpertPhase.APPROACH)
            return ExpertCommand(pose=tool, gripper=1.0, engaged=True)
        goal = self._goal(tool, objects)
        if not self._hand.is_followed(tool, goal, reaches=self._phase in _REACHING):
            self.restart()
            return ExpertCommand(pose=tool, gripper=float('nan'), engaged=False)
        self._hand.move_towards(goal, slowness=3.0 if self._phase is ExpertPhase.LOWER else 1.0)
        self._next_phase(tool, objects, goal, gripper)
        return ExpertCommand(pose=self._hand.wanted, gripper=0.0 if self._phase in _GRIPPING else 1.0, engaged=True)

    @abstractmethod
    def _goal(self, tool: Pose, objects: Mapping[str, Pose]) -> Pose:
        """Returns where the tool shall get to in this phase."""

    @abstractmethod
    def _next_phase(self, tool: Pose, objects: Mapping[str, Pose], goal: Pose, gripper: float) -> None:
        """Enters the next phase where this one is done."""

    def _enter(self, phase: ExpertPhase) -> None:
        self._phase = phase
        self._ticks_in_phase = 0

    def _lasted(self, seconds: float) -> bool:
        """Returns whether it has been in this phase for longer."""
        return self._ticks_in_phase > ticks(seconds, self._period_s)
