#!/usr/bin/env python3
"""From a tick's targets to set points at the driver's rate: latency, evenness, and jerk beside what else one might do.

A hand's path is driven over ROS, at 20 Hz, by `arm_driver_node` with the driver `mujoco_hardware`, which takes 500 set
points a second; who listens to them knows when each was sent. Then the targets of the same path are turned into set
points without any process, by Cobalt's servo path, by holding the last target, and by straight lines between targets.

target_to_command is from the moment at which a tick has handed over its targets to the first set point that knows of
them. period_jitter is the distance of the time between two set points from the even one. jerk_ratio_to_linear is the
largest jerk of a joint, beside that of straight lines; lag_ms is how far set points are behind the targets.
"""

import argparse
import os
import subprocess
import sys
import threading
import time

import harness

harness.enter_workspace()

import numpy as np  # noqa: E402
import rclpy  # noqa: E402
from hand_path import made_hand_path  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from running_stack import free_domain  # noqa: E402

from cobalt_devices.arm_driver.servo_path import ServoPath  # noqa: E402
from cobalt_interfaces.msg import TeleopCommand  # noqa: E402
from cobalt_interfaces.srv import AcquireControl  # noqa: E402
from cobalt_teleop.core import topics  # noqa: E402
from cobalt_teleop.core.command import Authority, Mode, MotionCommand, Reference  # noqa: E402
from cobalt_teleop.core.part_controller import Measured, PartController  # noqa: E402
from cobalt_teleop.core.pose import Vector  # noqa: E402
from cobalt_teleop.core.topics import ForeignTopic, Qos  # noqa: E402
from cobalt_teleop.kinematics.arm_kinematics import ArmKinematics  # noqa: E402
from cobalt_teleop.kinematics.robot_description import load_robot  # noqa: E402
from cobalt_teleop.ros.endpoints import TakenSubscription, create_publisher  # noqa: E402
from cobalt_teleop.ros.poses import pose_message  # noqa: E402
from cobalt_teleop.ros.stamps import now_ns, to_nanoseconds, to_stamp  # noqa: E402

_RATE_HZ = 500.0
_TICK_S = 0.05
_STEPS = round(_TICK_S * _RATE_HZ)
_SEED = 1
_COMMANDS = ForeignTopic(
    '/forward_position_controller/commands',
    'std_msgs/msg/Float64MultiArray',
    Qos(reliable=True, latched=False, depth=2000),
)


class Driven:
    """An arm that a hand's path drives, and who listens to ticks and set points."""

    def __init__(self) -> None:
        rclpy.init()
        self.node = rclpy.create_node('bench_driver')
        self._steps = TakenSubscription(self.node, topics.CONTROL_STEP, 'lab')
        self._commands = TakenSubscription(self.node, _COMMANDS, '')
        self._teleop = create_publisher(self.node, topics.teleop_command('arm'), 'lab')
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.node)
        threading.Thread(target=self._executor.spin, daemon=True).start()
        self._lease = ''
        self._sent = self._epoch = 0

    def take_control(self) -> None:
        """Waits for the host and takes control."""
        client = self.node.create_client(AcquireControl, topics.service_name('arm_driver', 'AcquireControl'))
        if not client.wait_for_service(30.0):
            raise SystemExit('arm_driver_node did not start')
        request = AcquireControl.Request(
            workcell_id='lab', session_id='bench', operator_id='bench', sources=['bench_hand']
        )
        answer = client.call(request, timeout_sec=5.0)
        self._lease = answer.lease_id

    def drive(self, seconds: float) -> tuple[list[int], list[int]]:
        """Drives along a hand's path; returns when ticks were applied and when set points were sent [ns]."""
        path, began_s = made_hand_path(_SEED, seconds), time.monotonic()
        self._epoch, self._pressed = self._epoch + 1, to_stamp(now_ns())
        applied: list[int] = []
        sent: list[int] = []
        while (now_s := time.monotonic() - began_s) < seconds:
            self._send(path(now_s))
            applied += (
                to_nanoseconds(row.applied_stamp) for row, _ in self._steps.take_all() if row.parts[0].authority
            )
            sent += (int(info['source_timestamp']) for _, info in self._commands.take_all())
            time.sleep(0.02)
        return applied, sent

    def _send(self, pose: object) -> None:
        self._sent += 1
        message = TeleopCommand(
            lease_id=self._lease,
            engaged=True,
            tracked=True,
            clutch_epoch=self._epoch,
            engaged_since=self._pressed,
            source='bench_hand',
            sequence=self._sent,
            pose=pose_message(pose),
            gripper=float('nan'),
        )
        message.header.stamp = to_stamp(now_ns())
        self._teleop.publish(message)

    def close(self) -> None:
        """Ends it."""
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.try_shutdown()


