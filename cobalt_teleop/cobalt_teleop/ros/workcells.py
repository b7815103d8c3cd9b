"""Finds the workcells of a ROS graph, so that nodes need no list of names."""

import fnmatch
import re
from collections.abc import Callable, Sequence
from functools import partial

from rclpy.node import Node

from cobalt_interfaces.msg import WorkcellInfo
from cobalt_teleop.core.topics import WORKCELL
from cobalt_teleop.ros.endpoints import create_subscription

_NAME = re.compile(r'[A-Za-z]\w*', re.ASCII)


class WorkcellWatch:
    """Calls `on_info` with each new or changed WorkcellInfo whose id matches one of the patterns.

    One that names another workcell than its topic does, or a part that can be no part of a topic's name, is left out.

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
                take = partial(self._take, workcell_id)
                self._subscriptions[workcell_id] = create_subscription(self._node, WORKCELL, workcell_id, take)

    def _take(self, workcell_id: str, info: WorkcellInfo) -> None:
        if info.workcell_id == workcell_id and all(_NAME.fullmatch(part.name) for part in info.parts):
            self._on_info(info)
            return
        parts = ', '.join(repr(part.name) for part in info.parts)
        self._node.get_logger().warning(
            f'/{workcell_id}/{WORKCELL.name} is left out: it describes {info.workcell_id!r} with parts {parts}',
            throttle_duration_sec=5.0,
        )
