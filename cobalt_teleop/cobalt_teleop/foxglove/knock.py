"""What the head of a connection says: who knocks, at whose door, and with which token."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from cobalt_teleop.core.errors import CobaltError

_SHOWN_LETTERS = 100
_OF_A_PROXY = ('forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via')


class KnockError(CobaltError):
    """A connection is refused; the message says why."""


@dataclass(frozen=True, kw_only=True)
class Knock:
    """The head of a request for a WebSocket.

    Attributes:
        head: To be passed on: without the token.
        hosts: For which host it asks.
        origins: Of the page that asks; empty for a program that is no browser.
        token: From the address, as in `ws://127.0.0.1:8765/?token=...`; empty if none.
        forwarded: It came through a proxy.
    """

    head: bytes
    hosts: tuple[str, ...]
    origins: tuple[str, ...]
    token: str
    forwarded: bool

    def check(self, is_own_host: Callable[[str], bool], origins: Sequence[str]) -> None:
        """Checks whom it asks for and which page asks: a foreign host that resolves here is DNS rebinding.

        Raises:
            KnockError: It may not pass.
        """
        if len(self.hosts) != 1 or not is_own_host(self.hosts[0]):
            raise KnockError(f'it asks for the host {_shown(self.hosts)}, which is not this machine')
        foreign = [origin for origin in self.origins if origin not in origins]
        if foreign:
            raise KnockError(
                f"pages of {_shown(foreign)} may not connect; the parameter 'origins' names those that may"
            )


def knock_of(head: bytes) -> Knock:
    """Returns what a head says.

    Raises:
        KnockError: It is no request for a WebSocket.
    """
    request, *lines = head.removesuffix(b'\r\n\r\n').decode('latin-1').split('\r\n')
    fields: dict[str, list[str]] = {}
    for line in lines:
        name, colon, value = line.partition(':')
        if not colon or name != name.strip():
            raise KnockError('its request is no HTTP')
        fields.setdefault(name.lower(), []).append(value.strip())
    method, _, rest = request.partition(' ')
    target, _, version = rest.partition(' ')
    if method != 'GET' or version != 'HTTP/1.1' or fields.get('upgrade', [''])[0].lower() != 'websocket':
        raise KnockError('this port is for the WebSocket of Foxglove')
    try:
        tokens = parse_qs(urlsplit(target).query).get('token', [''])
    except ValueError:
        raise KnockError('its request is no HTTP') from None
    return Knock(
        head='\r\n'.join(['GET / HTTP/1.1', *lines, '', '']).encode('latin-1'),
        hosts=tuple(fields.get('host', ())),
        origins=tuple(fields.get('origin', ())),
        token=tokens[0],
        forwarded=any(name in fields for name in _OF_A_PROXY),
    )


def _shown(values: Sequence[str]) -> str:
    return repr(', '.join(values)[:_SHOWN_LETTERS])
