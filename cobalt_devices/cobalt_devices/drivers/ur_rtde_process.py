"""The process in which ur_rtde runs: set points in, measured states out, over the socket of host_socket.py.

The library's receiving thread gives up for good when the arm is lost and goes on telling old numbers, and its
controlling thread connects anew by itself: when the controller's time stands, this process says so and ends.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any

from cobalt_devices.drivers.host_socket import run_library
from cobalt_devices.drivers.robotiq_gripper import RobotiqGripper
from cobalt_devices.drivers.ur_dashboard import PORT, ask_dashboard, reach
from cobalt_devices.drivers.vendor_library import load
from cobalt_teleop.core.errors import CobaltError

NAME = 'ur_rtde'
REQUIREMENT = 'ur_rtde==1.6.5'
JOINTS = 6

_RTDE_PORT = 30004
_VARIABLES = ['timestamp', 'actual_q', 'actual_qd', 'robot_mode', 'safety_mode', 'runtime_state']
_SILENCE_S = 0.5
_READY_S = 6.0
_LOOK_S = 0.02

_MODE_RUNNING = 7
_NORMAL, _REDUCED, _PROTECTIVE_STOP = 1, 2, 3
_PLAYING = 2
_NO_EFFORTS = [0.0] * JOINTS
_SAFETY = {
    3: 'protective stop',
    4: 'the arm waits to be moved back within its safety limits (recovery)',
    5: 'safeguard stop',
    6: 'emergency stop of the installation',
    7: 'emergency stop at the robot',
    8: 'safety violation: see the pendant',
    9: 'safety fault: see the pendant',
    11: 'joint check failed: see the pendant',
}


class UrArm:
    """The library's two connections.

    Args:
        options: Those of UrRtdeOptions.
    """

    def __init__(self, options: dict[str, Any]) -> None:
        self._options = options
        self._host: str = options['host']
        for port in (_RTDE_PORT, PORT):
            reach(self._host, port)
        self._library = load(NAME, 'rtde_control', REQUIREMENT)
        receive = load(NAME, 'rtde_receive', REQUIREMENT)
        self._receive = receive.RTDEReceiveInterface(self._host, options['rate_hz'], _VARIABLES)
        self._control: Any = None
        self._period_s = 1.0 / options['rate_hz']
        self._told = 0.0
        self._told_at_s = time.monotonic()
        self._servos = False
        self._gripper = (
            RobotiqGripper(self._host, options['gripper_speed'], options['gripper_force'])
            if options['gripper'] == 'robotiq'
            else None
        )
        if self._safe and options['take_control']:
            self._take_control()

    @property
    def _safe(self) -> bool:
        running = self._receive.getRobotMode() == _MODE_RUNNING
        return running and self._receive.getSafetyMode() in (_NORMAL, _REDUCED)

    def _take_control(self) -> None:
        self._control = self._library.RTDEControlInterface(self._host, self._options['rate_hz'])

    def state(self) -> Sequence[float] | None:
        """Returns what is measured, None if it is not new.

        Raises:
            CobaltError: The controller's time stands.
        """
        now_s, told = time.monotonic(), self._receive.getTimestamp()
        if told == self._told:
            if now_s - self._told_at_s > _SILENCE_S:
                raise CobaltError(f'the arm at {self._host} has told nothing for {_SILENCE_S:g} s')
            return None
        self._told, self._told_at_s = told, now_s
        opening = self._gripper.opening if self._gripper else 1.0
        return [now_s, *self._receive.getActualQ(), *self._receive.getActualQd(), *_NO_EFFORTS, opening]

    def faults(self) -> tuple[str, ...]:
        """Returns why the arm does not move, in words."""
        safety = self._receive.getSafetyMode()
        if safety not in (_NORMAL, _REDUCED):
            return (_SAFETY.get(safety, f'safety mode {safety}: see the pendant'),)
        if self._receive.getRobotMode() != _MODE_RUNNING:
            return ('the arm is off or its brakes are closed: switch it on at the pendant',)
        if self._options['take_control'] and not self._plays:
            return ('its control program does not run: press the emergency stop on the page, and release it',)
        return (self._gripper.trouble,) if self._gripper and self._gripper.trouble else ()

    @property
    def _plays(self) -> bool:
        return bool(self._receive.getRuntimeState() == _PLAYING)

    def servo(self, joints: Sequence[float], velocities: Sequence[float]) -> None:
        """Sends a set point: (6,) [rad]. Without a program on the arm it is for nothing, and the faults say so."""
        if self._control is not None and self._plays:
            self._servos = True
            self._control.servoJ(
                list(joints), 0.0, 0.0, self._period_s, self._options['lookahead_s'], self._options['gain']
            )

    def grip(self, opening: float) -> None:
        """Brings the gripper to 0 closed to 1 open."""
        if self._gripper:
            self._gripper.grip(opening)

    def hold(self) -> None:
        """Slows down and stands."""
        if self._servos:
            self._servos = False
            self._control.servoStop(self._options['deceleration'])

    def stop(self) -> None:
        """Stands; the host has told the dashboard, too."""
        self.hold()

    def recover(self) -> None:
        """Releases a protective stop, and starts the control program if it does not run.

        Raises:
            CobaltError: The arm refuses.
        """
        if self._receive.getSafetyMode() == _PROTECTIVE_STOP:
            ask_dashboard(self._host, 'close safety popup', 'closing')
            ask_dashboard(self._host, 'unlock protective stop', 'Protective stop releasing')
        self._await(lambda: self._safe, 'the arm does not get ready: see its pendant')
        if self._control is None:
            self._take_control()
        elif not self._control.isProgramRunning():
            self._control.reuploadScript()
        self._await(
            lambda: self._receive.getRuntimeState() == _PLAYING, 'the control program does not start on the arm'
        )

    @staticmethod
    def _await(condition: Callable[[], bool], otherwise: str) -> None:
        end_s = time.monotonic() + _READY_S
        while not condition():
            if time.monotonic() > end_s:
                raise CobaltError(otherwise)
            time.sleep(_LOOK_S)

    def leave(self) -> None:
        """Slows down and stands."""
        self.hold()


if __name__ == '__main__':
    run_library(UrArm)
