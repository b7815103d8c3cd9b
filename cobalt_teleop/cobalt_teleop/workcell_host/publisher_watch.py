"""Names strangers on the command topics of a workcell, and frees a binding whose publisher is gone."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from rclpy.node import Node

from cobalt_teleop.core.lease import Lease
from cobalt_teleop.core.topics import Topic
from cobalt_teleop.ros.message_origin import publishers_of
from cobalt_teleop.workcell_host.command_inbox import CommandInbox

_REMEMBERED_S = 5.0
_SILENT_S = 1.0


@dataclass(frozen=True)
class WatchedInbox:
    """One command topic.

    Attributes:
        topic: Of the table.
        inbox: That takes its commands.
    """

    topic: Topic
    inbox: CommandInbox


class PublisherWatch:
    """Looks at the publishers of the command topics when one was refused.

    Args:
        node: Knows the graph.
        workcell_id: Of the workcell.
        watched: Its command topics.
    """

    def __init__(self, node: Node, workcell_id: str, watched: Sequence[WatchedInbox]) -> None:
        self._node = node
        self._id = workcell_id
        self._watched = watched
        self._seen: dict[str, float] = {}

    def faults(self) -> tuple[str, ...]:
        """Returns in words who was refused lately."""
        now_s = time.monotonic()
        self._seen = {text: seen_s for text, seen_s in self._seen.items() if now_s - seen_s < _REMEMBERED_S}
        return tuple(self._seen)

    def look(self, lease: Lease | None) -> None:
        """Looks once; frees the binding of a publisher that is gone, or silent and started again under its name."""
        for watched in self._watched:
            refused, watched.inbox.refused_publisher = watched.inbox.refused_publisher, None
            if refused is None or lease is None:
                continue
            topic = watched.topic.absolute(self._id)
            names = publishers_of(self._node, topic)
            source, gid = refused
            bound = lease.publishers.get(watched.topic.name, {})
            if not bound or gid in bound.values() or gid not in names:
                continue
            if source in bound:
                restarted = names.get(bound[source]) == names[gid] and watched.inbox.silent_s() > _SILENT_S
                if bound[source] not in names or restarted:
                    del bound[source]
                    continue
                if names[bound[source]] == names[gid]:
                    continue  # started again; the one before is not yet gone from the graph
            elif source in lease.sources:  # a device of the holder's, late with what it sent under an earlier lease
                continue
            text = f'{names[gid]} publishes on {topic} too and is refused: one publisher drives at a time'
            if text not in self._seen:
                self._node.get_logger().warning(f'{self._id}: {text}')
            self._seen[text] = time.monotonic()
