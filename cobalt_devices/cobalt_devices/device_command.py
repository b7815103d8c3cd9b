"""What a device's mapper makes of its samples, and what it hears of the arm; without ROS."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from cobalt_teleop.core.pose import Pose

NextEpoch = Callable[[], int]
"""Returns the number of a new clutch epoch, one that the host has not seen yet."""


class EngagedSample(Protocol):
    """What all samples of devices tell."""

    @property
    def engaged(self) -> bool:
        """The device may move the arm: its clutch is pressed, if it has one."""


Sample = TypeVar('Sample', bound=EngagedSample, contravariant=True)


@dataclass(frozen=True, kw_only=True)
class Feedback:
    """What the host made of the commands, from one tick.

    Attributes:
        clutch_epoch: Of the newest command that the host has seen; None if it has seen none.
        command: Motion since engage in that command.
        measured: The tool's pose before the tick, in the base frame.
        anchor: The measured pose at engage, in the base frame.
        target: The accepted target, in the base frame.
        gripper_target: 0 closed to 1 open.
        holding: The part does not follow commands.
        waiting: It holds for want of a press alone, or brakes before it takes one.
    """

    clutch_epoch: int | None
    command: Pose
    measured: Pose
    anchor: Pose
    target: Pose
    gripper_target: float
    holding: bool
    waiting: bool = False


@dataclass(frozen=True, kw_only=True)
class DeviceCommand:
    """What a device asks for.

    Attributes:
        pose: Motion since engage, axes of the base frame.
        gripper: 0 closed to 1 open, NaN to leave it.
        engaged: An epoch is on.
        tracked: The device knows its pose.
        clutch_epoch: Of the epoch that is on, or of the last one.
        filter_delay_s: By how much smoothing makes it late [s].
    """

    pose: Pose
    gripper: float
    engaged: bool
    tracked: bool
    clutch_epoch: int
    filter_delay_s: float = 0.0


class Mapper(Protocol[Sample]):
    """Turns the samples of one operator's device into commands for one part."""

    def listens(self, sample: Sample) -> bool:
        """Returns whether `update` has a use for feedback with this sample."""

    def update(self, sample: Sample, feedback: Feedback | None = None) -> DeviceCommand | None:
        """Takes one sample and returns the command that it makes; None if it makes none.

        Args:
            sample: Newest state of the device.
            feedback: Newest tick of the host, if there is one.
        """
