"""What a process with a vendor's library has of its host: a socket of packets, and the loop that serves it.

A packet is a byte for its kind, and numbers or a text. This module imports little, so that the process starts fast.
"""

import contextlib
import json
import os
import signal
import socket
import struct
import sys
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from cobalt_teleop.core.errors import CobaltError

COMMAND, GRIP, HOLD, STOP, RECOVER = b'c', b'g', b'h', b'x', b'r'
READY, STATE, FAULTS, TROUBLE = b'+', b's', b'f', b'!'
PACKET_BYTES = 4096
_LATE_S = 0.3


def message(kind: bytes, numbers: Sequence[float] = ()) -> bytes:
    """Returns a packet of a kind and numbers."""
    return kind + struct.pack(f'{len(numbers)}d', *numbers)


def numbers_of(packet: bytes) -> tuple[float, ...]:
    """Returns the numbers of a packet."""
    return struct.unpack(f'{(len(packet) - 1) // 8}d', packet[1:])


class LibraryArm(Protocol):
    """An arm as its library sees it, in this process. Each method may raise; that ends the process, with its words."""

    def state(self) -> Sequence[float] | None:
        """Returns what is measured, None if there is nothing new.

        In this order: time [s, monotonic], n joints [rad], n speeds [rad/s], n efforts [Nm], and the gripper's opening,
        0 closed to 1 open.
        """
        ...

    def faults(self) -> tuple[str, ...]:
        """Returns why the arm does not move, in words."""
        ...

    def servo(self, joints: Sequence[float], velocities: Sequence[float]) -> None:
        """Sends a set point: n joints [rad], and n speeds at which it moves [rad/s]."""
        ...

    def grip(self, opening: float) -> None:
        """Brings the gripper to 0 closed to 1 open."""
        ...

    def hold(self) -> None:
        """Stands, and keeps the place."""
        ...

    def stop(self) -> None:
        """Stops by the fastest safe means."""
        ...

    def recover(self) -> None:
        """Gets ready for set points again."""
        ...

    def leave(self) -> None:
        """Leaves the arm at rest: the host goes."""
        ...


class HostSocket:
    """The end of the socket that the process with the library has.

    Args:
        number: Of the open file that it was given.
    """

    def __init__(self, number: int) -> None:
        self._socket = socket.socket(fileno=number)

    def send(self, kind: bytes, numbers: Sequence[float] = ()) -> None:
        """Sends a packet of numbers; with no room for it, the host is busy, and the next one will do."""
        with contextlib.suppress(BlockingIOError, TimeoutError):
            self._socket.send(message(kind, numbers))

    def tell(self, kind: bytes, text: str) -> None:
        """Sends a packet of text."""
        self._socket.send(kind + text.encode()[: PACKET_BYTES - 1])

    def packets(self, timeout_s: float) -> list[bytes]:
        """Waits for packets and returns all that are there; none after the timeout.

        Raises:
            EOFError: The host has gone.
        """
        found: list[bytes] = []
        self._socket.settimeout(timeout_s)
        with contextlib.suppress(TimeoutError, BlockingIOError):
            while True:
                packet = self._socket.recv(PACKET_BYTES)
                if not packet:
                    raise EOFError
                found.append(packet)
                self._socket.setblocking(False)
        return found


class _SetPoints:
    """Set points that wait: after a stall they are made up for at twice the speed, where the newest would be a jump.

    Args:
        rate_hz: At which they come [Hz].
    """

    def __init__(self, rate_hz: float) -> None:
        self._most = max(4, round(_LATE_S * rate_hz))
        self._waiting: deque[tuple[float, ...]] = deque()

    def add(self, numbers: tuple[float, ...]) -> None:
        """Takes one that has come."""
        self._waiting.append(numbers)

    def next(self) -> tuple[float, ...] | None:
        """Returns the one to send now, None if there is none.

        Raises:
            CobaltError: Too many wait.
        """
        if len(self._waiting) > self._most:
            raise CobaltError(f'the arm is told set points {_LATE_S:g} s late: lower rate_hz, or free this computer')
        if len(self._waiting) > 1:
            self._waiting.popleft()
        return self._waiting.popleft() if self._waiting else None

    def clear(self) -> None:
        """Forgets all."""
        self._waiting.clear()


def _serve(host: HostSocket, arm: LibraryArm, rate_hz: float) -> None:
    told: tuple[str, ...] = ()
    points = _SetPoints(rate_hz)
    host.send(READY)
    while True:
        for packet in host.packets(0.5 / rate_hz):
            kind = packet[:1]
            if kind == COMMAND:
                points.add(numbers_of(packet))
            elif kind == GRIP:
                arm.grip(numbers_of(packet)[0])
            else:
                points.clear()
                {HOLD: arm.hold, STOP: arm.stop, RECOVER: arm.recover}[kind]()
                if kind == RECOVER:
                    host.send(READY)
        point = points.next()
        if point is not None:
            arm.servo(point[: len(point) // 2], point[len(point) // 2 :])
        state = arm.state()
        if state is None:
            continue
        faults = arm.faults()
        if faults != told:
            host.tell(FAULTS, '\n'.join(faults))
            told = faults
        host.send(STATE, state)


def run_library(make: Callable[[dict[str, Any]], LibraryArm]) -> None:
    """Runs the process until the host goes or the arm is lost; it ends at once, whatever the library would still do.

    Args:
        make: Makes the arm from the driver's options; with `rate_hz` [Hz].
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the host says when to end
    options, host = json.loads(sys.argv[1]), HostSocket(int(sys.argv[2]))
    arm: LibraryArm | None = None
    try:
        arm = make(options)
        _serve(host, arm, options['rate_hz'])
    except (EOFError, BrokenPipeError, ConnectionResetError):
        with contextlib.suppress(Exception):
            if arm is not None:
                arm.leave()
        os._exit(0)
    except Exception as error:
        with contextlib.suppress(OSError):
            host.tell(TROUBLE, str(error) or type(error).__name__)
        os._exit(1)
