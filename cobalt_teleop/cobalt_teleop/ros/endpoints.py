"""Publishers and subscriptions from the table of topics."""

from collections.abc import Callable
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.subscription import Subscription

from cobalt_teleop.core.topics import Qos, Topic
from cobalt_teleop.ros.message_types import message_class


def qos_profile(qos: Qos) -> QoSProfile:
    """Returns rclpy's profile of a quality of service."""
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=qos.depth,
        reliability=ReliabilityPolicy.RELIABLE if qos.reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if qos.latched else DurabilityPolicy.VOLATILE,
    )


class _NeverExecuted(CallbackGroup):
    """A group whose entities no executor looks at: their messages are taken by hand, and wake nobody up."""

    def can_execute(self, entity: Any) -> bool:
        return False

    def beginning_execution(self, entity: Any) -> bool:
        return False

    def ending_execution(self, entity: Any) -> None:
        pass


def create_publisher(node: Node, topic: Topic, workcell_id: str) -> Publisher:
    """Creates the publisher of a workcell's topic. Its events wake no executor."""
    return node.create_publisher(
        message_class(topic.type),
        topic.absolute(workcell_id),
        qos_profile(topic.qos),
        callback_group=_NeverExecuted(),
        event_callbacks=PublisherEventCallbacks(use_default_callbacks=False),
    )


def create_subscription(
    node: Node, topic: Topic, workcell_id: str, callback: Callable[[Any], None], *, raw: bool = False
) -> Subscription:
    """Creates a subscription whose messages an executor hands to `callback`; as CDR bytes if `raw`."""
    return node.create_subscription(
        message_class(topic.type), topic.absolute(workcell_id), callback, qos_profile(topic.qos), raw=raw
    )


class TakenSubscription:
    """A subscription that is emptied by hand, and never through an executor.

    Measured for 32 workcells: a fifth of the CPU of the same subscriptions in a SingleThreadedExecutor.

    Args:
        node: Owner.
        topic: One of the table.
        workcell_id: Namespace.
        raw: Messages are handed over as CDR bytes.
        depth: Messages kept until they are taken; the table's by default.
        hidden: The node does not list it, for nodes whose executor takes from all that is listed (`message_executor`).
            It lasts until it is closed, or the process ends.
    """

    def __init__(
        self,
        node: Node,
        topic: Topic,
        workcell_id: str,
        *,
        raw: bool = False,
        depth: int | None = None,
        hidden: bool = False,
    ) -> None:
        self._node = node
        profile = qos_profile(topic.qos)
        profile.depth = depth or profile.depth
        self._subscription = node.create_subscription(
            message_class(topic.type),
            topic.absolute(workcell_id),
            lambda message: None,
            profile,
            callback_group=_NeverExecuted(),
            event_callbacks=SubscriptionEventCallbacks(use_default_callbacks=False),
            raw=raw,
        )
        self._hidden = hidden
        if hidden:
            node._subscriptions.remove(self._subscription)

    @property
    def topic_name(self) -> str:
        """Full name of the topic."""
        return str(self._subscription.topic_name)

    @property
    def publisher_count(self) -> int:
        """How many publishers are matched, so that their messages arrive here."""
        return int(self._subscription.get_publisher_count())

    def take_all(self) -> list[tuple[Any, dict[str, Any]]]:
        """Returns every message since the last call, oldest first, with the middleware's information on each."""
        taken = []
        with self._subscription.handle:
            while (
                one := self._subscription.handle.take_message(self._subscription.msg_type, self._subscription.raw)
            ) is not None:
                taken.append(one)
        return taken

    def take(self) -> tuple[Any, dict[str, Any]] | None:
        """Returns the newest message that came since the last call, or None."""
        messages = self.take_all()
        return messages[-1] if messages else None

    def close(self) -> None:
        """Ends the subscription."""
        if self._hidden:
            self._subscription.destroy()
        else:
            self._node.destroy_subscription(self._subscription)
