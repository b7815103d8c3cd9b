"""Runs a host of ideal arms in a process of its own: `python ideal_host.py HOST_ID WORKCELL...`."""

import signal
import sys
import threading

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions

from cobalt_teleop.workcell_host.host_node import HostNode
from cobalt_teleop.workcell_host.ideal_plant import IdealPlant
from cobalt_teleop.workcell_host.workcell import HostOptions


def main(host_id: str, workcells: list[str]) -> None:
    """Hosts the workcells until SIGTERM."""
    ending = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ending.set())
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node = HostNode(host_id)
    node.host({name: IdealPlant() for name in workcells}, HostOptions(render_threads=1))
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    spinner = threading.Thread(target=executor.spin, daemon=True)
    spinner.start()
    ending.wait()
    executor.shutdown()
    spinner.join(2.0)
    node.close()
    node.destroy_node()
    rclpy.try_shutdown()


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2:])
