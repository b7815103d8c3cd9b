"""Where the bridge listens."""

import ipaddress
import socket

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


def is_every_address(host: str) -> bool:
    """Returns whether a host stands for all addresses of this machine."""
    try:
        return ipaddress.ip_address(host.strip('[]')).is_unspecified
    except ValueError:
        return False


def address_of(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Returns the address that a host stands for.

    Raises:
        AddressError: It is neither an address nor localhost.
    """
    try:
        return ipaddress.ip_address('127.0.0.1' if host == 'localhost' else host.strip('[]'))
    except ValueError:
        raise AddressError(
            f"parameter 'host' is {host!r}, which is no address: use 127.0.0.1 for this machine alone, "
            '0.0.0.0 or :: for every network that it is in, or the address of one of them'
        ) from None


def listen(host: str, port: int) -> socket.socket:
    """Returns a socket that listens: on one address, or on all of them; `::` stands for those of IPv4 too.

    Raises:
        AddressError: The host is no address of this machine, or the port is taken.
    """
    address = address_of(host)
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if address.version == 6:
        listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, int(not address.is_unspecified))
    try:
        listener.bind((str(address), port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise AddressError(
            f'port {port} on {host} cannot be used ({error.strerror}): end the program that uses it, '
            "or give another by the parameter 'port', or an address of this machine by 'host'"
        ) from error
    listener.setblocking(False)
    return listener
