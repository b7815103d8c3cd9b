"""Whose samples count under a lease: those of the process whose sample came first under it."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from rclpy.node import Node

from cobalt_teleop.ros.message_origin import Origin, publishers_of

_MOST_LEASES = 32
_SILENT_S = 1.0
_LOOK_AGAIN_S = 0.5
_REMEMBERED_S = 5.0


@dataclass
class _Bound:
    """The publisher that a lease is bound to, and where and when it was heard last."""

    origin: Origin
    topic: str
    heard_s: float
    looked_s: float = float('-inf')


class SamplePublishers:
    """Binds each lease to one process, over all devices whose nodes share this object.

    A lease's id can be read by anybody in ROS. Whoever speaks under it beside the one that is bound is refused and
    named. A bridge that was started again takes the place of the one before, once that is gone, or silent and of the
    same name.

    Args:
        now_s: Monotonic clock [s].
    """

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self._now_s = now_s
        self._bound: dict[tuple[str, str], _Bound] = {}
        self._told: dict[str, float] = {}

    def admits(self, node: Node, topic: str, lease_id: str, origin: Origin) -> bool:
        """Returns whether a sample counts.

        Args:
            node: Knows the graph, and says who is refused.
            topic: Full name of the topic that the sample came on.
            lease_id: Under which it came.
            origin: Its publisher.
        """
        now_s = self._now_s()
        # Without a mark of its process a publisher is known on its own topic alone.
        key = lease_id, topic if origin.process == origin.gid else ''
        bound = self._bound.get(key)
        if bound is not None and bound.origin.process != origin.process:
            if not self._has_followed(node, bound, topic, origin, now_s):
                return False
            bound = None
        if bound is None:
            bound = self._bound[key] = _Bound(origin, topic, now_s)
            while len(self._bound) > _MOST_LEASES:
                del self._bound[min(self._bound, key=lambda known: self._bound[known].heard_s)]
        bound.origin, bound.topic, bound.heard_s = origin, topic, now_s
        return True

    def _has_followed(self, node: Node, bound: _Bound, topic: str, origin: Origin, now_s: float) -> bool:
        """Returns whether another publisher has taken the place of the one that is bound; says so if it has not."""
        if now_s - bound.looked_s < _LOOK_AGAIN_S:
            return False
        bound.looked_s = now_s
        name = publishers_of(node, topic).get(origin.gid, '')
        if name and now_s - bound.heard_s > _SILENT_S:
            before = publishers_of(node, bound.topic).get(bound.origin.gid)
            if before is None or before == name:
                return True
        if now_s - self._told.get(name, float('-inf')) > _REMEMBERED_S:
            self._told = {text: told_s for text, told_s in self._told.items() if now_s - told_s < _REMEMBERED_S}
            self._told[name] = now_s
            node.get_logger().warning(
                f'{name or "somebody"} publishes on {topic} too and is refused: '
                'the samples of one lease come from one bridge'
            )
        return False
