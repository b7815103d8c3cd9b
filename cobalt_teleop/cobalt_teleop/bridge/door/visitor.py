"""Who asks, as far as a request tells."""

import ipaddress
from dataclasses import dataclass

from aiohttp import web

from cobalt_teleop.bridge.door.listening import is_loopback

_FORWARDED = ('Forwarded', 'X-Forwarded-For', 'X-Forwarded-Host', 'X-Real-IP', 'Via')


@dataclass(frozen=True)
class Visitor:
    """Whoever has sent a request.

    Attributes:
        address: From which it came.
        forwarded: A proxy has passed it on, so that coming from loopback says nothing.
        token: In its head, as programs send it; empty if none.
    """

    address: str
    forwarded: bool
    token: str


def visitor_of(request: web.Request) -> Visitor:
    """Returns who asks. Only a proxy on this machine is believed when it tells for whom it asks."""
    address = request.remote or ''
    forwarded = any(name in request.headers for name in _FORWARDED)
    if forwarded and is_loopback(address):
        # The last one was written by our own proxy, those before it by whoever asked.
        told = request.headers.getall('X-Forwarded-For', [''])[-1].rpartition(',')[2].strip()
        address = told if _is_address(told) else address
    scheme, _, token = request.headers.get('Authorization', '').partition(' ')
    return Visitor(address, forwarded, token.strip() if scheme.lower() == 'bearer' else '')


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
