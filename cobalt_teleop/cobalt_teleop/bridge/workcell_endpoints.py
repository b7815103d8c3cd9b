"""The ROS side of one workcell, open only while somebody looks at it."""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.serialization import deserialize_message
from std_msgs.msg import Empty

from cobalt_interfaces.msg import ControlStep, DeviceSample, LinkStats
from cobalt_teleop.bridge.media.encoded_packet import EncodedPacket, encoded_packet
from cobalt_teleop.core import topics
from cobalt_teleop.ros.endpoints import create_publisher, create_subscription
from cobalt_teleop.ros.executor_calls import ExecutorCalls
from cobalt_teleop.ros.stamps import to_nanoseconds

STEP_INTERVAL_S = 0.1
"""Steps are looked into no more often than this [s]; deserialising one costs 0.5 ms."""

_SETTLED_S = 0.1
"""So long after a publisher has found who listens, that one has found the publisher [s]."""


class WorkcellListener(Protocol):
    """Who hears what a workcell says. All are called in the event loop."""

    def on_message(self, topic: topics.Topic, message: Any) -> None:
        """A state or event arrived."""

    def on_video(self, camera: str, codec: str, packet: EncodedPacket) -> None:
        """A frame arrived."""


class WorkcellEndpoints:
    """Subscriptions and publishers of one workcell.

    Args:
        node: Owns them.
        calls: The way onto the node's executor.
        loop: Where the listener lives.
        workcell_id: Whose they are.
        parts: Arms that devices may drive.
        listener: Is told what comes.
    """

    def __init__(
        self,
        node: Node,
        calls: ExecutorCalls,
        loop: asyncio.AbstractEventLoop,
        *,
        workcell_id: str,
        parts: Sequence[str],
        listener: WorkcellListener,
    ) -> None:
        self._node = node
        self._calls = calls
        self._loop = loop
        self._workcell_id = workcell_id
        self._parts = tuple(parts)
        self._listener = listener
        self._subscriptions: list[Any] = []
        self._videos: dict[tuple[str, str], Any] = {}
        self._key_frame_requests: dict[str, Publisher] = {}
        self._samples: dict[tuple[str, str], Publisher] = {}
        self._opening: set[tuple[str, str]] = set()
        self._found_s: dict[tuple[str, str], float] = {}
        self._link: Publisher | None = None
        self._step_looked_at = 0.0
        self.last_step_s = time.monotonic()
        calls.post(self._open)

    def close(self) -> None:
        """Destroys everything, on the executor."""
        self._calls.post(self._close)

    def recorder_is_there(self) -> bool:
        """Returns whether somebody publishes recording states."""
        return bool(self._node.count_publishers(topics.RECORDING.absolute(self._workcell_id)))

    def goal_picture_is_there(self) -> bool:
        """Returns whether somebody publishes a picture of the goal."""
        return bool(self._node.count_publishers(topics.GOAL_PICTURE.absolute(self._workcell_id)))

    def publish_sample(self, device: str, part: str, sample: DeviceSample) -> None:
        """Sends a device sample to the device's node.

        Args:
            device: One of PAGE_DEVICES; its publisher is made with its first sample, which is not sent.
            part: That it drives.
            sample: Of the device.
        """
        publisher = self._samples.get((device, part))
        if publisher is not None:
            publisher.publish(sample)
        elif (device, part) not in self._opening:
            self._opening.add((device, part))
            self._calls.post(lambda: self._open_device(device, part))

    def is_heard(self, device: str, part: str) -> bool:
        """Returns whether what is published of a device reaches somebody; it takes a moment after its first sample."""
        publisher = self._samples.get((device, part))
        if publisher is None or not publisher.get_subscription_count():
            self._found_s.pop((device, part), None)
            return False
        now_s = time.monotonic()
        return now_s - self._found_s.setdefault((device, part), now_s) >= _SETTLED_S

    def publish_link(self, stats: LinkStats) -> None:
        """Tells how one operator's link is."""
        if self._link is not None:
            self._link.publish(stats)

    def watch(self, camera: str, codec: str) -> None:
        """Subscribes to a camera's video in a codec."""
        self._calls.post(lambda: self._open_video(camera, codec))

    def unwatch(self, camera: str, codec: str) -> None:
        """Ends the subscription to a camera's video in a codec."""
        self._calls.post(lambda: self._close_video(camera, codec))

    def ask_key_frame(self, camera: str) -> None:
        """Asks a camera's encoder for a key frame."""
        self._calls.post(lambda: self._publish_key_frame_request(camera))

    def _open(self) -> None:
        workcell = self._workcell_id
        self._link = create_publisher(self._node, topics.LINK, workcell)
        for part in self._parts[:1]:  # a keyboard is there on each page
            self._open_device('keyboard', part)
        for topic in (topics.RECORDING, topics.QUALITY, topics.GOAL_PICTURE):
            self._subscriptions.append(create_subscription(self._node, topic, workcell, self._forwarder(topic)))
        self._subscriptions.append(
            create_subscription(self._node, topics.CONTROL_STEP, workcell, self._on_step, raw=True)
        )

    def _close(self) -> None:
        for camera, codec in list(self._videos):
            self._close_video(camera, codec)
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        for publisher in (self._link, *self._samples.values(), *self._key_frame_requests.values()):
            if publisher is not None:
                self._node.destroy_publisher(publisher)
        self._link = None
        self._samples.clear()
        self._subscriptions.clear()
        self._key_frame_requests.clear()

    def _open_device(self, device: str, part: str) -> None:
        if self._link is not None and (device, part) not in self._samples:
            topic = topics.operator_sample(device, part)
            self._samples[device, part] = create_publisher(self._node, topic, self._workcell_id)

    def _open_video(self, camera: str, codec: str) -> None:
        def on_frame(message: Any) -> None:
            packet = encoded_packet(bytes(message.data), to_nanoseconds(message.timestamp), codec)
            self._to_loop(lambda: self._listener.on_video(camera, codec, packet))

        if (camera, codec) not in self._videos:
            topic = topics.video(camera, codec)
            self._videos[camera, codec] = create_subscription(self._node, topic, self._workcell_id, on_frame)
            if camera not in self._key_frame_requests:
                self._key_frame_requests[camera] = create_publisher(
                    self._node, topics.request_key_frame(camera), self._workcell_id
                )

    def _close_video(self, camera: str, codec: str) -> None:
        if (camera, codec) in self._videos:
            self._node.destroy_subscription(self._videos.pop((camera, codec)))

    def _publish_key_frame_request(self, camera: str) -> None:
        if camera in self._key_frame_requests:
            self._key_frame_requests[camera].publish(Empty())

    def _forwarder(self, topic: topics.Topic) -> Callable[[Any], None]:
        return lambda message: self._to_loop(lambda: self._listener.on_message(topic, message))

    def _on_step(self, raw: bytes) -> None:
        now = time.monotonic()
        self.last_step_s = now
        if now - self._step_looked_at >= STEP_INTERVAL_S:
            self._step_looked_at = now
            step = deserialize_message(raw, ControlStep)
            self._to_loop(lambda: self._listener.on_message(topics.CONTROL_STEP, step))

    def _to_loop(self, call: Callable[[], None]) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(call)
