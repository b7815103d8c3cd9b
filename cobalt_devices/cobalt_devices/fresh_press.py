"""Which presses of a clutch may drive: those that were seen to begin."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from cobalt_devices.device_command import DeviceCommand, EngagedSample, Feedback, Mapper, NextEpoch


class ClutchedSample(EngagedSample, Protocol):
    """What samples of devices with a clutch tell; they are dataclasses."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def clutch_epoch(self) -> int:
        """The device's count of presses."""


Clutched = TypeVar('Clutched', bound=ClutchedSample)


class FreshPress:
    """Tells a press that began while it was watched from one that was down before.

    A press has a number. It began if the sample before it had another: of the device at rest, or of an earlier press
    whose release was lost on the way. Of the first sample that comes nobody knows since when it is pressed, and a press
    that was let go does not come back.
    """

    def __init__(self) -> None:
        self._newest: int | None = None
        self._drives = False

    def may_drive(self, *, engaged: bool, number: int) -> bool:
        """Takes what a sample says and returns whether it may move the arm.

        Args:
            engaged: The clutch is pressed.
            number: The device's count of presses.
        """
        began = self._newest is not None and number != self._newest
        self._newest = number
        self._drives = engaged and (began or self._drives)
        return self._drives


class FreshPressMapper(Generic[Clutched]):
    """A mapper to which a press that it has not seen begin counts as none.

    Args:
        mapper: Of a device with a clutch.
    """

    def __init__(self, mapper: Mapper[Clutched]) -> None:
        self._mapper = mapper
        self._press = FreshPress()

    @classmethod
    def around(cls, make_mapper: Callable[[NextEpoch], Mapper[Clutched]]) -> Callable[[NextEpoch], Mapper[Clutched]]:
        """Returns what makes such a mapper around that of a device."""
        return lambda next_epoch: cls(make_mapper(next_epoch))

    def listens(self, sample: Clutched) -> bool:
        """Returns whether `update` has a use for feedback with this sample."""
        return self._mapper.listens(sample)

    def update(self, sample: Clutched, feedback: Feedback | None = None) -> DeviceCommand | None:
        """Takes one sample and returns the command that it makes; None if it makes none."""
        if self._press.may_drive(engaged=sample.engaged, number=sample.clutch_epoch) != sample.engaged:
            sample = replace(sample, engaged=False)
        return self._mapper.update(sample, feedback)
