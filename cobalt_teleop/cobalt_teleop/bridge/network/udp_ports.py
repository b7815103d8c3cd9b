"""Keeps the UDP ports of media within a range, so that a firewall or a port forward can name them."""

import asyncio
import errno
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cobalt_teleop.core.errors import CobaltError

LEAST_PORTS = 8
"""A page has two connections, each with a port for every address of this machine; a new page of a session overlaps."""


class PortRangeError(CobaltError):
    """The range of ports cannot be used."""


@dataclass(frozen=True)
class PortRange:
    """UDP ports from `first` to `last`, both included."""

    first: int
    last: int

    def __str__(self) -> str:
        return f'{self.first}-{self.last}'

    def __len__(self) -> int:
        return self.last - self.first + 1


def port_range(text: str) -> PortRange | None:
    """Returns the range that a parameter holds; None if it is empty: any port.

    Raises:
        PortRangeError: It is malformed or too small.
    """
    if not text:
        return None
    match = re.fullmatch(r'(\d{1,5})-(\d{1,5})', text)
    if match is None:
        raise PortRangeError(f"parameter 'ice_udp_ports' is {text!r}, but must look like 50000-50199, or be empty")
    ports = PortRange(int(match[1]), int(match[2]))
    if not 1024 <= ports.first <= ports.last <= 65535 or len(ports) < LEAST_PORTS:
        raise PortRangeError(
            f"parameter 'ice_udp_ports' is {text!r}, but must be at least {LEAST_PORTS} ports within 1024 to 65535, "
            'such as 50000-50199'
        )
    return ports


class PortRangeLoop(asyncio.SelectorEventLoop):
    """An event loop whose datagram sockets come from a range wherever any port would do.

    aioice asks its loop for a socket on port 0 of each address of the machine and has no parameter for a range: this is
    the one place between it and the system.

    Args:
        ports: The range.
        on_full: Told once, in words, when a socket was wanted and every port of the range was taken.
    """

    def __init__(self, ports: PortRange, on_full: Callable[[str], None]) -> None:
        super().__init__()
        self._ports = ports
        self._on_full: Callable[[str], None] | None = on_full

    async def create_datagram_endpoint(self, *arguments: Any, **options: Any) -> Any:
        """As asyncio's, but port 0 means a free one of the range.

        Raises:
            OSError: Every port of the range is taken, or the address cannot be used.
        """
        local_addr = options.get('local_addr')
        if not isinstance(local_addr, tuple) or local_addr[1] != 0:
            return await super().create_datagram_endpoint(*arguments, **options)
        # At random: a port that was let go a moment ago may still be sent to by the page that used it.
        for port in random.sample(range(self._ports.first, self._ports.last + 1), len(self._ports)):
            try:
                wanted = {**options, 'local_addr': (local_addr[0], port)}
                return await super().create_datagram_endpoint(*arguments, **wanted)
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
        if self._on_full is not None:
            self._on_full(
                f"all UDP ports of 'ice_udp_ports' ({self._ports}) are taken: pages get no live video; widen the range"
            )
            self._on_full = None
        raise OSError(errno.EADDRINUSE, f'all UDP ports {self._ports} are taken')
