"""An emergency stop button that is heard over a topic: pressed, or silent for too long, it stops every workcell."""

import time
from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import Joy
from std_msgs.msg import Bool

from cobalt_teleop.workcell_host.stop_button_parameters import StopButtonParameters

_LOOK_S = 0.05


class StopButton:
    """Hears a button on its node's executor.

    Args:
        node: Owns subscription and timer.
        parameters: Which button.
        on_stop: Called with who stops, again and again while the button is pressed or silent.
    """

    def __init__(self, node: Node, parameters: StopButtonParameters, on_stop: Callable[[str], None]) -> None:
        self._parameters = parameters
        self._on_stop = on_stop
        self._down = False
        self._heard_s = time.monotonic()
        kind, take = (Bool, self._on_bool) if parameters.stop_type == 'bool' else (Joy, self._on_joy)
        self._subscription = node.create_subscription(kind, parameters.stop_topic, take, qos_profile_sensor_data)
        self._timer = node.create_timer(_LOOK_S, self._look) if parameters.stop_timeout_s else None

    @property
    def objection(self) -> str:
        """Why the stop cannot be released now; empty if it can."""
        name = f'the stop button on {self._parameters.stop_topic}'
        if self._down:
            return f'{name} is pressed: release it first'
        return f'{name} is not heard' if self._silent else ''

    @property
    def _silent(self) -> bool:
        timeout_s = self._parameters.stop_timeout_s
        return bool(timeout_s) and time.monotonic() - self._heard_s > timeout_s

    def _hear(self, down: bool) -> None:
        self._heard_s = time.monotonic()
        self._down = down
        if down:
            self._on_stop(f'the stop button on {self._parameters.stop_topic}')

    def _on_bool(self, message: Bool) -> None:
        self._hear(bool(message.data))

    def _on_joy(self, message: Any) -> None:
        button = self._parameters.stop_button
        # A Joy without that button is another device than was meant: nobody could stop by it.
        self._hear(button >= len(message.buttons) or bool(message.buttons[button]))

    def _look(self) -> None:
        if self._silent:
            self._on_stop(f'silence of the stop button on {self._parameters.stop_topic}')
