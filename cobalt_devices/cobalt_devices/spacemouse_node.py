"""`spacemouse_node`: drives arms by SpaceMice of browser pages, or by one that is plugged into this machine."""

import sys
from dataclasses import dataclass
from typing import Any

from rclpy.node import Node

from cobalt_devices.local_spacemouse import SOURCE, LocalSpaceMouse
from cobalt_devices.rate_device import page_rates
from cobalt_devices.rate_parameters import RateParameters, direction
from cobalt_devices.spacemouse_reports import AXES
from cobalt_teleop.ros.message_executor import message_executor
from cobalt_teleop.ros.parameters import parameter, read_parameters
from cobalt_teleop.ros.process import Stop, run_node

_SUMMARY = f"""\
Drives arms by SpaceMice: of browser pages (backend page, by WebHID), or the one that is plugged into this machine
(backend hid). Axes: {', '.join(AXES)}; x is to the right, y towards the person, z down, as the device counts them.
Buttons count from 0; on models with two, 0 is the left one.
"""


@dataclass(frozen=True, kw_only=True)
class SpaceMouseParameters(RateParameters):
    """Parameters of spacemouse_node."""

    backend: str = parameter('page', 'Where the SpaceMouse is', choices=('page', 'hid'))
    forward: str = direction('-ty', 'moves the tool away')
    left: str = direction('-tx', 'moves it to the left')
    up: str = direction('-tz', 'moves it up')
    roll: str = direction('-ry', 'rolls it to the right')
    pitch: str = direction('-rx', 'nods it forward')
    yaw: str = direction('-rz', 'turns it to the left')
    part: str = parameter('arm', 'Part that a SpaceMouse of this machine moves')
    operator: str = parameter('', 'Name shown to others (backend hid); who is logged in if empty')
    reference: str = parameter('view', 'Along whose axes it moves (backend hid)', choices=('view', 'base', 'tool'))
    silence_s: float = parameter(
        0.2, 'A cap that is pushed and not heard for so long is out of reach [s] (backend hid)', lower=0.05, upper=2.0
    )
    give_back_s: float = parameter(
        60.0, 'Control goes back so long after the last push [s] (backend hid)', lower=1.0, upper=3600.0
    )


class SpaceMouseNode(Node):
    """Drives arms by the SpaceMice of one back end.

    Args:
        options: Of rclpy's Node.

    Raises:
        CobaltError: A direction names no axis, or hidapi is not installed.
    """

    def __init__(self, _: Stop, **options: Any) -> None:
        super().__init__('spacemouse_node', **options)
        parameters = read_parameters(self, SpaceMouseParameters)
        settings = parameters.settings(AXES)
        self._local: LocalSpaceMouse | None = None
        if parameters.backend == 'hid':
            self._local = LocalSpaceMouse(
                self,
                settings,
                workcells=parameters.workcells,
                part=parameters.part,
                operator=parameters.operator,
                reference=parameters.reference,
                silence_s=parameters.silence_s,
                give_back_s=parameters.give_back_s,
            )
        else:
            self.get_logger().info('back end page: SpaceMice are those of browser pages, through the bridge')
            self._page = page_rates(self, SOURCE, parameters, settings)

    def close(self) -> None:
        """Gives control back."""
        if self._local is not None:
            self._local.close()


def main() -> int:
    """Entry point of `spacemouse_node`."""
    return run_node('spacemouse_node', _SUMMARY, SpaceMouseParameters, SpaceMouseNode, make_executor=message_executor)


if __name__ == '__main__':
    sys.exit(main())
