"""The ROS side of one workcell, open only while somebody looks at it."""

import asyncio
import time
from collections.abc import Callable
from typing import Any, Protocol

from rclpy.client import Client
from rclpy.exceptions import InvalidHandle
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.serialization import deserialize_message
from std_msgs.msg import Empty

from cobalt_interfaces import srv
from cobalt_interfaces.msg import ControlStep, DeviceSample, LinkStats
from cobalt_teleop.bridge.media.encoded_packet import EncodedPacket, encoded_packet
from cobalt_teleop.core import topics
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.ros.endpoints import create_publisher, create_subscription
from cobalt_teleop.ros.executor_calls import ExecutorCalls
from cobalt_teleop.ros.stamps import to_nanoseconds

STEP_INTERVAL_S = 0.1
"""Steps are looked into no more often than this [s]; deserialising one costs 0.5 ms."""

READY_PERIOD_S = 0.05

REPEAT_S = 0.7
"""An answer to a client that the host has just discovered may be lost: repeatable questions are asked again [s]."""

REPEATABLE = frozenset({'AcquireControl', 'LabelEpisode', 'EmergencyStop'})

DEVICE = 'keyboard'

USED_SERVICES = (
    'AcquireControl',
    'ReleaseControl',
    'TransferControl',
    'StartEpisode',
    'EndEpisode',
    'LabelEpisode',
    'Home',
    'EmergencyStop',
    'ClearEmergencyStop',
)


class ServiceError(CobaltError):
    """A host did not answer, or said no; the message is for the operator."""


class WorkcellListener(Protocol):
    """Who hears what a workcell says. All are called in the event loop."""

    def on_message(self, topic: topics.Topic, message: Any) -> None:
        """A state or event arrived."""

    def on_video(self, camera: str, codec: str, packet: EncodedPacket) -> None:
        """A frame arrived."""


class WorkcellEndpoints:
    """Subscriptions, publishers and service clients of one workcell.

    Args:
        node: Owns them.
        calls: The way onto the node's executor.
        loop: Where the listener lives.
        workcell_id: Whose they are.
        host_id: Host that serves it.
        part: Arm that the keyboard drives.
        listener: Is told what comes.
    """

    def __init__(
        self,
        node: Node,
        calls: ExecutorCalls,
        loop: asyncio.AbstractEventLoop,
        *,
        workcell_id: str,
        host_id: str,
        part: str,
        listener: WorkcellListener,
    ) -> None:
        self._node = node
        self._calls = calls
        self._loop = loop
        self._workcell_id = workcell_id
        self._host_id = host_id
        self._part = part
        self._listener = listener
        self._subscriptions: list[Any] = []
        self._videos: dict[tuple[str, str], Any] = {}
        self._key_frame_requests: dict[str, Publisher] = {}
        self._clients: dict[str, Client] = {}
        self._samples: Publisher | None = None
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

    def publish_sample(self, sample: DeviceSample) -> None:
        """Sends a device sample to the device node."""
        if self._samples is not None:
            self._samples.publish(sample)

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

    async def call(self, service: str, timeout_s: float, **fields: Any) -> Any:
        """Calls a service of the host and returns its answer, which says ok.

        Raises:
            ServiceError: The host is not there, did not answer in time, or refused; with the reason in words.
        """
        deadline_s = time.monotonic() + timeout_s
        while not self._is_ready(service):
            if time.monotonic() > deadline_s:
                raise ServiceError(f'the host {self._host_id} is not there')
            await asyncio.sleep(READY_PERIOD_S)
        deadline_s = time.monotonic() + timeout_s
        while True:
            left_s = deadline_s - time.monotonic()
            if left_s <= 0.0:
                raise ServiceError(f'the host {self._host_id} did not answer within {timeout_s:g} s')
            try:
                response = await self._ask(service, fields, min(left_s, REPEAT_S) if service in REPEATABLE else left_s)
                break
            except TimeoutError:
                continue
        if not response.ok:
            raise ServiceError(response.reason or f'the host {self._host_id} refused without a reason')
        return response

    async def _ask(self, service: str, fields: dict[str, Any], timeout_s: float) -> Any:
        answer: asyncio.Future[Any] = self._loop.create_future()

        def settle(result: Any, error: Exception | None) -> None:
            if not answer.done():
                if error is None:
                    answer.set_result(result)
                else:
                    answer.set_exception(error)

        self._calls.post(lambda: self._call(service, fields, settle))
        return await asyncio.wait_for(answer, timeout_s)

    def release_at_exit(self, lease_id: str) -> None:
        """Gives a lease back without waiting for an answer: for the end of the process, when no executor spins."""
        client = self._clients.get('ReleaseControl')
        if client is not None and client.service_is_ready():
            client.call_async(srv.ReleaseControl.Request(workcell_id=self._workcell_id, lease_id=lease_id))

    def _open(self) -> None:
        workcell = self._workcell_id
        self._samples = create_publisher(self._node, topics.operator_sample(DEVICE, self._part), workcell)
        self._link = create_publisher(self._node, topics.LINK, workcell)
        for topic in (topics.CONTROL_STATE, topics.EPISODE, topics.RECORDING, topics.QUALITY):
            self._subscriptions.append(create_subscription(self._node, topic, workcell, self._forwarder(topic)))
        self._subscriptions.append(
            create_subscription(self._node, topics.CONTROL_STEP, workcell, self._on_step, raw=True)
        )
        for service in USED_SERVICES:
            self._clients[service] = self._node.create_client(
                getattr(srv, service), topics.service_name(self._host_id, service)
            )

    def _close(self) -> None:
        for camera, codec in list(self._videos):
            self._close_video(camera, codec)
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        for publisher in (self._samples, self._link, *self._key_frame_requests.values()):
            if publisher is not None:
                self._node.destroy_publisher(publisher)
        for client in self._clients.values():
            self._node.destroy_client(client)
        self._samples = self._link = None
        self._subscriptions.clear()
        self._key_frame_requests.clear()
        self._clients.clear()

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

    def _is_ready(self, service: str) -> bool:
        client = self._clients.get(service)
        try:
            return client is not None and bool(client.service_is_ready())
        except InvalidHandle:
            return False  # the executor has just destroyed it

    def _call(self, service: str, fields: dict[str, Any], settle: Callable[[Any, Exception | None], None]) -> None:
        client = self._clients.get(service)
        if client is None:
            problem = ServiceError(f'the host {self._host_id} is not there')
            self._to_loop(lambda: settle(None, problem))
            return
        future = client.call_async(getattr(srv, service).Request(workcell_id=self._workcell_id, **fields))
        future.add_done_callback(lambda done: self._to_loop(lambda: settle(done.result(), done.exception())))

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
