"""What gamepad_node can be told."""

from dataclasses import dataclass

from cobalt_devices.rate_parameters import RateParameters, direction
from cobalt_teleop.core.parameter_table import parameter

AXES = ('left_x', 'left_y', 'right_x', 'right_y', 'dpad_x', 'dpad_y')
"""Names of the axes in the order in which the page sends them; x is to the right, y towards the person."""


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

    def __post_init__(self) -> None:
        self.settings(AXES)
