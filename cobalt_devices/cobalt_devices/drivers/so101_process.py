"""The process in which feetech-servo-sdk runs: set points in, measured states out, by way of host_socket.py."""

import contextlib
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

from cobalt_devices.drivers.host_socket import run_library
from cobalt_devices.drivers.vendor_library import load
from cobalt_teleop.core.errors import CobaltError

NAME = 'so101'
MODULE = 'scservo_sdk'
REQUIREMENT = 'feetech-servo-sdk==1.0.0'
TICKS = 4096

_BAUD = 1_000_000
_MODEL_STS3215 = 777
# Registers of the STS series: address and bytes; numbers with a sign have it in their highest bit, load in bit 10.
_OPERATING_MODE = 33
_TORQUE_ENABLE = 40
_ACCELERATION = 41
_GOAL_POSITION, _GOAL_POSITION_BYTES = 42, 2
_TORQUE_LIMIT = 48
_PRESENT, _PRESENT_BYTES = 56, 10  # position, velocity, load, voltage, temperature, one more, status
_SIGN, _LOAD_SIGN = 15, 10
_POSITION_MODE = 0
_FULL_ACCELERATION = 254  # set points are smooth already
_FULL_TORQUE = 1000
_FAULTS = {0: 'voltage', 1: 'position sensor', 2: 'too hot', 3: 'current', 5: 'overload'}

_TRIES = 10
_SILENCE_S = 0.3
_TICK = 2.0 * math.pi / TICKS


