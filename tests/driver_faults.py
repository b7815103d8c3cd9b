"""Faults of an arm that is reached as hardware is, while an operator drives it: what the arm then does.

Each fault ends in a hold or a stop, motion comes back by a person alone (a fresh press, a stop that is released), and
the arm's own speed and acceleration stay bounded. What the arm does is read from its own joint states.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from cobalt_interfaces import srv
from cobalt_interfaces.msg import ControlStep, TeleopCommand
from cobalt_teleop.core import topics
from cobalt_teleop.kinematics.robot_description import load_robot
from cobalt_teleop.ros.endpoints import create_publisher, create_subscription
from cobalt_teleop.ros.stamps import now_ns, to_stamp

WORKCELL = 'lab'
ROBOT = load_robot('franka_panda')

RESTS_WITHIN_S = 1.0
"""From a fault on; the arm then stands until a person does something."""

_STANDS_RAD_S = 0.02
_AMPLITUDE_M, _PERIOD_S = 0.06, 2.0
_MIDDLE_X_M = 0.5 * float(ROBOT.limits.workspace_min[0] + ROBOT.limits.workspace_max[0])
_HELD_ON_S = 0.7
_DRIVES_S = 0.8

# The simulated arm swings a little over its set points, which keep the limits exactly.
_SPEED_SLACK = 1.15


@dataclass
class Outcome:
    """What a fault led to.

    Attributes:
        kind: Of the fault.
        rested_s: After how long the joints stood [s]; NaN if they did not in time.
        still_moving: What moved last, if they did not.
        moved_while_held_rad: How far joints moved after that, with the press held on [rad].
        speed_share: Largest speed of a joint from the fault on, as a share of its limit.
        recovered: It moved again after a fresh press, and what else the fault asks of a person.
        faults: What was wrong, in words; empty if nothing.
    """

    kind: str
    rested_s: float = float('nan')
    still_moving: str = ''
    moved_while_held_rad: float = 0.0
    speed_share: float = 0.0
    recovered: bool = False
    faults: list[str] = field(default_factory=list)


class DrivenArm:
    """An arm, its host, and an operator who swings a device to and fro."""

    def __init__(self, domain: int) -> None:
        os.environ['ROS_DOMAIN_ID'] = str(domain)
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._start('hardware')
        self._start('host')
        rclpy.init()
        self._node = rclpy.create_node('driver_faults')
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self._node)
        self._lock = threading.Lock()
        self._seen: deque[tuple[float, np.ndarray, np.ndarray]] = deque(maxlen=4000)
        self._row: ControlStep | None = None
        self._node.create_subscription(JointState, '/joint_states', self._on_joints, qos_profile_sensor_data)
        create_subscription(self._node, topics.CONTROL_STEP, WORKCELL, self._on_row)
        self._inject = self._node.create_publisher(String, '/mujoco_hardware/inject', 10)
        self._commands = create_publisher(self._node, topics.teleop_command('arm'), WORKCELL)
        self._spinner = threading.Thread(target=self._executor.spin, daemon=True)
        self._spinner.start()
        self._clients: dict[str, Any] = {}
        self._lease, self._epoch, self._sent, self._way = '', 0, 0, 1.0
        self._pressed, self._spoilt, self._silent = False, '', False
        self._began_s, self._began_ns = time.monotonic(), now_ns()
        self._ending = threading.Event()
        self._hand = threading.Thread(target=self._swing, daemon=True)
        self._hand.start()

    def _start(self, name: str) -> None:
        module, given = {
            'hardware': ('cobalt_sim.hardware.mujoco_hardware_node', ('cameras:=front',)),
            'host': ('cobalt_devices.arm_driver.arm_driver_node', ('driver:=mujoco_hardware', 'robot:=franka_panda')),
        }[name]
        words = [word for one in given for word in ('-p', one)]
        self._processes[name] = subprocess.Popen(
            [sys.executable, '-m', module, '--ros-args', *words, '--log-level', 'error'], stderr=subprocess.DEVNULL
        )

    def close(self) -> None:
        """Ends everything."""
        self._ending.set()
        self._hand.join()
        self._executor.shutdown()
        self._spinner.join(2.0)
        self._node.destroy_node()
        rclpy.try_shutdown()
        for process in self._processes.values():
            process.send_signal(signal.SIGINT)
        for process in self._processes.values():
            try:
                process.wait(5.0)
            except subprocess.TimeoutExpired:
                process.kill()

    # What is seen --------------------------------------------------------------------------------------------------

    def _on_joints(self, message: JointState) -> None:
        joints, speeds = np.array(message.position[:7]), np.array(message.velocity[:7])
        with self._lock:
            self._seen.append((time.monotonic(), joints, speeds))

    def _on_row(self, row: ControlStep) -> None:
        self._row = row

    def seen_since(self, began_s: float) -> list[tuple[float, np.ndarray, np.ndarray]]:
        """Returns time, joints and speeds since a time."""
        with self._lock:
            return [one for one in self._seen if one[0] >= began_s]

    def _drives(self) -> bool:
        return self._row is not None and bool(self._row.parts[0].authority == ControlStep.AUTHORITY_HUMAN)

    # What a person does ----------------------------------------------------------------------------------------------

    def _call(self, service: str, **fields: object) -> Any:
        client = self._clients.get(service)
        if client is None:  # one for all calls: the first answer to a new one may be lost
            client = self._node.create_client(getattr(srv, service), topics.service_name('arm_driver', service))
            self._clients[service] = client
        if not client.wait_for_service(20.0):
            raise TimeoutError(f'the host does not offer {service}')
        return client.call(getattr(srv, service).Request(workcell_id=WORKCELL, **fields), timeout_sec=2.0)

    def take_control(self, timeout_s: float = 30.0) -> None:
        """Takes control, also of a host that has just been started again."""
        end_s, reason = time.monotonic() + timeout_s, 'nobody answered'
        while time.monotonic() < end_s:
            try:
                answer = self._call('AcquireControl', session_id='faults', operator_id='operator', sources=['hand'])
            except TimeoutError as error:
                reason = str(error) or 'no answer within 2 s'
                continue  # that was the host before, which is not forgotten yet
            if answer.ok:
                self._lease = answer.lease_id
                return
            reason = answer.reason
            time.sleep(0.2)
        raise TimeoutError(
            f'control was not given: {reason}; exit status of the host: {self._processes["host"].poll()}'
        )

    def press(self, timeout_s: float = 8.0) -> bool:
        """Lets go, presses afresh, and swings; returns whether the arm then moves."""
        end_s = time.monotonic() + timeout_s
        while time.monotonic() < end_s:
            self.let_go()
            self._epoch += 1
            if self._row is not None:  # towards the middle, or one press after the other leads into a corner
                self._way = 1.0 if self._row.parts[0].pose.position.x < _MIDDLE_X_M else -1.0
            self._began_s, self._began_ns, self._pressed = time.monotonic(), now_ns(), True
            time.sleep(_DRIVES_S)
            recent = self.seen_since(time.monotonic() - 0.5)
            if self._drives() and recent and max(np.abs(speeds).max() for _, _, speeds in recent) > 3 * _STANDS_RAD_S:
                return True
        return False

    def let_go(self) -> None:
        """Releases the clutch for a while."""
        self._pressed = False
        time.sleep(0.15)

    def _swing(self) -> None:
        while not self._ending.wait(0.033):
            if self._silent:
                continue
            self._sent += 1
            now_s = time.monotonic() - self._began_s
            message = TeleopCommand(
                lease_id=self._lease,
                engaged=self._pressed,
                tracked=True,
                clutch_epoch=self._epoch,
                engaged_since=to_stamp(self._began_ns),
                source='hand',
                sequence=self._sent,
                gripper=float('nan'),
            )
            message.header.stamp = to_stamp(now_ns())
            share = self._way * np.sin(2.0 * np.pi * now_s / _PERIOD_S)
            message.pose.position.x = float('nan') if self._spoilt else _AMPLITUDE_M * share
            message.pose.position.z = 0.5 * _AMPLITUDE_M * share
            message.pose.orientation.w = 1.0
            self._commands.publish(message)

    # Faults ----------------------------------------------------------------------------------------------------------

    def faults(self) -> dict[str, tuple[Callable[[], None], Callable[[], None]]]:
        """Returns by kind: what makes the fault, and what a person does against it before he presses afresh."""
        return {
            'host killed': (lambda: self._kill('host'), self._revive_host),
            'hardware killed': (lambda: self._kill('hardware'), self._revive_hardware),
            'stale targets': (lambda: setattr(self, '_silent', True), lambda: setattr(self, '_silent', False)),
            'NaN targets': (lambda: setattr(self, '_spoilt', 'nan'), lambda: setattr(self, '_spoilt', '')),
            'joint fault': (lambda: self._say('joint_fault'), self._clear_stop),
            'encoder jump': (lambda: self._say('encoder_jump 0.2'), self._calibrate),
            'network cut': (lambda: self._say('silence 0.6'), lambda: None),
            'emergency stop': (self._stop, self._clear_stop),
        }

    def _say(self, text: str) -> None:
        self._inject.publish(String(data=text))

    def _kill(self, name: str) -> None:
        self._processes[name].kill()
        self._processes[name].wait()

    def _revive_host(self) -> None:
        self._start('host')
        self.take_control()

    def _revive_hardware(self) -> None:
        self._start('hardware')
        time.sleep(3.0)
        self._clear_stop()  # it is back, and not where it was: a person looks first

    def _calibrate(self) -> None:
        self._say('well')
        time.sleep(0.2)
        self._clear_stop()

    def _stop(self) -> None:
        self._call('EmergencyStop', who='operator')

    def _clear_stop(self) -> None:
        self._stop()
        time.sleep(0.3)
        self._call('ClearEmergencyStop', who='operator', confirm=True)

    def suffer(self, kind: str) -> Outcome:
        """Drives, lets a fault happen in motion, watches, and recovers as a person would."""
        outcome = Outcome(kind)
        make, mend = self.faults()[kind]
        if not self.press():
            outcome.faults.append('the arm did not move before the fault')
            return outcome
        fault_s = time.monotonic()
        make()
        time.sleep(RESTS_WITHIN_S + _HELD_ON_S)
        self._judge(outcome, fault_s)
        mend()
        time.sleep(0.3)
        held_s = time.monotonic()
        time.sleep(0.4)
        # The press of before the fault is still on: it moves nothing.
        outcome.moved_while_held_rad = max(outcome.moved_while_held_rad, self._moved(held_s))
        outcome.recovered = self.press()
        self.let_go()
        if np.isnan(outcome.rested_s) and kind != 'hardware killed':
            outcome.faults.append(f'it did not stand within {RESTS_WITHIN_S:g} s{outcome.still_moving}')
        if outcome.moved_while_held_rad > 0.01 and kind != 'hardware killed':
            outcome.faults.append(f'it moved by {outcome.moved_while_held_rad:.3f} rad by a press of before the fault')
        if outcome.speed_share > _SPEED_SLACK:
            outcome.faults.append(f'a joint had {outcome.speed_share:.2f} times its largest speed')
        if not outcome.recovered:
            outcome.faults.append('it did not move again after a fresh press')
        return outcome

    def _judge(self, outcome: Outcome, fault_s: float) -> None:
        seen = self.seen_since(fault_s)
        if not seen:
            return
        times = np.array([at for at, _, _ in seen]) - fault_s
        speeds = np.array([speed for _, _, speed in seen])
        outcome.speed_share = float((np.abs(speeds) / ROBOT.limits.joint_speed).max())
        moving = np.abs(speeds).max(axis=1) > _STANDS_RAD_S
        last = times[moving].max() if moving.any() else 0.0
        if last < RESTS_WITHIN_S:
            outcome.rested_s = float(last)
            outcome.moved_while_held_rad = self._moved(fault_s + last + 0.05)
        else:
            late = np.abs(speeds[times >= RESTS_WITHIN_S])
            joint = int(late.max(axis=0).argmax())
            outcome.still_moving = (
                f': joint {joint + 1} moved at {late[:, joint].max():.3f} rad/s until {last:.2f} s, and by '
                f'{self._moved(fault_s + RESTS_WITHIN_S):.4f} rad in all after the first second'
            )

    def _moved(self, since_s: float) -> float:
        joints = np.array([one for _, one, _ in self.seen_since(since_s)])
        return float(np.ptp(joints, axis=0).max()) if len(joints) else 0.0
