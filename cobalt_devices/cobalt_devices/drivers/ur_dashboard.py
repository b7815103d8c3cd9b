"""Universal Robots' dashboard: a line of text each way over TCP, independent of RTDE and of what runs on the arm."""

import socket

from cobalt_teleop.core.errors import CobaltError

PORT = 29999
_ANSWER_S = 2.0


def reach(host: str, port: int) -> None:
    """Checks that somebody listens at a port.

    Raises:
        CobaltError: Nobody does.
    """
    try:
        socket.create_connection((host, port), timeout=_ANSWER_S).close()
    except OSError as error:
        raise CobaltError(
            f'no Universal Robots controller answers at {host}, port {port}: is it on, and is this machine in its '
            f'network? ({error})'
        ) from error


def ask_dashboard(host: str, question: str, expected: str) -> None:
    """Asks for something over a connection of its own.

    Args:
        host: Address of the arm.
        question: Such as `stop`.
        expected: What the answer begins with when it is done.

    Raises:
        CobaltError: The arm does not answer, or refuses.
    """
    try:
        with (
            socket.create_connection((host, PORT), timeout=_ANSWER_S) as connection,
            connection.makefile('r', encoding='utf-8') as answers,
        ):
            answers.readline()  # it greets
            connection.sendall(f'{question}\n'.encode())
            answer = answers.readline().strip()
    except OSError as error:
        raise CobaltError(f"the arm at {host} does not answer '{question}' on its dashboard: {error}") from error
    if not answer.startswith(expected):
        raise CobaltError(f"the arm answers '{question}' with '{answer}'")
