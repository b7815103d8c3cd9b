"""The ROS side of the bridge, as its lobby uses it."""

import asyncio

from rclpy.exceptions import InvalidHandle
from rclpy.node import Node

from cobalt_interfaces.msg import WorkcellInfo
from cobalt_teleop.bridge.host_services import HostServices
from cobalt_teleop.bridge.workcell_endpoints import WorkcellEndpoints, WorkcellListener
from cobalt_teleop.bridge.workcell_outlook import OnMessage, WorkcellOutlook
from cobalt_teleop.core import topics
from cobalt_teleop.ros.executor_calls import ExecutorCalls


class RosSide:
    """Opens endpoints of workcells and clients of hosts. Lives in the event loop.

    Args:
        node: Owns them.
        calls: The way onto the node's executor.
        loop: Where the lobby lives.
    """

    def __init__(self, node: Node, calls: ExecutorCalls, loop: asyncio.AbstractEventLoop) -> None:
        self._node = node
        self._calls = calls
        self._loop = loop
        self._hosts: dict[str, HostServices] = {}

    def exists(self, workcell_id: str) -> bool:
        """Returns whether somebody announces a workcell at this moment."""
        try:
            return bool(self._node.count_publishers(topics.WORKCELL.absolute(workcell_id)))
        except InvalidHandle:
            return False  # the process is ending

    def listen(self, info: WorkcellInfo, on_message: OnMessage) -> None:
        """Hears, from now on, who has control of a workcell and which episode runs."""
        self.services(info.host_id)
        WorkcellOutlook(self._node, self._calls, self._loop, info.workcell_id, on_message)

    def open(self, info: WorkcellInfo, listener: WorkcellListener) -> WorkcellEndpoints:
        """Opens a workcell for its visitors."""
        return WorkcellEndpoints(
            self._node,
            self._calls,
            self._loop,
            workcell_id=info.workcell_id,
            parts=[part.name for part in info.parts] or ['arm'],
            listener=listener,
        )

    def services(self, host_id: str) -> HostServices:
        """Returns the services of a host; their clients stand from the first call on."""
        if host_id not in self._hosts:
            self._hosts[host_id] = HostServices(self._node, self._calls, self._loop, host_id)
        return self._hosts[host_id]
