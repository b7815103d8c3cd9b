"""Tells pages the address under which a port forward, a cloud or a container host lets this machine be reached."""

import ipaddress
import re
from collections.abc import Sequence

from cobalt_teleop.core.errors import CobaltError

_HOST_CANDIDATE = re.compile(
    r'^a=candidate:(?P<foundation>\S+) (?P<component>\d+) udp (?P<priority>\d+) '
    r'(?P<address>\S+) (?P<port>\d+) typ host',
    re.IGNORECASE,
)


class AnnouncedAddressError(CobaltError):
    """An announced address is none."""


def announced_addresses(texts: Sequence[str]) -> tuple[str, ...]:
    """Returns the addresses that a parameter holds.

    Raises:
        AnnouncedAddressError: One is no IP address.
    """
    for text in texts:
        try:
            ipaddress.ip_address(text)
        except ValueError as error:
            raise AnnouncedAddressError(
                f"parameter 'announced_addresses' holds {text!r}, but must be an IP address such as 203.0.113.7: "
                'browsers take no names here'
            ) from error
    return tuple(texts)


def announce(sdp: str, addresses: Sequence[str]) -> str:
    """Returns an offer in which each port of this machine is a candidate at the announced addresses too.

    The port is the same outside: a forward must keep it. The candidates of this machine's own addresses stay, for pages
    on its own network.

    Args:
        sdp: An offer with candidates.
        addresses: Where this machine is reached from outside.
    """
    lines: list[str] = []
    for line in sdp.splitlines():
        lines.append(line)
        match = _HOST_CANDIDATE.match(line)
        if match is None:
            continue
        version = ipaddress.ip_address(match['address']).version
        for number, address in enumerate(addresses):
            if ipaddress.ip_address(address).version == version and address != match['address']:
                # Below this machine's own, so that pages beside it do not go round by the forward.
                priority = max(1, int(match['priority']) - (1 << 16) - number)
                foundation = f'{match["foundation"]}a{number}'
                lines.append(
                    f'a=candidate:{foundation} {match["component"]} udp {priority} {address} {match["port"]} typ host'
                )
    return '\r\n'.join(lines) + '\r\n' if lines else sdp
