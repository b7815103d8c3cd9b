"""STUN and TURN servers for both ends of a connection: those that the parameters name, and no others."""

import base64
import hashlib
import hmac
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from aiortc import RTCBundlePolicy, RTCConfiguration, RTCIceServer
from aiortc.rtcicetransport import parse_stun_turn_uri

from cobalt_teleop.core.errors import CobaltError

SECRET_VARIABLE = 'COBALT_TURN_SECRET'
USER_VARIABLE = 'COBALT_TURN_USER'
PASSWORD_VARIABLE = 'COBALT_TURN_PASSWORD'

OWN_NAME = 'bridge'
"""Name in the credentials that the bridge uses itself."""


class IceError(CobaltError):
    """The parameters or the environment name servers that cannot be used."""


class TurnLogin(Protocol):
    """How to log in at the TURN servers."""

    def credentials(self, name: str, now_s: float) -> tuple[str, str]:
        """Returns a user name and a password.

        Args:
            name: Of the session that uses them.
            now_s: Unix time [s].
        """


@dataclass(frozen=True)
class SharedSecret:
    """Short-lived credentials made from a secret that the TURN server knows too: coturn's `use-auth-secret`.

    The user name is `<expiry as Unix time>:<session>`, the password the Base64 of its HMAC-SHA1 under the secret
    (draft-uberti-behave-turn-rest-00).

    Attributes:
        secret: coturn's `static-auth-secret`.
        lifetime_s: How long credentials let a page in [s]; a connection that stands outlives them.
    """

    secret: str = field(repr=False)
    lifetime_s: float

    def credentials(self, name: str, now_s: float) -> tuple[str, str]:
        """See TurnLogin."""
        user = f'{int(now_s + self.lifetime_s)}:{name}'
        digest = hmac.new(self.secret.encode(), user.encode(), hashlib.sha1).digest()
        return user, base64.b64encode(digest).decode()


@dataclass(frozen=True)
class FixedLogin:
    """One user for all sessions: coturn's `user`. Whoever gets a page learns it, and it does not expire."""

    user: str
    password: str = field(repr=False)

    def credentials(self, name: str, now_s: float) -> tuple[str, str]:
        """See TurnLogin."""
        return self.user, self.password


def login_from(environment: Mapping[str, str], lifetime_s: float) -> TurnLogin | None:
    """Returns the login that the environment holds, or None.

    Raises:
        IceError: It holds two, or half of one.
    """
    secret = environment.get(SECRET_VARIABLE, '')
    user, password = environment.get(USER_VARIABLE, ''), environment.get(PASSWORD_VARIABLE, '')
    if secret and (user or password):
        raise IceError(f'{SECRET_VARIABLE} and {USER_VARIABLE} are both set: unset the one that the TURN server lacks')
    if bool(user) != bool(password):
        missing = PASSWORD_VARIABLE if user else USER_VARIABLE
        raise IceError(f'{missing} is not set, but {USER_VARIABLE} and {PASSWORD_VARIABLE} go together: set both')
    if secret:
        return SharedSecret(secret, lifetime_s)
    return FixedLogin(user, password) if user else None


def _check(parameter: str, url: str, schemes: Sequence[str]) -> None:
    try:
        scheme = str(parse_stun_turn_uri(url)['scheme'])
    except (ValueError, KeyError):
        scheme = ''
    if scheme not in schemes:
        example = 'stun:stun.example.org:3478' if 'stun' in schemes else 'turn:turn.example.org:3478?transport=udp'
        raise IceError(
            f"parameter '{parameter}' holds {url!r}, which is no address of such a server: "
            f'it begins with {" or ".join(scheme + ":" for scheme in schemes)} and looks like {example}'
        )


class IceServers:
    """The STUN and TURN servers of an installation; none unless they are named.

    The page uses all of them. The bridge's own end asks the first STUN server and the first TURN server that serve it
    (aiortc knows one of each).

    Args:
        stun_urls: Such as `stun:stun.example.org:3478`.
        turn_urls: Such as `turn:turn.example.org:3478?transport=udp`.
        login: At the TURN servers.

    Raises:
        IceError: An address is malformed, or a TURN server is named without a login.
    """

    def __init__(
        self, stun_urls: Sequence[str] = (), turn_urls: Sequence[str] = (), login: TurnLogin | None = None
    ) -> None:
        for url in stun_urls:
            _check('stun_urls', url, ('stun',))
        for url in turn_urls:
            _check('turn_urls', url, ('turn', 'turns'))
        if turn_urls and login is None:
            raise IceError(
                "parameter 'turn_urls' names a server, but no login for it is in the environment: "
                f'set {SECRET_VARIABLE} to its static-auth-secret, or {USER_VARIABLE} and {PASSWORD_VARIABLE}'
            )
        self.stun_urls = tuple(stun_urls)
        self.turn_urls = tuple(turn_urls)
        self._login = login
        self._left_out: frozenset[str] = frozenset()

    def leave_out(self, urls: Iterable[str]) -> None:
        """The bridge's own end asks these no more: each connection would wait seconds for one that does not answer."""
        self._left_out = frozenset(urls)

    def for_page(self, name: str) -> list[dict[str, object]]:
        """Returns the list that a page gives to RTCPeerConnection, with credentials made now.

        Args:
            name: Of the session.
        """
        return [{'urls': list(urls), **login} for urls, login in self._logins(name)]

    def _logins(self, name: str) -> Iterator[tuple[tuple[str, ...], dict[str, str]]]:
        if self.stun_urls:
            yield self.stun_urls, {}
        if self.turn_urls and self._login is not None:
            user, password = self._login.credentials(name, time.time())
            yield self.turn_urls, {'username': user, 'credential': password}

    def configuration(self) -> RTCConfiguration:
        """Returns the configuration of the bridge's end, with credentials made now.

        The list is always explicit: without one, aiortc would ask a public server.
        """
        servers = [
            RTCIceServer(url, **login)
            for urls, login in self._logins(OWN_NAME)
            for url in urls
            if url not in self._left_out
        ]
        return RTCConfiguration(iceServers=servers, bundlePolicy=RTCBundlePolicy.MAX_BUNDLE)
