"""Codes by which a second device, such as a phone beside a laptop, joins the session of a page."""

import hashlib
import secrets
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace

PREFIX = 'pair.'
"""Of a code, where a page otherwise shows the token of a link."""

LIFETIME_S = 600.0
"""A code that nobody has used is void after this [s]."""

MOST_UNUSED = 4
"""Codes of a session that nobody has used yet."""

MOST_USED = 4
"""Devices that are paired with a session, whether they are here or not."""


@dataclass(frozen=True, kw_only=True)
class KnownPairing:
    """A code, as it is kept also across a restart.

    Attributes:
        code_sha256: Of the code, which is 128 random bits: who reads this can neither find the code nor use it.
        session_id: Of the session that it joins.
        device: Public id of the device that it belongs to; empty while nobody has used it.
        expires_s: Unix time after which it is void if nobody has used it [s].
    """

    code_sha256: str
    session_id: str
    device: str
    expires_s: float


class Pairings:
    """Issues codes, and knows whose session each joins. A code belongs to the first device that brings it.

    Args:
        clock: Returns Unix time [s].
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._pairings: dict[str, KnownPairing] = {}

    @property
    def known(self) -> tuple[KnownPairing, ...]:
        """All that are not void, to be restored in a later run."""
        self._drop_void()
        return tuple(self._pairings.values())

    def restore(self, known: Iterable[KnownPairing], sessions: Collection[str]) -> None:
        """Takes over what an earlier run knew of some sessions."""
        self._pairings = {one.code_sha256: one for one in known if one.session_id in sessions}
        self._drop_void()

    def issue(self, session_id: str) -> str:
        """Returns a new code for a session; of many that nobody uses, the oldest is void."""
        self._drop_void()
        self._drop_oldest(self._of(session_id, used=False), MOST_UNUSED - 1)
        code = PREFIX + secrets.token_urlsafe(16)
        digest = _digest(code)
        self._pairings[digest] = KnownPairing(
            code_sha256=digest, session_id=session_id, device='', expires_s=self._clock() + LIFETIME_S
        )
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
        # The device that came last is the last one to be forgotten, and needs no older code.
        used = self._of(pairing.session_id, used=True)
        self._drop_oldest([one for one in used if one.device == device], 0)
        self._drop_oldest([one for one in used if one.device != device], MOST_USED - 1)
        self._pairings.pop(pairing.code_sha256, None)
        self._pairings[pairing.code_sha256] = replace(pairing, device=device)
        return pairing.session_id

    def forget(self, session_id: str) -> None:
        """A session has ended: its codes are void."""
        self._pairings = {digest: one for digest, one in self._pairings.items() if one.session_id != session_id}

    def _of(self, session_id: str, *, used: bool) -> list[KnownPairing]:
        return [one for one in self._pairings.values() if one.session_id == session_id and bool(one.device) is used]

    def _drop_oldest(self, pairings: list[KnownPairing], kept: int) -> None:
        for one in pairings[: max(0, len(pairings) - kept)]:
            del self._pairings[one.code_sha256]

    def _drop_void(self) -> None:
        now_s = self._clock()
        self._pairings = {digest: one for digest, one in self._pairings.items() if one.device or one.expires_s > now_s}


def _digest(code: str) -> str:
    return hashlib.sha256(b'cobalt pairing ' + code.encode(errors='replace')).hexdigest()
