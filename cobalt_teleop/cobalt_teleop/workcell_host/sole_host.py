"""Sees that a workcell's name is served by one host alone in a ROS domain: two would both hear each command."""

import os
import time
from collections.abc import Collection

from rclpy.node import Node

from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.topics import CONTROL_STEP
from cobalt_teleop.ros.endpoints import TakenSubscription
from cobalt_teleop.workcell_host.name_locks import NameLocks

DISCOVERY_S = 0.5
"""A node this old knows the publishers that were there before it [s]."""

LISTEN_S = 1.0
"""A host that lives ticks at least a few times within it [s]; one that was killed stays in the graph for a while."""

_PAUSE_S = 0.02


class ServedAlreadyError(CobaltError):
    """Another host in this ROS domain serves a workcell of the same name."""


def refuse_second_host(node: Node, workcell_ids: Collection[str], locks: NameLocks, *, made_s: float) -> None:
    """Takes the names on this machine, then looks for a host elsewhere that ticks under one of them.

    Without a publisher of these topics it returns once the node is DISCOVERY_S old; with one, at most LISTEN_S later.
    Discovery may take longer than that: then SecondHostWatch sees the other host.

    Args:
        node: Has no publisher on the workcells' topics yet.
        workcell_ids: To be served.
        locks: Of the host.
        made_s: When the node was made, on the monotonic clock [s].

    Raises:
        ServedAlreadyError: Another host has a name.
    """
    taken = locks.take(workcell_ids, ros_domain())
    if taken:
        raise ServedAlreadyError(_sentence(taken))
    heard: dict[str, TakenSubscription] = {}
    end_s = known_s = made_s + DISCOVERY_S
    try:
        while True:
            for workcell_id in workcell_ids:
                if workcell_id not in heard and node.count_publishers(CONTROL_STEP.absolute(workcell_id)):
                    heard[workcell_id] = TakenSubscription(node, CONTROL_STEP, workcell_id)
                    end_s = max(known_s, time.monotonic()) + LISTEN_S
                if workcell_id in heard and heard[workcell_id].take() is not None:
                    raise ServedAlreadyError(_sentence(workcell_id))
            if time.monotonic() >= end_s:
                return
            time.sleep(_PAUSE_S)
    finally:
        for subscription in heard.values():
            subscription.close()


def ros_domain() -> int:
    """Returns the number of this process's ROS domain."""
    return int(os.environ.get('ROS_DOMAIN_ID') or 0)


def _sentence(workcell_id: str) -> str:
    domain = ros_domain()
    return (
        f"another host, such as a second simulator, serves '{workcell_id}' in ROS domain {domain} already: end it, or "
        f'start this one in a domain of its own: ROS_DOMAIN_ID={domain + 1}'
    )


class SecondHostWatch:
    """Sees a host that began to tick under the same name after this one had started.

    It cannot where rclpy tells no publisher's gid, as in Jazzy.

    Args:
        node: Of the host.
        workcell_id: Of the workcell.
    """

    def __init__(self, node: Node, workcell_id: str) -> None:
        self._node = node
        self._id = workcell_id
        self._heard: TakenSubscription | None = None
        self._is_there = False

    def faults(self) -> tuple[str, ...]:
        """Returns in words that there is one."""
        if not self._is_there:
            return ()
        return (f"a second host serves '{self._id}': a command moves the arms of both. End one of them",)

    def look(self) -> None:
        """Looks once; to be called once a second. It listens only while the graph has a second publisher."""
        if self._node.count_publishers(CONTROL_STEP.absolute(self._id)) < 2:
            self.close()
            return
        if self._heard is None:
            self._heard = TakenSubscription(self._node, CONTROL_STEP, self._id)
            return
        gids = {bytes(gid['data']) for _, info in self._heard.take_all() if (gid := info.get('publisher_gid'))}
        was_there, self._is_there = self._is_there, len(gids) > 1
        if self._is_there and not was_there:
            self._node.get_logger().error(self.faults()[0])

    def close(self) -> None:
        """Listens no more."""
        self._is_there = False
        if self._heard is not None:
            self._heard.close()
            self._heard = None
