import os
import threading

import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor

from cobalt_teleop.workcell_host.host_node import HostNode
from cobalt_teleop.workcell_host.ideal_plant import IdealPlant
from cobalt_teleop.workcell_host.workcell import HostOptions

os.environ.setdefault('ROS_DOMAIN_ID', '85')


class Spinning:
    """Nodes that are spun in a thread until the end of a test."""

    def __init__(self):
        self.executor = SingleThreadedExecutor()
        self.thread = threading.Thread(target=self.executor.spin, daemon=True)
        self.nodes = []

    def add(self, node):
        self.executor.add_node(node)
        self.nodes.append(node)
        if not self.thread.is_alive():
            self.thread.start()
        return node

    def end(self):
        self.executor.shutdown()
        self.thread.join(2.0)
        for node in self.nodes:
            close = getattr(node, 'close', None)
            if close is not None:
                close()
            node.destroy_node()


@pytest.fixture
def spin():
    rclpy.init()
    started = []

    def add(node):
        started.append(Spinning())
        return started[-1].add(node)

    yield add
    for spinning in reversed(started):
        spinning.end()
    rclpy.try_shutdown()


@pytest.fixture
def host(spin):
    node = HostNode('test_host')
    node.host({'env_0': IdealPlant()}, HostOptions(render_threads=1))
    return spin(node)
