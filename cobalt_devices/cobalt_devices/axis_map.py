"""Which axis of a device moves the tool which way: words of a parameter file, such as `-ty` or `0.6*dpad_x`."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from cobalt_teleop.core.errors import CobaltError

DIRECTIONS = ('forward', 'left', 'up', 'roll', 'pitch', 'yaw')
"""Ways of the tool in the operator's axes: along x, y, z [m], and about them [rad]. A roll to the right, a pitch that
nods forward and a yaw to the left are positive."""

_WORDS = re.compile(r'(?P<sign>[+-]?)(?:(?P<gain>\d*\.?\d+)\*)?(?P<axis>[a-z_]+)')
_LARGEST_GAIN = 10.0


class AxisMapError(CobaltError):
    """A direction's words name no axis."""


@dataclass(frozen=True)
class AxisUse:
    """What moves the tool along one direction.

    Attributes:
        index: Of the device's axis.
        gain: That its value is multiplied by.
    """

    index: int
    gain: float


def axis_use(direction: str, words: str, axes: Sequence[str]) -> AxisUse | None:
    """Returns what a parameter's words mean.

    Args:
        direction: Name of the parameter, for the message.
        words: Such as `-ty`, `0.6*dpad_x`, or empty for none.
        axes: Names of the device's axes.

    Raises:
        AxisMapError: They name no axis of this device.
    """
    plain = words.replace(' ', '')
    if not plain:
        return None
    found = _WORDS.fullmatch(plain)
    if found is None or found['axis'] not in axes:
        raise AxisMapError(
            f"parameter '{direction}' is {words!r}, but must name an axis, with a sign or a factor if you like, such "
            f"as '-{axes[0]}' or '0.5*{axes[0]}'; the axes are {', '.join(axes)}; empty for none"
        )
    gain = float(found['gain'] or 1.0)
    if not (math.isfinite(gain) and gain <= _LARGEST_GAIN):
        raise AxisMapError(f"parameter '{direction}' is {words!r}, but its factor must be {_LARGEST_GAIN:g} or less")
    return AxisUse(axes.index(found['axis']), -gain if found['sign'] == '-' else gain)
