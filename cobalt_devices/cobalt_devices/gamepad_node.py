"""`gamepad_node`: drives arms by gamepads of operators, whose pages send sticks and buttons through the bridge."""

import sys
from typing import Any

from rclpy.node import Node

from cobalt_devices.gamepad_parameters import AXES, GamepadParameters
from cobalt_devices.rate_device import page_rates
from cobalt_devices.sample_publishers import SamplePublishers
from cobalt_teleop.ros.message_executor import message_executor
from cobalt_teleop.ros.parameters import read_parameters
from cobalt_teleop.ros.process import Stop, run_node

SOURCE = 'gamepad'

_SUMMARY = f"""\
Drives arms by gamepads of browser pages. Axes: {', '.join(AXES)}; x is to the right, y towards the person.
Buttons are those of the browsers' standard layout: 0 to 3 below, right, left, above; 4 and 5 the shoulders, which the
page takes for "hold to drive"; 6 and 7 the triggers.
"""


class GamepadNode(Node):
    """Drives arms by the gamepads of pages.

    Args:
        publishers: Tells whose samples of pages count.
        options: Of rclpy's Node.
    """

    def __init__(self, _: Stop, publishers: SamplePublishers | None = None, **options: Any) -> None:
        super().__init__('gamepad_node', **options)
        parameters = read_parameters(self, GamepadParameters)
        self._page = page_rates(self, SOURCE, parameters, parameters.settings(AXES), publishers)


def main() -> int:
    """Entry point of `gamepad_node`."""
    return run_node('gamepad_node', _SUMMARY, GamepadParameters, GamepadNode, make_executor=message_executor)


if __name__ == '__main__':
    sys.exit(main())