class So101Arm:
    """The servos on their bus.

    Args:
        options: Those of So101Options, with lists of numbers.

    Raises:
        CobaltError: A servo does not answer, or is of another kind.
    """

    def __init__(self, options: dict[str, Any]) -> None:
        self._options = options
        self._library = library = load(NAME, MODULE, REQUIREMENT)
        self._ids: list[int] = options['ids']
        self._gripper: int = options['gripper_id']
        self._all = [*self._ids, self._gripper] if self._gripper else self._ids
        self._names = dict(zip(self._all, [*options['joints'], 'gripper'], strict=False))
        self._bus, self._packets = library.PortHandler(options['port']), library.PacketHandler(0)
        try:
            self._bus.setBaudRate(_BAUD)
        except Exception as error:
            raise CobaltError(f'{options["port"]} cannot be opened: {error}; is the arm plugged in?') from error
        self._reading = library.GroupSyncRead(self._bus, self._packets, _PRESENT, _PRESENT_BYTES)
        for servo in self._all:
            self._check(servo)
            self._reading.addParam(servo)
        self._read_at_s = time.monotonic()
        self._positions: dict[int, int] = {}
        self._goals: dict[int, int] = {}
        self._status: dict[int, int] = {}
        self._await_state()
        if options['take_control']:
            self._take_control()

    def _check(self, servo: int) -> None:
        model, result, _ = self._insist(lambda: self._packets.ping(self._bus, servo))
        if result != self._library.COMM_SUCCESS:
            raise CobaltError(
                f'servo {servo} ({self._names[servo]}) on {self._options["port"]} does not answer: '
                'is the arm powered, and are the cables in?'
            )
        if model != _MODEL_STS3215:
            raise CobaltError(f'servo {servo} ({self._names[servo]}) is of model {model}, not an STS3215')
        mode, _, _ = self._insist(lambda: self._packets.read1ByteTxRx(self._bus, servo, _OPERATING_MODE))
        if mode != _POSITION_MODE:
            raise CobaltError(f'servo {servo} ({self._names[servo]}) is in mode {mode}, not in that of positions (0)')

    def _insist(self, ask: Callable[[], tuple[int, ...]]) -> tuple[int, ...]:
        """Asks again when there is no answer, or a spoilt one; returns the answer, whose last but one is the result."""
        answer: tuple[int, ...] = (0, self._library.COMM_RX_CORRUPT, 0)
        for _ in range(_TRIES):
            with contextlib.suppress(IndexError):  # the library takes a late, shorter answer for this one
                answer = ask()
            if answer[-2] == self._library.COMM_SUCCESS:
                break
            self._bus.ser.reset_input_buffer()
        return answer

    def _words(self, result: int) -> str:
        return str(self._packets.getTxRxResult(result)).removeprefix('[TxRxResult] ')

    def _await_state(self) -> None:
        while self.state() is None:
            pass

    def _take_control(self) -> None:
        """Switches the torque on, with each servo's goal where it is: a goal of former times would make it jump."""
        self._stand()
        for servo in self._all:
            self._write(servo, _TORQUE_LIMIT, round(self._options['torque_limit'] * _FULL_TORQUE), 2)
            self._write(servo, _ACCELERATION, _FULL_ACCELERATION, 1)
            self._write(servo, _TORQUE_ENABLE, 1, 1)

    def _write(self, servo: int, address: int, value: int, size: int) -> None:
        write = self._packets.write2ByteTxRx if size == 2 else self._packets.write1ByteTxRx
        *_, result, _ = self._insist(lambda: write(self._bus, servo, address, value))
        if result != self._library.COMM_SUCCESS:
            raise CobaltError(f'servo {servo} ({self._names[servo]}) did not take a setting: {self._words(result)}')

    def state(self) -> Sequence[float] | None:
        """Returns what is measured, None if an answer was spoilt.

        Raises:
            CobaltError: The servos are silent.
        """
        result = self._reading.txRxPacket()
        now_s = time.monotonic()
        whole = all(self._reading.isAvailable(servo, _PRESENT, _PRESENT_BYTES) for servo in self._all)
        if result != self._library.COMM_SUCCESS or not whole:
            self._bus.ser.reset_input_buffer()  # what comes too late is not the answer to the next question
            if now_s - self._read_at_s > _SILENCE_S:
                raise CobaltError(f'the servos on {self._options["port"]} do not answer: {self._words(result)}')
            return None
        self._read_at_s = now_s
        self._positions = {servo: self._number(servo, 0, _SIGN) for servo in self._all}
        self._status = {servo: self._reading.getData(servo, _PRESENT + 9, 1) for servo in self._all}
        signs, zeros = self._options['directions'], self._options['zeros']
        joints = [
            sign * (self._positions[servo] - zero) * _TICK
            for servo, sign, zero in zip(self._ids, signs, zeros, strict=True)
        ]
        velocities = [
            sign * self._number(servo, 2, _SIGN) * _TICK for servo, sign in zip(self._ids, signs, strict=True)
        ]
        efforts = [
            sign * self._number(servo, 4, _LOAD_SIGN) / _FULL_TORQUE * self._options['stall_torque']
            for servo, sign in zip(self._ids, signs, strict=True)
        ]
        return [now_s, *joints, *velocities, *efforts, self._opening()]

    def _number(self, servo: int, offset: int, sign_bit: int) -> int:
        raw = self._reading.getData(servo, _PRESENT + offset, 2)
        return int(self._library.SCS_TOHOST(raw, sign_bit))

    def _opening(self) -> float:
        if not self._gripper:
            return 1.0
        closed, opened = self._options['gripper_closed'], self._options['gripper_open']
        return float(min(1.0, max(0.0, (self._positions[self._gripper] - closed) / (opened - closed))))

    def faults(self) -> tuple[str, ...]:
        """Returns which servo has switched itself off, and why."""
        return tuple(
            f'{self._names[servo]} (servo {servo}): {text}'
            for servo, status in self._status.items()
            for bit, text in _FAULTS.items()
            if status >> bit & 1
        )

    def servo(self, joints: Sequence[float], velocities: Sequence[float]) -> None:
        """Sends a set point: n joints [rad]."""
        for servo, angle, sign, zero in zip(
            self._ids, joints, self._options['directions'], self._options['zeros'], strict=True
        ):
            self._goals[servo] = round(zero + sign * angle / _TICK)
        self._send()

    def grip(self, opening: float) -> None:
        """Brings the gripper to 0 closed to 1 open."""
        if self._gripper:
            closed, opened = self._options['gripper_closed'], self._options['gripper_open']
            self._goals[self._gripper] = round(closed + opening * (opened - closed))
            self._send()

    def _send(self) -> None:
        group = self._library.GroupSyncWrite(self._bus, self._packets, _GOAL_POSITION, _GOAL_POSITION_BYTES)
        for servo, goal in self._goals.items():
            ticks = min(TICKS - 1, max(0, goal))
            group.addParam(servo, [self._library.SCS_LOBYTE(ticks), self._library.SCS_HIBYTE(ticks)])
        group.txPacket()

    def _stand(self) -> None:
        self._goals = dict(self._positions)
        self._send()

    def hold(self) -> None:
        """Leaves the arm at its last set point: its servos keep it."""

    def stop(self) -> None:
        """Makes each servo stand where it is; without torque the arm would fall."""
        self._stand()

    def recover(self) -> None:
        """Switches torque on again, which a servo takes away at a fault, where the arm is."""
        self._await_state()
        self._take_control()

    def leave(self) -> None:
        """Leaves the torque on: without it the arm would fall."""


if __name__ == '__main__':
    run_library(So101Arm)