def measure_node(seconds: float) -> harness.Figures:
    """Starts arm and host, drives, returns figures."""
    os.environ['ROS_DOMAIN_ID'] = str(free_domain())
    starts = (
        ('cobalt_sim.hardware.mujoco_hardware_node', 'cameras:=front'),
        (
            'cobalt_devices.arm_driver.arm_driver_node',
            'driver:=mujoco_hardware',
            f'driver_options:=rate_hz={_RATE_HZ:g}',
        ),
    )
    processes = [
        subprocess.Popen(
            [sys.executable, '-m', module, '--ros-args', *(word for one in given for word in ('-p', one))],
            stdout=subprocess.DEVNULL,
        )
        for module, *given in starts
    ]
    driven = Driven()
    try:
        driven.take_control()
        driven.drive(1.0)
        applied, sent = driven.drive(seconds)
    finally:
        driven.close()
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(10.0)
    stamps = np.array(sorted(sent))
    after = np.searchsorted(stamps, applied)
    latencies = [(stamps[at] - one) * 1e-6 for at, one in zip(after, applied, strict=True) if at < len(stamps)]
    jitter = np.abs(np.diff(stamps) * 1e-6 - 1e3 / _RATE_HZ)
    figures = {'commands_per_s': len(stamps) / seconds, 'driven_ticks_per_s': len(applied) / seconds}
    figures |= harness.percentiles('target_to_command', latencies)
    figures |= harness.percentiles('period_jitter', jitter.tolist())
    return figures


def targets_of_a_hand(seconds: float) -> list[tuple[Vector, Vector]]:
    """Returns the joint targets and expected speeds of each tick."""
    robot = load_robot('franka_panda')
    kinematics = ArmKinematics(robot)
    controller = PartController(limits=robot.limits, kinematics=kinematics, home=robot.home, period_s=_TICK_S)
    joints, path, found = np.array(robot.home), made_hand_path(_SEED, seconds), []
    controller.start_from(Measured(pose=kinematics.forward(joints), joints=joints, gripper=1.0))
    for tick in range(round(seconds / _TICK_S)):
        command = MotionCommand(
            mode=Mode.POSE,
            reference=Reference.ENGAGE,
            pose=path(tick * _TICK_S),
            engaged=True,
            tracked=True,
            clutch_epoch=1,
            sample=tick,
            age_s=0.0,
        )
        measured = Measured(pose=kinematics.forward(joints), joints=joints, gripper=1.0)
        decision = controller.step(measured=measured, authority=Authority.HUMAN, human=command, policy=None)
        joints = decision.joint_targets.copy()
        found.append((joints, decision.joint_velocities.copy()))
    return found


def set_points(targets: list[tuple[Vector, Vector]]) -> dict[str, Vector]:
    """Returns (m, n) set points of the same targets by each way."""
    limits, start = load_robot('franka_panda').limits, targets[0][0]
    path = ServoPath(limits, period_s=1.0 / _RATE_HZ, tick_s=_TICK_S)
    path.start_from(start)
    ours = []
    for target, velocity in targets:
        path.aim(target, velocity)
        ours += [path.next().joints for _ in range(_STEPS)]
    ends = np.array([target for target, _ in targets])
    begins = np.vstack([start, ends[:-1]])
    shares = (np.arange(1, _STEPS + 1) / _STEPS)[None, :, None]
    linear = (begins[:, None] + shares * (ends - begins)[:, None]).reshape(-1, ends.shape[1])
    return {'servo_path': np.array(ours), 'linear': linear, 'hold_last': np.repeat(ends, _STEPS, axis=0)}


def measure_paths(seconds: float) -> harness.Figures:
    """Compares ways to make set points of ticks."""
    targets = targets_of_a_hand(seconds)
    ends, ticks = np.array([target for target, _ in targets]), np.arange(len(targets)) * _TICK_S
    figures: harness.Figures = {}
    for name, joints in set_points(targets).items():
        jerks = np.abs(np.diff(joints, n=3, axis=0)) * _RATE_HZ**3
        at = (np.arange(len(joints)) + 1) / _RATE_HZ
        figures[f'{name}.peak_jerk_rad_s3'] = float(jerks.max())
        figures[f'{name}.lag_ms'] = 1e3 * min(
            np.arange(0.0, 0.2, 0.0025),
            key=lambda lag, at=at, joints=joints: float(
                sum(
                    np.square(np.interp(at - lag, ticks, end) - got).mean()
                    for end, got in zip(ends.T, joints.T, strict=True)
                )
            ),
        )
    figures['jerk_ratio_to_linear'] = figures['servo_path.peak_jerk_rad_s3'] / figures['linear.peak_jerk_rad_s3']
    return figures


def measure(arguments: argparse.Namespace) -> harness.Figures:
    """Measures the node, and the ways."""
    seconds = arguments.seconds or (10.0 if arguments.quick else 60.0)
    harness.say(f'arm_driver_node: {seconds:g} s ...')
    return measure_node(seconds) | measure_paths(min(seconds, 20.0))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds --seconds."""
    parser.add_argument('--seconds', type=float, help='length of the measurement [s] (60)')


if __name__ == '__main__':
    sys.exit(harness.run('driver', __doc__, measure, add_arguments))
