"""A server of Foxglove's protocol whose channels and services are those of the ROS graph."""

import fnmatch
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import foxglove
from foxglove.websocket import Capability, ChannelView, Client, ServerListener
from rclpy.node import Node
from rclpy.timer import Timer

from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.foxglove.served_service import ServedService
from cobalt_teleop.foxglove.served_topic import ServedTopic
from cobalt_teleop.ros.executor_calls import ExecutorCalls

CHANGES_AT_ONCE = 32
"""Channels that come or go before the server may send on: it drops clients that have many such news to read at once."""

_PAUSE_S = 0.05

S = TypeVar('S')


def chosen(graph: Mapping[str, str], patterns: Sequence[str]) -> dict[str, str]:
    """Returns the entries of a graph that match a pattern, without ROS 2's hidden ones.

    Args:
        graph: Type of each topic or service by its full name.
        patterns: Full names, or patterns such as `/env_*/episode`.
    """
    return {
        name: ros_type
        for name, ros_type in graph.items()
        if '/_' not in name and any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
    }


class GraphMirror(ServerListener):
    """Looks at the graph once a second, and lets channels and services come and go with it.

    `on_subscribe` and `on_unsubscribe` are called in threads of the server; all else belongs to the executor's.

    Args:
        node: Looks, and owns all endpoints.
        calls: The way onto the node's executor.
        host: Address that the server listens on, at a port of its own choice.
        topics: Patterns of the topics to serve.
        services: Patterns of the services to offer.
        service_timeout_s: How long a service may take to answer [s].
        backlog: Messages that wait for a slow client; then the oldest are dropped, and nobody else waits.
        period_s: Between two looks [s].
    """

    def __init__(
        self,
        node: Node,
        calls: ExecutorCalls,
        *,
        host: str,
        topics: Sequence[str],
        services: Sequence[str],
        service_timeout_s: float,
        backlog: int,
        period_s: float = 1.0,
    ) -> None:
        self._node = node
        self._calls = calls
        self._topic_patterns = tuple(topics)
        self._service_patterns = tuple(services)
        self._service_timeout_s = service_timeout_s
        self._topics: dict[str, ServedTopic] = {}
        self._services: dict[str, ServedService] = {}
        self._refused: set[str] = set()
        self._context = foxglove.Context()
        self._server = foxglove.start_server(
            name='Cobalt',
            host=host,
            port=0,
            context=self._context,
            capabilities=[Capability.Services],
            supported_encodings=['cdr'],
            server_listener=self,
            message_backlog_size=backlog,
        )
        self.port = self._server.port
        self._next_step: Timer | None = None
        self._timer = node.create_timer(period_s, self.look)
        self.look()

    def on_subscribe(self, client: Client, channel: ChannelView) -> None:
        """A client wants the messages of a channel."""
        client_id, channel_id, name = client.id, channel.id, channel.topic

        def watch() -> None:
            served = self._topics.get(name)
            if served is not None and served.channel_id == channel_id:
                served.watch(client_id)

        self._calls.post(watch)

    def on_unsubscribe(self, client: Client, channel: ChannelView) -> None:
        """A client wants them no more, or is gone."""
        client_id, channel_id, name = client.id, channel.id, channel.topic

        def unwatch() -> None:
            served = self._topics.get(name)
            if served is not None and served.channel_id == channel_id:
                served.unwatch(client_id)

        self._calls.post(unwatch)

    def look(self) -> None:
        """Takes what is new, and drops what is gone; if that is much, in steps."""
        if self._next_step is not None:
            self._node.destroy_timer(self._next_step)
            self._next_step = None
        if self._look_at_topics():
            self._look_at_services()
        else:
            self._next_step = self._node.create_timer(_PAUSE_S, self.look)

    def close(self) -> None:
        """Ends the server and drops everything."""
        for service in self._services.values():
            service.end_calls()
        self._server.stop()
        for topic in self._topics.values():
            topic.close()
        for service in self._services.values():
            service.close()
        self._topics.clear()
        self._services.clear()

    def _look_at_topics(self) -> bool:
        graph = {name: types[0] for name, types in self._node.get_topic_names_and_types()}
        wanted = {
            name: ros_type
            for name, ros_type in chosen(graph, self._topic_patterns).items()
            if name not in self._refused and self._node.count_publishers(name)
        }
        gone = [name for name, served in self._topics.items() if wanted.get(name) != served.type]
        for name in gone[:CHANGES_AT_ONCE]:
            self._topics.pop(name).close()
        new = sorted(wanted.keys() - self._topics.keys())
        for name in new[:CHANGES_AT_ONCE]:
            self._take(self._topics, name, lambda n: ServedTopic(self._node, self._context, n, wanted[n]))
        for served in self._topics.values():
            served.follow_publishers()
        return max(len(gone), len(new)) <= CHANGES_AT_ONCE

    def _look_at_services(self) -> None:
        graph = {name: types[0] for name, types in self._node.get_service_names_and_types()}
        wanted = chosen(graph, self._service_patterns)
        gone = [name for name, served in self._services.items() if wanted.get(name) != served.type]
        if gone:
            self._server.remove_services(gone)
        for name in gone:
            self._services.pop(name).close()
        new = [
            name
            for name in sorted(wanted.keys() - self._services.keys())
            if self._take(self._services, name, lambda n: self._served_service(n, wanted[n]))
        ]
        if new:
            self._server.add_services([self._services[name].service for name in new])

    def _served_service(self, name: str, ros_type: str) -> ServedService:
        return ServedService(
            self._node,
            self._calls,
            name,
            ros_type,
            timeout_s=self._service_timeout_s,
            log=self._node.get_logger().info,
        )

    def _take(self, served: dict[str, S], name: str, make: Callable[[str], S]) -> bool:
        if name in self._refused:
            return False
        try:
            served[name] = make(name)
        except CobaltError as error:
            self._refused.add(name)
            self._node.get_logger().warning(f'{name} is not served: {error}')
            return False
        return True
