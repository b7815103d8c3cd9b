"""What drivers have in common whose library runs in a process of its own."""

import contextlib
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from cobalt_devices.arm_driver.driver import DriverCapabilities, DriverError, DriverState
from cobalt_devices.drivers.host_socket import COMMAND, FAULTS, GRIP, HOLD, READY, RECOVER, STATE, STOP, numbers_of
from cobalt_devices.drivers.library_process import LibraryProcess
from cobalt_teleop.core.pose import Vector

_LOOK_S = 0.005


class LibraryDriver:
    """A driver whose arm is a `LibraryArm` in another process.

    Args:
        module: Run as that process.
        options: Of the driver, for the module.
        capabilities: Of the driver.
        joints: n.
        ready_s: How long it may take to connect, or to recover [s].
    """

    def __init__(
        self, module: str, options: Mapping[str, Any], capabilities: DriverCapabilities, joints: int, ready_s: float
    ) -> None:
        self._process = LibraryProcess(module, options)
        self._capabilities = capabilities
        self._n = joints
        self._ready_s = ready_s
        self._state: DriverState | None = None
        self._faults: tuple[str, ...] = ()
        self._stopped = False

    @property
    def capabilities(self) -> DriverCapabilities:
        """What it can do."""
        return self._capabilities

    def connect(self) -> None:
        """Starts the library, which connects; moves nothing.

        Raises:
            DriverError: The arm cannot be reached or refuses.
        """
        self._state, self._faults = None, ()
        self._process.start()
        self._await_ready()

    def _await_ready(self) -> None:
        end_s = time.monotonic() + self._ready_s
        ready = False
        while not (ready and self._state is not None):
            if time.monotonic() > end_s:
                self._process.end()
                raise DriverError(f'the arm did not get ready within {self._ready_s:g} s')
            time.sleep(_LOOK_S)
            ready = self._look() or ready

    def _look(self) -> bool:
        """Takes what has come; returns whether the process has said that it is ready."""
        newest, ready = None, False
        for packet in self._process.packets():
            kind = packet[:1]
            if kind == STATE:
                newest = packet
            elif kind == FAULTS:
                self._faults = tuple(packet[1:].decode().split('\n')) if len(packet) > 1 else ()
            elif kind == READY:
                ready = True
        if newest is not None:
            stamp_s, *measured = numbers_of(newest)
            values, n = np.array(measured), self._n
            self._state = DriverState(
                stamp_ns=time.time_ns() - round((time.monotonic() - stamp_s) * 1e9),
                joints=values[:n],
                velocities=values[n : 2 * n],
                efforts=values[2 * n : 3 * n],
                gripper=float(values[3 * n]),
                faults=self._faults,
            )
        return ready

    def read(self) -> DriverState:
        """Returns the newest measurement.

        Raises:
            DriverError: The arm has been lost.
        """
        self._look()
        if self._state is None:
            raise DriverError('the arm has told no state')
        return self._state

    def command(self, joints: Vector, velocities: Vector) -> None:
        """Sends set points."""
        if not self._stopped:
            self._process.send(COMMAND, [*joints.tolist(), *velocities.tolist()])

    def grip(self, opening: float) -> None:
        """Brings the gripper to 0 closed to 1 open."""
        if not self._stopped:
            self._process.send(GRIP, [opening])

    def hold(self) -> None:
        """Keeps the arm where it comes to stand."""
        if not self._stopped:
            self._process.send(HOLD)

    def stop(self) -> None:
        """Stops the arm; nothing more is sent to it until `recover`. What has been lost is told by `read`."""
        self._stopped = True
        with contextlib.suppress(DriverError):
            self._process.send(STOP)

    def recover(self) -> None:
        """Makes the arm ready again.

        Raises:
            DriverError: It does not get ready, and why.
        """
        self._process.send(RECOVER)
        self._await_ready()
        self._stopped = False

    def close(self) -> None:
        """Ends the library, which leaves the arm at rest."""
        self._process.end()
