"""The names and addresses under which this machine may be asked for."""

import ipaddress
import socket
import time
from collections.abc import Callable, Iterable, Sequence
from urllib.parse import urlsplit

import ifaddr

from cobalt_teleop.bridge.door.listening import AddressError, is_loopback

_LOOK_AGAIN_S = 5.0


def machine_addresses() -> list[str]:
    """Returns this machine's addresses, those of a local network first, loopback last."""
    found = set()
    for adapter in ifaddr.get_adapters():
        for ip in adapter.ips:
            found.add(ip.ip if isinstance(ip.ip, str) else ip.ip[0].partition('%')[0])
    return sorted(found, key=_nearness)


def _nearness(text: str) -> tuple[bool, bool, bool, bool, str]:
    address = ipaddress.ip_address(text)
    # Bridges of containers and virtual machines are mostly in 172.16/12, and nobody is there to come from.
    inner = address.version == 4 and address in ipaddress.ip_network('172.16.0.0/12')
    return (address.is_loopback, address.is_link_local, address.version == 6, inner, text)


def machine_names() -> list[str]:
    """Returns this machine's host names: its own, in full, and as multicast DNS gives it on a local network."""
    own = socket.gethostname().lower()
    short = own.partition('.')[0]
    names = [own, socket.getfqdn().lower(), f'{short}.local', 'localhost']
    return [name for name in dict.fromkeys(names) if _is_name(name)]


def _is_name(name: str) -> bool:
    letters = 'abcdefghijklmnopqrstuvwxyz0123456789-'
    labels = name.split('.')
    return len(name) <= 253 and all(
        0 < len(label) <= 63 and set(label) <= set(letters) and label[0] != '-' != label[-1] for label in labels
    )


def matches(pattern: str, name: str) -> bool:
    """Returns whether a name of a certificate, perhaps `*.example.org`, covers a host name (RFC 6125, 6.4.3)."""
    if pattern.startswith('*.'):
        first, _, rest = name.partition('.')
        return bool(first) and rest == pattern[2:]
    return pattern == name


def host_of_public_name(name: str) -> str:
    """Returns the host of a name such as `robot.example.org` or `robot.example.org:8443`.

    Raises:
        AddressError: It is none.
    """
    try:
        parts = urlsplit(f'//{name}')
        host, _ = (parts.hostname or '').rstrip('.'), parts.port
    except ValueError:
        host = ''
    if not (_is_address(host) or _is_name(host)) or parts.netloc != name or '@' in name:
        raise AddressError(
            f"parameter 'public_names' has {name!r}: it takes host names or addresses, with a port where it is not "
            'the usual one, such as robot.example.org:8443'
        )
    return host


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


class OwnNames:
    """Tells this server's own names from foreign ones: a foreign name that resolves here is DNS rebinding.

    Args:
        public_names: Names beside the machine's: of its certificate, and those that a proxy or a port forward has.
        off_loopback: Names and addresses of the machine count; if false, loopback's alone do.
        secure: Pages come by https.
        addresses: Returns the machine's addresses; they change with its network.
        clock: Returns monotonic time [s].
    """

    def __init__(
        self,
        public_names: Sequence[str],
        *,
        off_loopback: bool,
        secure: bool,
        addresses: Callable[[], Iterable[str]] = machine_addresses,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._public = tuple(name.lower() for name in public_names)
        self._off_loopback = off_loopback
        self._secure = secure
        self._addresses = addresses
        self._clock = clock
        self._known: frozenset[str] = frozenset()
        self._looked_s = float('-inf')

    def is_own_host(self, host_header: str) -> bool:
        """Returns whether a Host header names this server."""
        try:
            name = (urlsplit(f'//{host_header}').hostname or '').rstrip('.')
        except ValueError:
            return False
        return bool(name) and (self._is_public(name) or is_loopback(name) or self._is_machine(name))

    def is_own_origin(self, origin: str | None, host_header: str) -> bool:
        """Returns whether a page of this server asks. A program that is no browser sends no Origin, and may ask."""
        if origin is None:
            return True
        host_header = host_header.lower()
        if origin == f'{"https" if self._secure else "http"}://{host_header}':
            return True
        # A proxy on this machine ends TLS in our place.
        return not self._secure and origin == f'https://{host_header}' and self._is_public(_host_name(host_header))

    def _is_public(self, name: str) -> bool:
        return any(matches(pattern, name) for pattern in self._public)

    def _is_machine(self, name: str) -> bool:
        if not self._off_loopback:
            return False
        if name not in self._known and self._clock() - self._looked_s > _LOOK_AGAIN_S:
            self._looked_s = self._clock()
            self._known = frozenset([*machine_names(), *self._addresses()])
        return name in self._known


def _host_name(host_header: str) -> str:
    try:
        return urlsplit(f'//{host_header}').hostname or ''
    except ValueError:
        return ''
