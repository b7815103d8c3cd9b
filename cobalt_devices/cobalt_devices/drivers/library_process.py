"""A vendor's library in a process of its own, as the host has it; host_socket.py is the other end.

Libraries may wait for a lost arm while they keep Python's lock, connect anew when nobody asked, or end the process:
none of that may happen to the host.
"""

import contextlib
import json
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from cobalt_devices.arm_driver.driver import DriverError
from cobalt_devices.drivers.host_socket import PACKET_BYTES, TROUBLE, message

_END_S = 2.5


class LibraryProcess:
    """Starts the process and talks to it.

    Args:
        module: Run by `python -m`; it gets options in JSON, and the number of its end of a socket.
        options: For the module.
    """

    def __init__(self, module: str, options: Mapping[str, Any]) -> None:
        self._command = [sys.executable, '-m', module, json.dumps(dict(options))]
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None

    def start(self) -> None:
        """Starts it, in place of an earlier one."""
        self.end()
        self._socket, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.setblocking(False)
        with other:
            self._process = subprocess.Popen(
                [*self._command, str(other.fileno())], pass_fds=[other.fileno()], stdin=subprocess.DEVNULL
            )

    def send(self, kind: bytes, numbers: Sequence[float] = ()) -> None:
        """Sends a packet; from any thread. One that it has no room for is lost, as the next one comes soon.

        Raises:
            DriverError: The process has ended.
        """
        connection = self._connected()
        try:
            connection.send(message(kind, numbers))
        except BlockingIOError:
            pass
        except OSError as error:
            raise self._ended() from error

    def packets(self) -> list[bytes]:
        """Returns what has come since the last call.

        Raises:
            DriverError: The process has ended, or is in trouble.
        """
        connection, found = self._connected(), []
        with contextlib.suppress(BlockingIOError):
            while True:
                packet = connection.recv(PACKET_BYTES)
                if not packet:
                    raise self._ended()
                if packet[:1] == TROUBLE:
                    self.end()
                    raise DriverError(packet[1:].decode(errors='replace'))
                found.append(packet)
        return found

    def _connected(self) -> socket.socket:
        if self._socket is None:
            raise DriverError('the arm is not connected')
        return self._socket

    def _ended(self) -> DriverError:
        assert self._process is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_S)
        code = self._process.poll()
        self.end()
        cause = signal.Signals(-code).name if code is not None and code < 0 else f'exit code {code}'
        return DriverError(f'the library of the arm has ended by itself ({cause})')

    def end(self) -> None:
        """Ends it: asks by closing the socket, and does not wait for long."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_END_S)
            self._process.kill()
            self._process.wait()
            self._process = None
