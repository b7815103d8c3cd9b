"""The door: decides for each page who it is, and whether it may come in. Lives in the event loop."""

import hashlib
import hmac
import os
import re
import secrets
import time
from collections.abc import Callable, Mapping

from cobalt_teleop.bridge.door.guest import Guest, Role
from cobalt_teleop.bridge.door.invitations import MAX_TOKEN_CHARACTERS, InvitationError, Invitations, TokenRefusedError
from cobalt_teleop.bridge.door.limits import DoorLimits, FailedTokens
from cobalt_teleop.bridge.door.state_folder import StateFolder
from cobalt_teleop.core.errors import CobaltError

TOKEN_VARIABLE = 'COBALT_TOKEN'
SHORTEST_TOKEN = 16

REFUSED = 'A valid link is needed to come in here. Ask whoever runs this robot for a new one.'
"""The same to everybody: a stranger learns nothing of why."""

TOO_MANY = 'Too many wrong links came from your address. Wait a minute, then load this page again.'

_OWNER_FILE = 'owner_token'
_OWNER_TOKEN = re.compile(rf'[A-Za-z0-9_-]{{{SHORTEST_TOKEN},{MAX_TOKEN_CHARACTERS}}}')


class OwnerTokenError(CobaltError):
    """The owner's token cannot be used."""


class EntryRefusedError(CobaltError):
    """Somebody may not come in; the message is what he is told."""


def owner_token(folder: StateFolder, environment: Mapping[str, str] = os.environ) -> str:
    """Returns the token of whoever runs the bridge: of the environment, or else one that is made once.

    Raises:
        OwnerTokenError: It is too short to be safe, or no text.
    """
    given = environment.get(TOKEN_VARIABLE)
    if given is not None:
        where, token = f'the environment variable {TOKEN_VARIABLE}', given.strip()
    else:
        where = str(folder.file(_OWNER_FILE))
        token = folder.made_once(_OWNER_FILE, secrets.token_urlsafe(32).encode()).decode(errors='replace').strip()
    if not _OWNER_TOKEN.fullmatch(token):
        raise OwnerTokenError(
            f'{where} holds a token of {len(token)} characters: it must have {SHORTEST_TOKEN} or more, '
            "letters, digits, '-' and '_' alone, such as: python3 -c 'import secrets; print(secrets.token_urlsafe())'"
        )
    return token


class Door:
    """Checks tokens in constant time, and tells strangers nothing.

    Args:
        owner: Token of whoever runs the bridge.
        invitations: Those whom he invites.
        limits: How many tries an address has.
        needs_token: Nobody comes in without one; if false, whoever comes without is the owner, on his own machine.
        log: Writes a line to the log of whoever runs the bridge.
        clock: Returns monotonic time [s].
    """

    def __init__(
        self,
        owner: str,
        invitations: Invitations,
        limits: DoorLimits,
        *,
        needs_token: bool,
        log: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.invitations = invitations
        self.needs_token = needs_token
        self._owner = hashlib.sha256(owner.encode()).digest()
        self._failed = FailedTokens(limits)
        self._tries = limits.failed_tokens
        self._log = log
        self._clock = clock

    def admit(self, token: str, address: str, *, session_id: str = '', forwarded: bool = False) -> Guest:
        """Returns whom a token lets in.

        Args:
            token: As it came; empty if none came.
            address: From which it came.
            session_id: Public id of the session that brings it.
            forwarded: It came through a proxy, so that a loopback address says nothing of who asks.

        Raises:
            EntryRefusedError: Nobody.
        """
        if not token and not self.needs_token and not forwarded:
            return Guest(role=Role.SUPERVISOR, at_the_machine=True)
        if not self._failed.may_try(address, self._clock()):
            raise EntryRefusedError(TOO_MANY)
        try:
            return self._guest(token, session_id)
        except (TokenRefusedError, InvitationError) as refusal:
            if not token:
                # Whoever types the address alone has not guessed at anything.
                raise EntryRefusedError(REFUSED) from refusal
            self._note_failure(address, str(refusal))
            raise EntryRefusedError(REFUSED) from refusal

    def is_still_welcome(self, guest: Guest) -> bool:
        """Returns whether somebody who is in may stay: until his invitation is revoked."""
        try:
            return not guest.invitation_id or self.invitations.is_open(guest.invitation_id)
        except InvitationError:
            return False

    def _guest(self, token: str, session_id: str) -> Guest:
        # Digests have one length: the time of their comparison tells nothing, not even how long the token is.
        if hmac.compare_digest(hashlib.sha256(token.encode(errors='replace')).digest(), self._owner):
            return Guest(role=Role.SUPERVISOR)
        return self.invitations.check(token, session_id)

    def _note_failure(self, address: str, reason: str) -> None:
        left = self._failed.note(address, self._clock())
        if left == 0:
            self._log(f'refused {address}: {reason}; it was the last try of this address for now')
        elif left == self._tries - 1:
            self._log(f'refused {address}: {reason}')
