"""A Robotiq gripper at an arm of Universal Robots, by the text server of Robotiq's URCap: a line each way over TCP."""

import socket
import threading
import time

_PORT = 63352
_ANSWER_S = 1.0
_PERIOD_S = 0.05
_AGAIN_S = 1.0
_CLOSED = 255
_ACTIVE = 3
_NOT_ACTIVE = 'the gripper is not activated: activate it on the pendant'


class RobotiqGripper:
    """Talks to the gripper in a thread of its own, as it answers slowly.

    Args:
        host: Address of the arm.
        speed: Share of its speed.
        force: Share of its force.
    """

    def __init__(self, host: str, speed: float, force: float) -> None:
        self._host = host
        self._settings = f'SPE {round(speed * 255)} FOR {round(force * 255)} GTO 1'
        self._wanted: float | None = None
        self.opening = 1.0
        self.trouble = 'the gripper has told nothing yet'
        threading.Thread(target=self._run, name='gripper', daemon=True).start()

    def grip(self, opening: float) -> None:
        """Brings it to 0 closed to 1 open."""
        self._wanted = opening

    def _run(self) -> None:
        while True:
            try:
                with socket.create_connection((self._host, _PORT), timeout=_ANSWER_S) as connection:
                    self._talk(connection)
            except (OSError, ValueError) as error:
                self.trouble = f"the gripper at {self._host} is not reached: {error}; is Robotiq's URCap installed?"
            time.sleep(_AGAIN_S)

    def _talk(self, connection: socket.socket) -> None:
        sent: float | None = None
        while True:
            active = self._asked(connection, 'STA') == _ACTIVE
            self.trouble = '' if active else _NOT_ACTIVE
            wanted = self._wanted
            if active and wanted is not None and wanted != sent:
                self._line(connection, f'SET POS {round(_CLOSED * (1.0 - wanted))} {self._settings}')
                sent = wanted
            self.opening = 1.0 - self._asked(connection, 'POS') / _CLOSED
            time.sleep(_PERIOD_S)

    def _asked(self, connection: socket.socket, name: str) -> int:
        answer = self._line(connection, f'GET {name}')
        told, _, value = answer.partition(' ')
        if told != name:
            raise ValueError(f"it answered '{answer}' to GET {name}")
        return int(value)

    @staticmethod
    def _line(connection: socket.socket, question: str) -> str:
        connection.sendall(f'{question}\n'.encode())
        answer = b''
        while not (answer.endswith(b'\n') or answer == b'ack'):
            part = connection.recv(256)
            if not part:
                raise ConnectionError('it has hung up')
            answer = (answer + part).lstrip()
        return answer.decode().strip()
