"""The process in which xArm-Python-SDK runs: set points in, measured states out, by way of host_socket.py."""

import time
from collections.abc import Sequence
from typing import Any

from cobalt_devices.drivers.host_socket import run_library
from cobalt_devices.drivers.vendor_library import load
from cobalt_teleop.core.errors import CobaltError

NAME = 'xarm'
MODULE = 'xarm'
REQUIREMENT = 'xarm-python-sdk==1.18.4'

_ANSWER_S = 0.5
_LOOK_S = 0.05
_SERVO_MODE = 1
_GO, _STOP = 0, 4
_STOPPED = (4, 5)
_JOINTS_OF_PROTOCOL = 7


class XArm:
    """The library's connection.

    Args:
        options: Those of XArmOptions, and the number of joints.

    Raises:
        CobaltError: The arm does not answer, or has another number of joints.
    """

    def __init__(self, options: dict[str, Any]) -> None:
        self._host: str = options['host']
        self._n: int = options['joints']
        self._takes_control: bool = options['take_control']
        load(NAME, MODULE, REQUIREMENT)
        self._titles = load(NAME, 'xarm.core.config.x_code', REQUIREMENT).ControllerErrorCodeMap
        log = load(NAME, 'xarm.core.utils.log', REQUIREMENT).logger
        log.setLevel(log.CRITICAL)  # it would speak of each set point
        try:
            self._arm = load(NAME, 'xarm.wrapper', REQUIREMENT).XArmAPI(
                self._host, is_radian=True, enable_report=False, check_joint_limit=False
            )
        except Exception as error:
            raise CobaltError(
                f'no control box of UFACTORY answers at {self._host}: is it on, and is this machine in its network? '
                f'({error})'
            ) from error
        self._arm.set_timeout(_ANSWER_S)
        if self._arm.axis != self._n:
            raise CobaltError(f'the arm at {self._host} has {self._arm.axis} joints, but robot.yaml has {self._n}')
        self._error, self._state, self._looked_s = 0, _GO, 0.0
        self._look()
        if self._takes_control and not self._error:
            self._take_control()

    def _done(self, what: str, code: int) -> None:
        if code != 0:
            raise CobaltError(f'the arm at {self._host} refuses to {what} (code {code})')

    def _take_control(self) -> None:
        self._done('enable its motors', self._arm.motion_enable(True))
        self._done('go into servo mode', self._arm.set_mode(_SERVO_MODE))
        self._done('get ready', self._arm.set_state(_GO))
        self._looked_s = 0.0

    def state(self) -> Sequence[float]:
        """Returns what is measured.

        Raises:
            CobaltError: The arm does not answer.
        """
        code, values = self._arm.get_joint_states(is_radian=True, num=3)
        if code != 0 or len(values) != 3:
            raise CobaltError(f'the arm at {self._host} does not answer any more (code {code})')
        joints, velocities, efforts = (list(row[: self._n]) for row in values)
        return [time.monotonic(), *joints, *velocities, *efforts, 1.0]

    def _look(self) -> None:
        self._looked_s = time.monotonic()
        code, (error, _) = self._arm.get_err_warn_code()
        state_code, state = self._arm.get_state()
        if code == 0 and state_code == 0:
            self._error, self._state = error, state

    def faults(self) -> tuple[str, ...]:
        """Returns why the arm does not move, in words."""
        if time.monotonic() - self._looked_s > _LOOK_S:
            self._look()
        if self._error:
            title = self._titles.get(self._error, {}).get('en', {}).get('title', 'see the manual')
            return (f'error {self._error} of the control box: {title}',)
        if self._takes_control and self._state in _STOPPED:
            return ('the arm is stopped: press the emergency stop on the page, and release it',)
        return ()

    def servo(self, joints: Sequence[float], velocities: Sequence[float]) -> None:
        """Sends a set point: n joints [rad]. An arm that is not ready refuses it, and its faults say why."""
        padded = [*joints, *[0.0] * (_JOINTS_OF_PROTOCOL - self._n)]
        self._arm.set_servo_angle_j(padded, is_radian=True)

    def grip(self, opening: float) -> None:
        """Moves nothing: the driver knows no gripper yet."""

    def hold(self) -> None:
        """Leaves the arm at its last set point."""

    def stop(self) -> None:
        """Puts the controller into its state of stop, in which it brakes and takes no set points."""
        self._arm.set_state(_STOP)
        self._looked_s = 0.0

    def recover(self) -> None:
        """Clears errors, enables the motors, and goes into servo mode.

        Raises:
            CobaltError: The arm refuses.
        """
        self._done('clear its error', self._arm.clean_error())
        self._arm.clean_warn()
        self._take_control()

    def leave(self) -> None:
        """Leaves the arm at its last set point."""


if __name__ == '__main__':
    run_library(XArm)
