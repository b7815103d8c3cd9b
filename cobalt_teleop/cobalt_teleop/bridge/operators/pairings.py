"""Codes by which a second device, such as a phone beside a laptop, joins the session of a page."""

import hashlib
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

PREFIX = 'pair.'
"""Of a code, where a page otherwise shows the token of a link."""

LIFETIME_S = 600.0
"""A code that nobody has used is void after this [s]."""

MOST_OF_SESSION = 4
"""Codes that nobody has used yet."""


@dataclass(kw_only=True)
class _Pairing:
    session_id: str
    expires_s: float
    device: str = ''


class Pairings:
    """Issues codes, and knows whose session each joins. A code belongs to the first device that brings it.

    Args:
        clock: Returns monotonic time [s].
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._pairings: dict[bytes, _Pairing] = {}

    def issue(self, session_id: str) -> str:
        """Returns a new code for a session; of many that nobody uses, the oldest is void."""
        self._drop_void()
        unused = [digest for digest, one in self._pairings.items() if one.session_id == session_id and not one.device]
        for digest in unused[: max(0, len(unused) - MOST_OF_SESSION + 1)]:
            del self._pairings[digest]
        code = PREFIX + secrets.token_urlsafe(16)
        expires_s = self._clock() + LIFETIME_S
        self._pairings[_digest(code)] = _Pairing(session_id=session_id, expires_s=expires_s)
        return code

    def session_of(self, code: str, device: str) -> str | None:
        """Returns the session that a device joins by a code; None if the code is none, void, or another device's.

        Args:
            code: As it came.
            device: Public id of what the device brings as its key; it is bound to the code from now on.
        """
        self._drop_void()
        # Looked up by a digest: the time that it takes tells nothing of how near a guess came.
        pairing = self._pairings.get(_digest(code))
        if pairing is None or not device or pairing.device not in ('', device):
            return None
        pairing.device = device
        return pairing.session_id

    def forget(self, session_id: str) -> None:
        """A session has ended: its codes are void."""
        self._pairings = {digest: one for digest, one in self._pairings.items() if one.session_id != session_id}

    def _drop_void(self) -> None:
        now_s = self._clock()
        self._pairings = {digest: one for digest, one in self._pairings.items() if one.device or one.expires_s > now_s}


def _digest(code: str) -> bytes:
    return hashlib.sha256(code.encode(errors='replace')).digest()
