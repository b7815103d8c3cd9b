"""`spacemouse_node`: drives arms by SpaceMice of browser pages, or by one that is plugged into this machine."""

import sys
from typing import Any

from rclpy.node import Node

from cobalt_devices.local_spacemouse import SOURCE, LocalSpaceMouse
from cobalt_devices.rate_device import page_rates
from cobalt_devices.sample_publishers import SamplePublishers
from cobalt_devices.spacemouse_parameters import SpaceMouseParameters
from cobalt_devices.spacemouse_reports import AXES
from cobalt_teleop.ros.message_executor import message_executor
from cobalt_teleop.ros.parameters import read_parameters
from cobalt_teleop.ros.process import Stop, run_node

_SUMMARY = f"""\
Drives arms by SpaceMice: of browser pages (backend page, by WebHID), or the one that is plugged into this machine
(backend hid). Axes: {', '.join(AXES)}; x is to the right, y towards the person, z down, as the device counts them.
Buttons count from 0; on models with two, 0 is the left one.
"""


class SpaceMouseNode(Node):
    """Drives arms by the SpaceMice of one back end.

    Args:
        publishers: Tells whose samples of pages count.
        options: Of rclpy's Node.

    Raises:
        CobaltError: A direction names no axis, or hidapi is not installed.
    """

    def __init__(self, _: Stop, publishers: SamplePublishers | None = None, **options: Any) -> None:
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
            self._page = page_rates(self, SOURCE, parameters, settings, publishers)

    def close(self) -> None:
        """Gives control back."""
        if self._local is not None:
            self._local.close()


def main() -> int:
    """Entry point of `spacemouse_node`."""
    return run_node('spacemouse_node', _SUMMARY, SpaceMouseParameters, SpaceMouseNode, make_executor=message_executor)


if __name__ == '__main__':
    sys.exit(main())
