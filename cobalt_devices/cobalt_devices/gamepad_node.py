"""`gamepad_node`: drives arms by gamepads of operators, whose pages send sticks and buttons through the bridge."""

import sys
from dataclasses import dataclass
from typing import Any

from rclpy.node import Node

from cobalt_devices.rate_device import page_rates
from cobalt_devices.rate_parameters import RateParameters, direction
from cobalt_teleop.ros.message_executor import message_executor
from cobalt_teleop.ros.parameters import parameter, read_parameters
from cobalt_teleop.ros.process import Stop, run_node

SOURCE = 'gamepad'

AXES = ('left_x', 'left_y', 'right_x', 'right_y', 'dpad_x', 'dpad_y')
"""Names of the axes in the order in which the page sends them; x is to the right, y towards the person."""

_SUMMARY = f"""\
Drives arms by gamepads of browser pages. Axes: {', '.join(AXES)}; x is to the right, y towards the person.
Buttons are those of the browsers' standard layout: 0 to 3 below, right, left, above; 4 and 5 the shoulders, which the
page takes for "hold to drive"; 6 and 7 the triggers.
"""


@dataclass(frozen=True, kw_only=True)
class GamepadParameters(RateParameters):
    """Parameters of gamepad_node."""

    dead_zone: float = parameter(0.15, 'Share of an axis around its middle that moves nothing', lower=0.0, upper=0.8)
    curve: float = parameter(2.0, 'Exponent beyond it: 1 is straight, 2 finer near the middle', lower=1.0, upper=4.0)
    forward: str = direction('-left_y', 'moves the tool away')
    left: str = direction('-left_x', 'moves it to the left')
    up: str = direction('-right_y', 'moves it up')
    roll: str = direction('0.6*dpad_x', 'rolls it to the right')
    pitch: str = direction('0.6*dpad_y', 'nods it forward')
    yaw: str = direction('-right_x', 'turns it to the left')
    close_button: int = parameter(7, 'Button that closes the gripper, from 0; -1 for none', lower=-1, upper=31)
    open_button: int = parameter(6, 'Button that opens the gripper, from 0; -1 for none', lower=-1, upper=31)


class GamepadNode(Node):
    """Drives arms by the gamepads of pages.

    Args:
        options: Of rclpy's Node.
    """

    def __init__(self, _: Stop, **options: Any) -> None:
        super().__init__('gamepad_node', **options)
        parameters = read_parameters(self, GamepadParameters)
        self._page = page_rates(self, SOURCE, parameters, parameters.settings(AXES))


def main() -> int:
    """Entry point of `gamepad_node`."""
    return run_node('gamepad_node', _SUMMARY, GamepadParameters, GamepadNode, make_executor=message_executor)


if __name__ == '__main__':
    sys.exit(main())
