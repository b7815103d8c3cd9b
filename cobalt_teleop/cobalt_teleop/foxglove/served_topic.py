"""One topic of the ROS graph as a channel of the server, subscribed only while a client wants it."""

import time
from collections.abc import Callable
from typing import Any

from foxglove import Channel, Context, Schema
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy
from rclpy.subscription import Subscription

from cobalt_teleop.core.topics import Qos
from cobalt_teleop.foxglove.key_frame_request import KeyFrameRequest, camera_of
from cobalt_teleop.foxglove.subscription_qos import subscription_qos
from cobalt_teleop.ros.endpoints import qos_profile
from cobalt_teleop.ros.interface_text import message_text
from cobalt_teleop.ros.message_types import message_class


class ServedTopic:
    """A channel, and the subscriptions behind it. All methods belong to the executor's thread.

    All clients share one subscription, but of a latched topic each has its own: so one that comes late is sent what
    the publishers keep, exactly as a ROS subscriber is, and the others don't get it twice.

    Args:
        node: Owns the subscriptions.
        context: Of the server.
        name: Full name of the topic.
        ros_type: Its type, such as `std_msgs/msg/String`.

    Raises:
        CobaltError: The type is not installed.
    """

    def __init__(self, node: Node, context: Context, name: str, ros_type: str) -> None:
        self._node = node
        self._name = name
        self._class = message_class(ros_type)
        self._camera = camera_of(name)
        self.type = ros_type
        schema = Schema(name=ros_type, encoding='ros2msg', data=message_text(ros_type).encode())
        self._channel = Channel(name, schema=schema, message_encoding='cdr', context=context)
        self._clients: set[int] = set()
        self._qos = Qos(reliable=False, latched=False, depth=1)
        self._shared: Subscription | None = None
        self._own: dict[int, Subscription] = {}

    @property
    def channel_id(self) -> int:
        """Number of the channel, which no other ever gets."""
        return self._channel.id()

    def watch(self, client_id: int) -> None:
        """A client wants the messages."""
        self._clients.add(client_id)
        self.follow_publishers()
        if self._camera is not None:
            KeyFrameRequest(self._node, *self._camera)
        if self._qos.latched:
            if client_id not in self._own:
                self._own[client_id] = self._subscribe(client_id)
        elif self._shared is None:
            self._shared = self._subscribe(None)

    def unwatch(self, client_id: int) -> None:
        """A client wants them no more, or has gone."""
        self._clients.discard(client_id)
        if client_id in self._own:
            self._node.destroy_subscription(self._own.pop(client_id))
        if self._shared is not None and not self._clients:
            self._node.destroy_subscription(self._shared)
            self._shared = None

    def follow_publishers(self) -> None:
        """Subscribes anew if the publishers have come to offer something else."""
        if not self._clients:
            return
        offered = [_qos_of(info.qos_profile) for info in self._node.get_publishers_info_by_topic(self._name)]
        qos = subscription_qos(offered)
        if not offered or qos == self._qos:
            return
        self._qos = qos
        if self._shared is None and not self._own:
            return
        self._unsubscribe()
        if qos.latched:
            self._own = {client_id: self._subscribe(client_id) for client_id in self._clients}
        else:
            self._shared = self._subscribe(None)

    def close(self) -> None:
        """Takes the channel away."""
        self._clients.clear()
        self._unsubscribe()
        self._channel.close()

    def _unsubscribe(self) -> None:
        for subscription in (self._shared, *self._own.values()):
            if subscription is not None:
                self._node.destroy_subscription(subscription)
        self._shared = None
        self._own = {}

    def _subscribe(self, client_id: int | None) -> Subscription:
        return self._node.create_subscription(
            self._class,
            self._name,
            self._forwarder(client_id),
            qos_profile(self._qos),
            event_callbacks=SubscriptionEventCallbacks(use_default_callbacks=False),
            raw=True,
        )

    def _forwarder(self, client_id: int | None) -> Callable[[bytes], None]:
        channel = self._channel

        def forward(cdr: bytes) -> None:
            channel.log(cdr, log_time=time.time_ns(), sink_id=client_id)

        return forward


def _qos_of(profile: Any) -> Qos:
    return Qos(
        reliable=profile.reliability is ReliabilityPolicy.RELIABLE,
        latched=profile.durability is DurabilityPolicy.TRANSIENT_LOCAL,
        depth=profile.depth,
    )
