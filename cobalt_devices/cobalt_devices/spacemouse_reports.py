"""What a SpaceMouse says: its input reports, as published by those who have recorded them.

Report 1 has x, y, z as 16-bit integers of about -350 to 350, low byte first; on newer models Rx, Ry, Rz follow in the
same report, on older ones they come in report 2. Report 3 has one bit a button. x is to the right, y towards the
person, z down, and a positive turn is clockwise when one looks along its axis (HID Usage Tables, Generic Desktop page).
"""

import struct
from collections.abc import Iterable
from dataclasses import dataclass

AXES = ('tx', 'ty', 'tz', 'rx', 'ry', 'rz')
"""Names of the axes, for a parameter file, in the order of the reports."""

MOST_BUTTONS = 32

_FULL = 350.0
_AXES_REPORT, _ROTATION_REPORT, _BUTTONS_REPORT = 1, 2, 3
_THREE, _SIX = struct.Struct('<3h'), struct.Struct('<6h')


@dataclass(frozen=True)
class SpaceMouseState:
    """Where the cap is, and which buttons are down.

    Attributes:
        axes: Deflections in the order of AXES, -1 to 1.
        buttons: Bits of the buttons that are down.
        press_counts: Presses of each button so far.
    """

    axes: tuple[float, ...] = (0.0,) * len(AXES)
    buttons: int = 0
    press_counts: tuple[int, ...] = (0,) * MOST_BUTTONS

    def after(self, report: bytes) -> 'SpaceMouseState':
        """Returns the state after an input report; the same if it says nothing about axes or buttons.

        Args:
            report: With its number as the first byte.
        """
        if len(report) < 2:
            return self
        number, data = report[0], report[1:]
        if number == _AXES_REPORT and len(data) >= _SIX.size:
            return self._with_axes(0, _SIX.unpack_from(data))
        if number == _AXES_REPORT and len(data) >= _THREE.size:
            return self._with_axes(0, _THREE.unpack_from(data))
        if number == _ROTATION_REPORT and len(data) >= _THREE.size:
            return self._with_axes(3, _THREE.unpack_from(data))
        if number == _BUTTONS_REPORT:
            return self._with_buttons(int.from_bytes(data[: MOST_BUTTONS // 8], 'little'))
        return self

    def _with_axes(self, first: int, values: Iterable[int]) -> 'SpaceMouseState':
        shares = tuple(max(-1.0, min(1.0, value / _FULL)) for value in values)
        axes = self.axes[:first] + shares + self.axes[first + len(shares) :]
        return SpaceMouseState(axes, self.buttons, self.press_counts)

    def _with_buttons(self, buttons: int) -> 'SpaceMouseState':
        pressed = buttons & ~self.buttons
        counts = tuple(count + (pressed >> index & 1) for index, count in enumerate(self.press_counts))
        return SpaceMouseState(self.axes, buttons, counts)


def together(states: Iterable[SpaceMouseState]) -> SpaceMouseState:
    """Returns what the interfaces of one receiver say together: each is one device that is paired with it."""
    axes, buttons = [0.0] * len(AXES), 0
    counts = [0] * MOST_BUTTONS
    for state in states:
        axes = [max(-1.0, min(1.0, here + more)) for here, more in zip(axes, state.axes, strict=True)]
        buttons |= state.buttons
        counts = [here + more for here, more in zip(counts, state.press_counts, strict=True)]
    return SpaceMouseState(tuple(axes), buttons, tuple(counts))
