"""foxglove_server: the ROS graph for Foxglove, and services for episodes and authority."""

import logging
import sys

from rclpy.node import Node

from cobalt_teleop.bridge.door.entrance import Entrance, open_entrance
from cobalt_teleop.bridge.door.limits import DoorLimits
from cobalt_teleop.bridge.door.listening import is_every_address
from cobalt_teleop.bridge.door.own_names import machine_names
from cobalt_teleop.bridge.door.state_folder import StateFolder
from cobalt_teleop.bridge.door.welcome import in_new_shell
from cobalt_teleop.foxglove.foxglove_parameters import FoxgloveParameters
from cobalt_teleop.foxglove.gate import Gate, hidden_address
from cobalt_teleop.foxglove.graph_mirror import GraphMirror
from cobalt_teleop.ros.executor_calls import ExecutorCalls
from cobalt_teleop.ros.parameters import read_parameters
from cobalt_teleop.ros.process import Stop, run_node

PROGRAM = 'foxglove_server'
SUMMARY = 'Serves the topics of the ROS graph, and services for episodes and authority, to Foxglove.'


class FoxgloveServer(Node):
    """The server, and the gate before it."""

    def __init__(self) -> None:
        super().__init__(PROGRAM)
        values = read_parameters(self, FoxgloveParameters)
        entrance = open_entrance(
            host=values.host,
            port=values.port,
            tls_certificate=values.tls_certificate,
            tls_key=values.tls_key,
            public_names=(),
            limits=DoorLimits(sockets=4 * values.max_clients, sockets_of_address=2 * values.max_clients),
            folder=StateFolder(values.state_dir),
            log=self.get_logger().info,
            for_pages=False,
        )
        address = hidden_address()
        self._calls = ExecutorCalls(self)
        self._mirror = GraphMirror(
            self,
            self._calls,
            host=address,
            topics=values.topics,
            services=values.services,
            service_timeout_s=values.service_timeout_s,
            backlog=values.backlog,
        )
        self._gate = Gate(
            entrance,
            (address, self._mirror.port),
            origins=values.origins,
            max_clients=values.max_clients,
            log=self.get_logger().warning,
        )
        print(_welcome(entrance, values), flush=True)

    def close(self) -> None:
        """Ends all clients' connections, and the server."""
        self._gate.close()
        self._calls.close()
        self._mirror.close()


def _welcome(entrance: Entrance, values: FoxgloveParameters) -> str:
    host = machine_names()[0] if is_every_address(values.host) else values.host
    address = f'{"wss" if entrance.secure else "ws"}://{host}:{values.port}'
    if not entrance.door.needs_token:
        return f'Foxglove: open a connection to {address}'
    token = in_new_shell('cobalt invite --owner')
    return f"Foxglove: open a connection to {address}/?token=TOKEN with the owner's token: {token}"


def _build(stop: Stop) -> Node:
    # A client that goes without a word is no error; those who are refused are told of by the gate.
    logging.getLogger('foxglove').setLevel(logging.CRITICAL)
    return FoxgloveServer()


def main() -> int:
    """Entry point."""
    return run_node(PROGRAM, SUMMARY, FoxgloveParameters, _build)


if __name__ == '__main__':
    sys.exit(main())
