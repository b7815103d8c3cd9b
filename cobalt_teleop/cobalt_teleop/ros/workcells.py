"""Finds the workcells of a ROS graph, so that nodes need no list of names."""

import fnmatch
from collections.abc import Callable, Sequence

from rclpy.node import Node

from cobalt_interfaces.msg import WorkcellInfo
from cobalt_teleop.core.topics import WORKCELL
from cobalt_teleop.ros.endpoints import create_subscription


class WorkcellWatch:
    """Calls `on_info` with each new or changed WorkcellInfo whose id matches one of the patterns.

    Args:
        node: Looks at the graph once a second on its executor.
        on_info: Called on the executor.
        patterns: Names such as env_0, or patterns such as env_*; empty for all.
    """

    def __init__(
        self,
        node: Node,
        on_info: Callable[[WorkcellInfo], None],
        patterns: Sequence[str] = (),
        *,
        period_s: float = 1.0,
    ) -> None:
        self._node = node
        self._on_info = on_info
        self._patterns = tuple(patterns) or ('*',)
        self._subscriptions: dict[str, object] = {}
        self._timer = node.create_timer(period_s, self._look)
        self._look()

    def _look(self) -> None:
        suffix = '/' + WORKCELL.name
        for name, types in self._node.get_topic_names_and_types():
            if WORKCELL.type not in types or not name.endswith(suffix):
                continue
            workcell_id = name[1 : -len(suffix)]
            wanted = any(fnmatch.fnmatchcase(workcell_id, pattern) for pattern in self._patterns)
            if wanted and workcell_id not in self._subscriptions:
                self._subscriptions[workcell_id] = create_subscription(self._node, WORKCELL, workcell_id, self._on_info)
