"""The topic on which a camera's driver publishes, and the newest picture on it."""

import threading
import time
from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import CompressedImage, Image

from cobalt_teleop.ros.stamps import now_ns

TYPES = {'sensor_msgs/msg/Image': Image, 'sensor_msgs/msg/CompressedImage': CompressedImage}
"""Messages that hold pictures, the better one first."""

PATIENCE_S = 3.0
"""A camera may be silent for so long [s]."""

_NEWEST_ONLY = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)


class PictureTopic:
    """Finds the driver's topic by the type of its publishers, and keeps the newest message alone.

    Args:
        node: Owns the subscription.
        names: Topics on which pictures may come, the better one first.
        takes: Tells whether the picture that has just come is taken.
    """

    def __init__(self, node: Node, names: tuple[str, ...], takes: Callable[[float], bool]) -> None:
        self._node = node
        self._names = names
        self._takes = takes
        self._found: tuple[str, str] | None = None
        self._subscription: Any = None
        self._newest: tuple[Any, int] | None = None
        self._arrived = threading.Condition()
        self._closed = False
        self._heard_s = 0.0
        self._absent_since_s: float | None = None

    @property
    def name(self) -> str:
        """The topic that was found; all that are looked for if there is none."""
        return self._found[0] if self._found else ' or '.join(self._names)

    def open(self) -> str:
        """Subscribes, or follows a driver that has changed. To be called again and again, on the executor.

        Returns:
            What is wrong, in words; empty if pictures come, or may still come.
        """
        if self._heard_s == 0.0:
            self._heard_s = time.monotonic()
        found, strangers = self._look()
        if found is not None and found != self._found:
            self._unsubscribe()
            name, ros_type = self._found = found
            self._subscription = self._node.create_subscription(TYPES[ros_type], name, self._on_message, _NEWEST_ONLY)
            self._heard_s = time.monotonic()
        if time.monotonic() - self._heard_s < PATIENCE_S:
            return ''
        if found is None:
            return self._why_absent(strangers)
        return f'no picture has come on {self.name} for {PATIENCE_S:g} s'

    def absent(self) -> str:
        """Looks for a driver without subscribing. To be called again and again.

        Returns:
            Why no picture can come, in words; empty if there is a driver, or may still be one.
        """
        found, strangers = self._look()
        if found is not None:
            self._absent_since_s = None
            return ''
        if self._absent_since_s is None:
            self._absent_since_s = time.monotonic()
        return self._why_absent(strangers) if time.monotonic() - self._absent_since_s >= PATIENCE_S else ''

    def _why_absent(self, strangers: list[str]) -> str:
        if strangers:
            return f'{strangers[0]}, but a camera publishes {" or ".join(TYPES)}. Name another topic: NAME=TOPIC'
        return f'nobody publishes on {" or ".join(self._names)}. Start the camera driver, or name its topic: NAME=TOPIC'

    def close(self) -> None:
        """Unsubscribes, until it is opened again."""
        self._unsubscribe()
        self._found = None
        self._heard_s = 0.0

    def end(self) -> None:
        """Makes `take` return None, now and for ever."""
        with self._arrived:
            self._closed = True
            self._arrived.notify()

    def take(self) -> tuple[Any, int] | None:
        """Waits for the next message; returns it with its time of arrival [ns], or None at the end."""
        with self._arrived:
            self._arrived.wait_for(lambda: self._closed or self._newest is not None)
            taken, self._newest = self._newest, None
            return None if self._closed else taken

    def _look(self) -> tuple[tuple[str, str] | None, list[str]]:
        strangers: list[str] = []
        for name in self._names:
            types = {publisher.topic_type for publisher in self._node.get_publishers_info_by_topic(name)}
            for ros_type in TYPES:
                if ros_type in types:
                    return (name, ros_type), strangers
            strangers += [f'{name} is a topic of {ros_type}' for ros_type in sorted(types)]
        return None, strangers

    def _unsubscribe(self) -> None:
        if self._subscription is not None:
            self._node.destroy_subscription(self._subscription)
            self._subscription = None
        with self._arrived:
            self._newest = None

    def _on_message(self, message: Any) -> None:
        self._heard_s = time.monotonic()
        if self._takes(self._heard_s):
            with self._arrived:
                self._newest = message, now_ns()
                self._arrived.notify()
