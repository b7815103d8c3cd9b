"""Who may talk to a server that has no locks yet: this machine's own pages, and nobody else."""

import ipaddress
import socket
from urllib.parse import urlsplit

from cobalt_teleop.core.errors import CobaltError


class AddressError(CobaltError):
    """The bridge cannot listen where it was told to."""


def is_loopback(host: str) -> bool:
    """Returns whether a host name or address is this machine's loopback."""
    if host == 'localhost':
        return True
    try:
        return ipaddress.ip_address(host.strip('[]')).is_loopback
    except ValueError:
        return False


def listen(host: str, port: int) -> socket.socket:
    """Returns a socket that listens on a loopback address.

    Raises:
        AddressError: The address is not loopback, or the port is taken.
    """
    if not is_loopback(host):
        raise AddressError(
            f"parameter 'host' is {host!r}, but the bridge serves this machine alone until it has locks: "
            'use 127.0.0.1, ::1 or localhost'
        )
    address = '127.0.0.1' if host == 'localhost' else host.strip('[]')
    family = socket.AF_INET6 if ':' in address else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((address, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise AddressError(
            f'port {port} on {host} is not free ({error.strerror}): end the program that uses it, '
            "or give another by the parameter 'port'"
        ) from error
    listener.setblocking(False)
    return listener


def is_own_host(host_header: str) -> bool:
    """Returns whether a Host header names this machine: a foreign name that resolves here is DNS rebinding."""
    try:
        return is_loopback(urlsplit(f'//{host_header}').hostname or '')
    except ValueError:
        return False


def is_own_origin(origin: str | None, host_header: str) -> bool:
    """Returns whether a page of this server asks. A program that is no browser sends no Origin, and may ask."""
    return origin is None or origin == f'http://{host_header}'
