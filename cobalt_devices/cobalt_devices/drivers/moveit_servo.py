"""The driver `moveit_servo`: an arm behind MoveIt Servo, by twists or poses.

It is that of ros2_control with Servo's topics; a stop pauses Servo by its service.
"""

from dataclasses import dataclass, fields, replace
from typing import Any

from std_srvs.srv import SetBool

from cobalt_devices.arm_driver.driver import DriverContext
from cobalt_devices.arm_driver.driver_options import read_options
from cobalt_devices.drivers.ros2_control import Ros2ControlDriver, ask
from cobalt_teleop.core.parameter_table import parameter

NAME = 'moveit_servo'

_TOPICS = {'twist': 'delta_twist_cmds', 'pose': 'pose_target_cmds'}


@dataclass(frozen=True, kw_only=True)
class MoveitServoOptions:
    """Options of the driver, in robot.yaml below `drivers: moveit_servo:`, beside those of ros2_control."""

    node: str = parameter('/servo_node', "Name of Servo's node")
    command: str = parameter('twist', 'What Servo takes; it must be set to the same', choices=tuple(_TOPICS))


class MoveitServoDriver(Ros2ControlDriver):
    """One arm behind MoveIt Servo.

    Args:
        context: Robot, options and node.
    """

    def __init__(self, context: DriverContext) -> None:
        own = {field.name for field in fields(MoveitServoOptions)}
        options = read_options(
            NAME, MoveitServoOptions, {name: value for name, value in context.options.items() if name in own}
        )
        of_servo: dict[str, Any] = {
            'title': f'MoveIt Servo, by {options.command}',
            'kind': f'cartesian_{options.command}',
            'command_topic': f'{options.node}/{_TOPICS[options.command]}',
            'rate_hz': 100.0,
        }
        others = {name: value for name, value in context.options.items() if name not in own}
        super().__init__(replace(context, options=of_servo | others))
        self._pausing = self._node.create_client(SetBool, f'{options.node}/pause_servo')

    def stop(self) -> None:
        """Pauses Servo, which stops the arm, and calls the stop service if there is one."""
        self._pausing.call_async(SetBool.Request(data=True))
        super().stop()

    def recover(self) -> None:
        """Calls the recover service if there is one, and lets Servo go on.

        Raises:
            DriverError: One of them does not answer, or refuses.
        """
        super().recover()
        ask(self._pausing, SetBool.Request(data=False), ': is MoveIt Servo running?')
