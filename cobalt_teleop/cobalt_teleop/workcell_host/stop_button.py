"""An emergency stop button that is heard over a topic: pressed, or silent for too long, it stops every workcell."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import Joy
from std_msgs.msg import Bool

from cobalt_teleop.ros.message_origin import Origin, WithOrigin, publishers_of
from cobalt_teleop.workcell_host.stop_button_parameters import StopButtonParameters

_LOOK_S = 0.05


@dataclass
class _Voice:
    """What one publisher of the button said last, and when."""

    down: bool
    heard_s: float


class StopButton:
    """Hears a button on its node's executor.

    What one publisher says another cannot take back: a press lasts until the publisher that told it says that it is
    over, or is gone when a person releases the stop. A publisher that was heard has to be heard on, if silence stops.

    Args:
        node: Owns subscription and timer.
        parameters: Which button.
        on_stop: Called with who stops, again and again while the button is pressed or silent.
    """

    def __init__(self, node: Node, parameters: StopButtonParameters, on_stop: Callable[[str], None]) -> None:
        self._node = node
        self._parameters = parameters
        self._on_stop = on_stop
        self._started_s = time.monotonic()
        self._voices: dict[bytes, _Voice] = {}
        kind, take = (Bool, self._on_bool) if parameters.stop_type == 'bool' else (Joy, self._on_joy)
        self._subscription = node.create_subscription(
            kind, parameters.stop_topic, WithOrigin(take), qos_profile_sensor_data
        )
        self._timer = node.create_timer(_LOOK_S, self._look) if parameters.stop_timeout_s else None

    @property
    def objection(self) -> str:
        """Why the stop cannot be released now; empty if it can. Publishers that are gone object no more."""
        there = publishers_of(self._node, self._subscription.topic_name)
        # Where the middleware names no publisher, there is one voice, which is there as long as anybody is.
        self._voices = {gid: voice for gid, voice in self._voices.items() if gid in there or (not gid and there)}
        name = f'the stop button on {self._parameters.stop_topic}'
        pressed = [there.get(gid, '') for gid, voice in self._voices.items() if voice.down]
        if pressed:
            by = f' ({" and ".join(pressed)})' if len(self._voices) > 1 else ''
            return f'{name}{by} is pressed: release it first'
        return f'{name} is not heard' if self._silent else ''

    @property
    def _silent(self) -> bool:
        timeout_s = self._parameters.stop_timeout_s
        if not timeout_s:
            return False
        oldest_s = min((voice.heard_s for voice in self._voices.values()), default=self._started_s)
        return time.monotonic() - oldest_s > timeout_s

    def _hear(self, down: bool, origin: Origin) -> None:
        self._voices[origin.gid] = _Voice(down, time.monotonic())
        if down:
            self._on_stop(f'the stop button on {self._parameters.stop_topic}')

    def _on_bool(self, message: Bool, origin: Origin) -> None:
        self._hear(bool(message.data), origin)

    def _on_joy(self, message: Any, origin: Origin) -> None:
        button = self._parameters.stop_button
        # A Joy without that button is another device than was meant: nobody could stop by it.
        self._hear(button >= len(message.buttons) or bool(message.buttons[button]), origin)

    def _look(self) -> None:
        if self._silent:
            self._on_stop(f'silence of the stop button on {self._parameters.stop_topic}')
