"""Drives and watches many workcells of one host over ROS, cheaply, so that the host is what is measured."""

import math
import struct
import threading
import time
from collections import defaultdict

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.serialization import deserialize_message
from rclpy.signals import SignalHandlerOptions

from cobalt_interfaces.msg import ControlStep, TeleopCommand
from cobalt_interfaces.srv import AcquireControl
from cobalt_teleop.core import topics
from cobalt_teleop.ros.endpoints import TakenSubscription, create_publisher
from cobalt_teleop.ros.stamps import now_ns, to_stamp

_POLL_S = 0.004


def _aligned(offset: int, size: int) -> int:
    return (offset + size - 1) // size * size


def row_times(cdr: bytes) -> tuple[int, int]:
    """Returns stamp [ns] and monotonic_ns of a serialised ControlStep, without deserialising the rest (XCDR1)."""
    body = memoryview(cdr)[4:]

    def after_text(offset: int) -> int:
        offset = _aligned(offset, 4)
        (length,) = struct.unpack_from('<I', body, offset)
        return int(offset + 4 + length)

    sec, nanosec = struct.unpack_from('<iI', body, 0)
    after_frame_id = after_text(8)
    after_schema_version = _aligned(after_frame_id, 4) + 4
    after_episode_id = after_text(after_text(after_schema_version))
    _, monotonic_ns = struct.unpack_from('<QQ', body, _aligned(after_episode_id, 8))
    return sec * 1_000_000_000 + nanosec, monotonic_ns


def video_stamp(cdr: bytes) -> int:
    """Returns the stamp [ns] of a serialised CompressedVideo."""
    sec, nanosec = struct.unpack_from('<iI', memoryview(cdr)[4:], 0)
    return int(sec * 1_000_000_000 + nanosec)


class DrivenHost:
    """Holds control of every workcell, moves each arm on a small circle at 20 Hz, and notes when what arrives.

    Args:
        host_id: Of the host.
        workcells: Their ids.
        camera: Camera to watch of each; empty for none.
    """

    def __init__(self, host_id: str, workcells: list[str], camera: str) -> None:
        rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
        self._node = rclpy.create_node('bench_driver')
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self._node)
        self._spinner = threading.Thread(target=self._executor.spin, daemon=True)
        self._spinner.start()
        self._host_id = host_id
        self._publishers = {
            name: create_publisher(self._node, topics.teleop_command('arm'), name) for name in workcells
        }
        self._rows = {name: TakenSubscription(self._node, topics.CONTROL_STEP, name, raw=True) for name in workcells}
        self._videos = {
            name: TakenSubscription(self._node, topics.video(camera), name, raw=True) for name in workcells if camera
        }
        self._leases: dict[str, str] = {}

    def take_control(self, timeout_s: float = 30.0) -> None:
        """Takes control of all workcells, when the host answers."""
        client = self._node.create_client(AcquireControl, topics.service_name(self._host_id, 'AcquireControl'))
        if not client.wait_for_service(timeout_s):
            raise TimeoutError(f'the host {self._host_id} does not answer')
        for name in self._publishers:
            request = AcquireControl.Request(workcell_id=name, session_id='bench', operator_id='bench')
            answer = client.call(request, timeout_sec=timeout_s)
            if answer is None or not answer.ok:
                raise RuntimeError(f'{name}: {answer.reason if answer else "no answer"}')
            self._leases[name] = answer.lease_id
        self._pressed = to_stamp(now_ns())

    def measure(self, seconds: float) -> tuple[float, list[float], list[float]]:
        """Drives for a while.

        Returns:
            Share of missed ticks; times from a tick's start to its picture's arrival here [ms]; ticks' own times [ms].
        """
        started: dict[str, dict[int, int]] = defaultdict(dict)
        arrivals: list[tuple[str, int, int]] = []
        first: dict[str, ControlStep] = {}
        last: dict[str, bytes] = {}
        last_start: dict[str, int] = {}
        durations: list[float] = []
        end_s = time.monotonic() + seconds
        next_command_s = time.monotonic()
        sequence = 0
        while time.monotonic() < end_s:
            if time.monotonic() >= next_command_s:
                next_command_s += 0.05
                sequence += 1
                self._command(sequence)
            for name, subscription in self._videos.items():
                for cdr, info in subscription.take_all():
                    arrivals.append((name, video_stamp(cdr), _monotonic(info['received_timestamp'])))
            for name, subscription in self._rows.items():
                for cdr, _ in subscription.take_all():
                    stamp, start_ns = row_times(cdr)
                    if name in last_start:
                        started[name][stamp] = last_start[name]
                    last_start[name] = start_ns
                    if name not in first:
                        first[name] = deserialize_message(cdr, ControlStep)
                    last[name] = cdr
                    if sequence % 10 == 0:
                        durations.append(float(deserialize_message(cdr, ControlStep).tick_ms))
            time.sleep(_POLL_S)
        missed = ticks = 0
        for name, row in first.items():
            final = deserialize_message(last[name], ControlStep)
            missed += final.ticks_missed - row.ticks_missed
            ticks += final.step - row.step
        # The state that a row begins with was made by the tick of the row before.
        waits = [
            (arrived_ns - started[name][stamp]) * 1e-6 for name, stamp, arrived_ns in arrivals if stamp in started[name]
        ]
        return missed / max(1, missed + ticks), waits, durations

    def close(self) -> None:
        """Ends the node."""
        self._executor.shutdown()
        self._spinner.join(2.0)
        self._node.destroy_node()
        rclpy.try_shutdown()

    def _command(self, sequence: int) -> None:
        angle = 2 * math.pi * sequence / 60
        message = TeleopCommand(engaged=True, tracked=True, clutch_epoch=1, source='bench', sequence=sequence)
        message.header.stamp, message.engaged_since = to_stamp(now_ns()), self._pressed
        message.gripper = math.nan
        message.pose.position.y = 0.04 * math.sin(angle)
        message.pose.position.z = 0.04 * (1 - math.cos(angle))
        for name, publisher in self._publishers.items():
            message.lease_id = self._leases[name]
            publisher.publish(message)


def _monotonic(system_ns: int) -> int:
    return time.monotonic_ns() - (time.time_ns() - system_ns)
