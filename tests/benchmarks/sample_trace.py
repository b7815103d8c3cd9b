"""What a device's node adds by itself: samples of operators without any browser, and the commands made of them."""

import contextlib
import itertools
import math
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import harness
import psutil
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions
from running_stack import cpu_percent

from cobalt_interfaces.msg import DeviceSample
from cobalt_interfaces.srv import AcquireControl
from cobalt_teleop.core import topics
from cobalt_teleop.ros.endpoints import TakenSubscription, create_publisher
from cobalt_teleop.ros.stamps import now_ns, to_nanoseconds, to_stamp

RATE_HZ = 60.0

_HOST = 'bench_host'
_REST_S = 1.0
_POLL_S = 0.002
_WARM_UP_S = 2.0


@contextlib.contextmanager
def _processes(workcells: Sequence[str]) -> Iterator[psutil.Process]:
    """Runs a host of ideal arms and the nodes of page devices; gives the process of the latter."""
    here = Path(__file__).resolve().parent
    commands = (
        [sys.executable, str(here / 'ideal_host.py'), _HOST, *workcells],
        [sys.executable, '-c', 'import sys; from cobalt_devices.page_devices import main; sys.exit(main())'],
    )
    started = [subprocess.Popen(command, stdout=sys.stderr) for command in commands]
    try:
        yield psutil.Process(started[1].pid)
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait(10.0)


class _Operator:
    """An operator's device, whose samples come evenly; at rest first, then in one press."""

    def __init__(self, node: rclpy.node.Node, device: str, workcell_id: str) -> None:
        self.workcell_id = workcell_id
        topic = topics.operator_sample(device, 'arm')
        self.samples = create_publisher(node, topic, workcell_id)
        self.told = TakenSubscription(node, topic, workcell_id)
        self.commands = TakenSubscription(node, topics.teleop_command('arm'), workcell_id)
        self.lease_id = ''
        self.phase_s = random.uniform(0.0, 1.0 / RATE_HZ)
        self.sequence = 0

    def send(self, seconds: float) -> None:
        """Sends the sample of a moment, so long after the first."""
        self.sequence += 1
        engaged = seconds > _REST_S
        angle = 2.0 * math.pi * 0.3 * seconds
        sample = DeviceSample(
            session_id=self.workcell_id, lease_id=self.lease_id, tracked=True, engaged=engaged,
            clutch_epoch=int(engaged), sequence=self.sequence, has_pose=True, scale=1.0, gripper=math.nan,
            axes=[0.0, 0.6 * math.sin(angle) if engaged else 0.0, 0.0, 0.0, 0.0, 0.0], press_counts=[0] * 17,
        )  # fmt: skip
        sample.pose.position.x, sample.pose.position.y = 0.04 * math.cos(angle), 0.04 * math.sin(angle)
        sample.header.stamp = sample.device_stamp = to_stamp(now_ns())
        self.samples.publish(sample)


def measure(operators: int, device: str, seconds: float) -> harness.Figures:
    """Has operators send samples, each to a workcell of his own, and follows them to the commands.

    Args:
        operators: How many.
        device: One of topics.PAGE_DEVICES.
        seconds: How long they are followed [s].

    Returns:
        Figures without a prefix: time from a sample's source stamp to that of its command, and what was lost.
    """
    names = [f'env_{index}' for index in range(operators)]
    os.environ['ROS_DOMAIN_ID'] = str(random.randrange(60, 100))
    with _processes(names) as nodes:
        rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
        node = rclpy.create_node('bench_samples')
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        threading.Thread(target=executor.spin, daemon=True).start()
        try:
            team = [_Operator(node, device, name) for name in names]
            _take_control(node, team)
            return _follow(team, nodes, seconds)
        finally:
            executor.shutdown()
            node.destroy_node()
            rclpy.try_shutdown()


def _take_control(node: rclpy.node.Node, team: Sequence[_Operator]) -> None:
    client = node.create_client(AcquireControl, topics.service_name(_HOST, 'AcquireControl'))
    if not client.wait_for_service(30.0):
        raise TimeoutError('the host does not answer')
    for operator in team:
        name = operator.workcell_id
        request = AcquireControl.Request(workcell_id=name, session_id=name, operator_id=name)
        operator.lease_id = client.call(request, timeout_sec=10.0).lease_id
    end_s = time.monotonic() + 30.0
    # The trace itself hears the samples, too.
    while any(operator.samples.get_subscription_count() < 2 for operator in team):
        if time.monotonic() > end_s:
            raise TimeoutError('page_devices do not listen')
        time.sleep(0.1)


def _follow(team: Sequence[_Operator], nodes: psutil.Process, seconds: float) -> harness.Figures:
    told: dict[tuple[str, int], int] = {}
    answered: dict[tuple[str, int], int] = {}
    start_s = time.monotonic()
    load: list[float] = []
    meter = threading.Thread(target=lambda: load.append(cpu_percent({'nodes': nodes}, seconds / 2)['nodes']))
    due = sorted((operator.phase_s, index) for index, operator in enumerate(team))
    while (now_s := time.monotonic() - start_s) < _WARM_UP_S + seconds:
        if now_s > _WARM_UP_S and not meter.ident:
            meter.start()
        while due[0][0] <= now_s:
            due_s, index = due.pop(0)
            team[index].send(due_s)
            due = sorted([*due, (due_s + 1.0 / RATE_HZ, index)])
        for operator, (subscription, stamps) in itertools.product(team, ((0, told), (1, answered))):
            taken = (operator.told, operator.commands)[subscription].take_all()
            for message, info in taken:
                stamps[operator.workcell_id, to_nanoseconds(message.device_stamp)] = info['source_timestamp']
        time.sleep(max(0.0, min(_POLL_S, due[0][0] - (time.monotonic() - start_s))))
    meter.join()
    since_ns = now_ns() - round(seconds * 1e9)
    known = {key: at for key, at in told.items() if key[1] > since_ns}
    took = [(answered[key] - at) * 1e-6 for key, at in known.items() if key in answered]
    figures: harness.Figures = {'samples': len(known), 'unanswered': len(known) - len(took)}
    figures |= harness.percentiles('device_node', took)
    return figures | {'nodes.cpu_percent': load[0]}
