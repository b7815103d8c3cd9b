"""The process in which franky and libfranka run: set points in, measured states out, by way of host_socket.py."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from cobalt_devices.drivers.franka_hand import FrankaHand
from cobalt_devices.drivers.host_socket import run_library
from cobalt_devices.drivers.vendor_library import load
from cobalt_teleop.core.errors import CobaltError

NAME = 'franka'
MODULE = 'franky'
REQUIREMENT = 'franky-control==2.0.0'
JOINTS = 7

_MOVABLE = ('Idle', 'Move')
_STANDING = np.zeros(JOINTS)
_MODES = {
    'Other': 'the arm is not ready: release its brakes and activate FCI in Desk',
    'Guiding': 'the arm is being guided by hand',
    'UserStopped': 'the arm is stopped by its stop button or enabling device',
    'AutomaticErrorRecovery': 'the arm recovers from an error',
}


class FrankaArm:
    """The library's connection. The arm holds itself until the first set point starts the controller where it is.

    Args:
        options: Those of FrankaOptions.

    Raises:
        CobaltError: The arm does not answer.
    """

    def __init__(self, options: dict[str, Any]) -> None:
        self._franky = franky = load(NAME, MODULE, REQUIREMENT)
        self._options = options
        host = options['host']
        realtime = franky.RealtimeConfig.Enforce if options['realtime'] else franky.RealtimeConfig.Ignore
        try:
            self._robot = franky.Robot(
                host,
                realtime_config=realtime,
                default_torque_threshold=options['collision_torque'],
                default_force_threshold=options['collision_force'],
            )
            self._hand = FrankaHand(franky.Gripper(host), options) if options['gripper'] == 'franka_hand' else None
        except Exception as error:
            raise CobaltError(
                f'the Franka arm at {host} cannot be controlled: {error}; is FCI active in Desk, and is this machine '
                "joined to the Control's port?"
            ) from error
        self._tracker: Any = None
        self._target = _STANDING
        self._ended = ''
        self._told_ms = -1
        self._state: Any = None

    def state(self) -> Sequence[float] | None:
        """Returns what is measured, None if it is not new."""
        self._state = state = self._robot.state
        self._look_at_motion()
        told_ms = state.time.to_msec()
        if told_ms == self._told_ms:
            return None
        self._told_ms = told_ms
        return [time.monotonic(), *state.q, *state.dq, *state.tau_J, self._hand.opening if self._hand else 1.0]

    def _look_at_motion(self) -> None:
        """Finds out whether the arm has ended the controller, and why."""
        if self._tracker is None or self._tracker.is_running:
            return
        self._tracker = None
        try:
            self._robot.join_motion()
        except self._franky.ControlException as error:
            self._ended = str(error).splitlines()[0]

    def faults(self) -> tuple[str, ...]:
        """Returns why the arm does not move, in words."""
        mode = self._state.robot_mode.name
        if mode == 'Reflex':
            return (f'the arm has stopped itself: {self._state.last_motion_errors}',)
        if mode in _MODES:
            return (_MODES[mode],)
        if self._ended:
            return (f'the arm has ended its motion: {self._ended}',)
        return (self._hand.trouble,) if self._hand and self._hand.trouble else ()

    def servo(self, joints: Sequence[float], velocities: Sequence[float]) -> None:
        """Sends a set point: n joints [rad], and n speeds at which it moves [rad/s]."""
        if self._ended or self._state.robot_mode.name not in _MOVABLE:
            return
        if self._tracker is None:
            self._tracker = self._franky.JointImpedanceTracker(
                self._robot,
                stiffness=np.array(self._options['stiffness']),
                damping=np.array(self._options['damping']),
            )
        self._target = np.array(joints)
        self._tracker.set_target(self._target, np.array(velocities))

    def grip(self, opening: float) -> None:
        """Brings the gripper to 0 closed to 1 open."""
        if self._hand:
            self._hand.grip(opening)

    def hold(self) -> None:
        """Keeps the last set point, at rest."""
        if self._tracker is not None and self._tracker.is_running:
            self._tracker.set_target(self._target, _STANDING)

    def stop(self) -> None:
        """Ends the controller; the arm brakes."""
        self._robot.stop()
        if self._tracker is not None:
            self._tracker = None
            self._join()

    def _join(self) -> None:
        try:
            self._robot.join_motion()
        except self._franky.ControlException:
            return  # a stop ends the controller by that

    def recover(self) -> None:
        """Clears errors of the arm.

        Raises:
            CobaltError: It does not get ready, and why.
        """
        self._robot.recover_from_errors()
        self._tracker, self._ended = None, ''
        self._state = self._robot.state
        if faults := self.faults():
            raise CobaltError(faults[0])

    def leave(self) -> None:
        """Brings the arm to rest, where it holds itself."""
        if self._tracker is not None and self._tracker.is_running:
            self._tracker.stop()


if __name__ == '__main__':
    run_library(FrankaArm)
