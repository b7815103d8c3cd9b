"""Which presses of a page's devices have just begun: a device's node drives by no press that it has not seen begin."""

import copy
from dataclasses import dataclass

from cobalt_interfaces.msg import DeviceSample

YOUNG_S = 1.5
"""A press that could not be told for so long is an old one [s]; pages let a press wait as long for control."""


@dataclass
class _Press:
    number: int
    began_s: float
    told: bool = False


class PressWitness:
    """Sees each press of a page begin, and vouches for it once."""

    def __init__(self) -> None:
        self._presses: dict[tuple[str, str], _Press] = {}

    def vouches_for(self, device: str, part: str, number: int, now_s: float) -> bool:
        """Returns whether a press has just begun, and has not been told yet.

        Args:
            device: Kind of device.
            part: Arm that it drives.
            number: The page's count of its presses.
            now_s: Monotonic time [s].
        """
        press = self._presses.get((device, part))
        if press is None or press.number != number:
            press = self._presses[device, part] = _Press(number, now_s)
        return not press.told and now_s - press.began_s <= YOUNG_S

    def note_told(self, device: str, part: str) -> None:
        """The press has been told: it is vouched for no more, under no other lease and to no other node."""
        self._presses[device, part].told = True


def before_press(sample: DeviceSample) -> DeviceSample:
    """Returns a device as it was before the press of a sample: at rest."""
    rest = copy.copy(sample)
    rest.engaged = False
    rest.clutch_epoch = (sample.clutch_epoch - 1) % 2**32
    return rest
