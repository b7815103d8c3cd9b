"""What a scripted expert is: from what it sees to what a person's hand would command. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from cobalt_teleop.core.pose import Pose


@dataclass(frozen=True, kw_only=True)
class ExpertCommand:
    """What the expert wants in a tick.

    Attributes:
        pose: Of the tool in the base frame; at an engage the measured one, then moving. Its way since the engage
            is a hand's motion, as REFERENCE_ENGAGE wants it.
        gripper: 0 closed to 1 open.
        engaged: The clutch is pressed.
    """

    pose: Pose
    gripper: float
    engaged: bool


class Expert(Protocol):
    """Drives one arm through one task, tick by tick."""

    def restart(self) -> None:
        """Releases the clutch; the next steps begin anew, as after a reset."""
        ...

    def step(self, *, tool: Pose, objects: Mapping[str, Pose], gripper: float) -> ExpertCommand:
        """Decides one tick.

        Args:
            tool: Measured pose in the base frame.
            objects: Poses of the task's objects in the base frame, by name.
            gripper: Measured opening, 0 to 1.
        """
        ...
