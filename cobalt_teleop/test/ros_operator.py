"""An operator over ROS for tests: drives workcells by hand, and keeps what it hears."""

import threading
import time

import rclpy
from rclpy.executors import SingleThreadedExecutor

from cobalt_interfaces import srv
from cobalt_interfaces.msg import TeleopCommand
from cobalt_teleop.core import topics
from cobalt_teleop.ros.endpoints import create_publisher, create_subscription
from cobalt_teleop.ros.stamps import now_ns, to_stamp

WAIT_S = 8.0


class Operator:
    """A node that drives workcells by hand, and keeps what it hears.

    Args:
        name: Of the node.
        host_id: Whose services it calls.
    """

    def __init__(self, name, host_id='test_host'):
        self.host_id = host_id
        self.node = rclpy.create_node(name)
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(self.node)
        self.thread = threading.Thread(target=self.executor.spin, daemon=True)
        self.thread.start()
        self.heard = {}
        self.publishers = {}
        self.sequence = 0
        self.pressed = None

    def listen(self, topic, workcell='env_0'):
        kept = self.heard.setdefault((topic.name, workcell), [])
        create_subscription(self.node, topic, workcell, kept.append)

    def newest(self, topic, workcell='env_0'):
        kept = self.heard[(topic.name, workcell)]
        return kept[-1] if kept else None

    def call(self, service, **fields):
        client = self.node.create_client(getattr(srv, service), topics.service_name(self.host_id, service))
        assert client.wait_for_service(WAIT_S)
        request = getattr(srv, service).Request(**({'workcell_id': 'env_0'} | fields))
        answer = client.call(request, timeout_sec=WAIT_S)
        assert answer is not None
        return answer

    def command(self, lease_id, x=0.0, z=0.0, *, epoch=1, engaged=True, workcell='env_0', **fields):
        publisher = self.publishers.setdefault(
            workcell, create_publisher(self.node, topics.teleop_command('arm'), workcell)
        )
        self.sequence += 1
        message = TeleopCommand(
            lease_id=lease_id, engaged=engaged, tracked=True, clutch_epoch=epoch, source='hand', sequence=self.sequence
        )
        message.header.stamp = to_stamp(now_ns())
        if self.pressed != (epoch, engaged):
            self.pressed, self.engaged_since = (epoch, engaged), message.header.stamp
        message.engaged_since = self.engaged_since
        message.pose.position.x, message.pose.position.z = x, z
        message.gripper = float('nan')
        for name, value in fields.items():
            setattr(message, name, value)
        publisher.publish(message)

    def close(self):
        self.executor.shutdown()
        self.thread.join(2.0)
        self.node.destroy_node()


def until(condition, what, timeout_s=WAIT_S):
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.01)
    raise AssertionError(f'timed out: {what}')
