"""What the lobby hears of a workcell in which nobody is."""

import asyncio
from collections.abc import Callable
from typing import Any

from rclpy.node import Node

from cobalt_teleop.core import topics
from cobalt_teleop.ros.endpoints import create_subscription
from cobalt_teleop.ros.executor_calls import ExecutorCalls

OnMessage = Callable[[topics.Topic, Any], None]


class WorkcellOutlook:
    """Two latched topics that change rarely: who has control, and which episode runs.

    Args:
        node: Owns the subscriptions.
        calls: The way onto the node's executor.
        loop: Where messages are taken.
        workcell_id: Whose they are.
        on_message: Told each message, in the event loop.
    """

    def __init__(
        self,
        node: Node,
        calls: ExecutorCalls,
        loop: asyncio.AbstractEventLoop,
        workcell_id: str,
        on_message: OnMessage,
    ) -> None:
        self._node = node
        self._loop = loop
        self._workcell_id = workcell_id
        self._on_message = on_message
        calls.post(self._open)

    def _open(self) -> None:
        for topic in (topics.CONTROL_STATE, topics.EPISODE):
            create_subscription(self._node, topic, self._workcell_id, self._forwarder(topic))

    def _forwarder(self, topic: topics.Topic) -> Callable[[Any], None]:
        def forward(message: Any) -> None:
            if not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._on_message, topic, message)

        return forward
