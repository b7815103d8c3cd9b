"""Invitations: signed links that let somebody in, in one role, until a time, and until they are revoked.

A token is `payload.signature`, both in base64url without padding: the payload is compact JSON, the signature
HMAC-SHA256 (RFC 2104) over the encoded payload, under a secret of this installation. A register of who was invited is
kept beside that secret, so that an invitation can be listed, revoked, and bound to the first session that uses it.
"""

import base64
import binascii
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from cobalt_teleop.bridge.door.guest import Guest, Role
from cobalt_teleop.bridge.door.state_folder import StateFolder
from cobalt_teleop.core.errors import CobaltError

MAX_TOKEN_CHARACTERS = 1024
MAX_LIFETIME_S = 366 * 86400.0
MAX_NAME_CHARACTERS = 60
MAX_KEPT = 2000
KEPT_AFTER_S = 7 * 86400.0
"""Whoever is in when his invitation expires may stay; for so long it can still be revoked [s]."""

_REGISTER = 'invitations.json'
_SECRET = 'invitation_secret'


class InvitationError(CobaltError):
    """An invitation cannot be issued as asked for, or is not there."""


class TokenRefusedError(CobaltError):
    """A token lets nobody in. The message is for the log of whoever runs the bridge, never for the stranger."""


@dataclass(frozen=True, kw_only=True)
class Invitation:
    """One line of the register.

    Attributes:
        id: Its public name.
        role: What it allows.
        task: What it is for; empty for any task.
        name: Of the guest; empty if he may choose one.
        expires_s: Unix time [s].
        single_use: It belongs to the first session that uses it.
        used_by: Public id of that session; empty until then.
        invited_by: Id of the invitation of who issued it; empty for the owner.
        revoked: It lets nobody in any more.
    """

    id: str
    role: str
    task: str
    name: str
    expires_s: float
    single_use: bool = False
    used_by: str = ''
    invited_by: str = ''
    revoked: bool = False


class Invitations:
    """Issues, checks and revokes invitations. Several processes may share a folder: each sees what another revokes.

    Args:
        folder: Keeps the secret and the register.
        clock: Returns Unix time [s].
    """

    def __init__(self, folder: StateFolder, clock: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._clock = clock
        self._secret = folder.secret(_SECRET)
        self._seen: tuple[int, int] | None = None
        self._register: dict[str, Invitation] = {}

    def issue(
        self,
        role: Role,
        task: str,
        lifetime_s: float,
        name: str = '',
        *,
        single_use: bool = False,
        invited_by: str = '',
    ) -> str:
        """Returns the token of a new invitation.

        Args:
            role: What the guest may do.
            task: What he is invited for; empty for any task.
            lifetime_s: How long it lets him in [s].
            name: Shown to others; empty if he may choose one.
            single_use: It belongs to the first session that uses it, and to nobody who copies the link.
            invited_by: Id of the invitation of who issues it, with which it ends; empty for the owner.

        Raises:
            InvitationError: A value cannot be.
        """
        if not 0.0 < lifetime_s <= MAX_LIFETIME_S:
            raise InvitationError(
                f'an invitation lasts more than 0 and at most {MAX_LIFETIME_S / 3600:.0f} hours, '
                f'not {lifetime_s / 3600:g}'
            )
        for what, text in (('name', name), ('task', task)):
            if len(text) > MAX_NAME_CHARACTERS or not text.isprintable():
                raise InvitationError(
                    f'the {what} of an invitation has at most {MAX_NAME_CHARACTERS} printable characters, not {text!r}'
                )
        invitation = Invitation(
            id=secrets.token_hex(5),
            role=str(role),
            task=task,
            name=name,
            expires_s=float(round(self._clock() + lifetime_s)),
            single_use=single_use,
            invited_by=invited_by,
        )
        self._change(lambda register: register | {invitation.id: invitation})
        payload = _encoded(json.dumps(_claims(invitation), separators=(',', ':'), ensure_ascii=False).encode())
        return f'{payload}.{self._signature(payload)}'

    def check(self, token: str, session_id: str = '') -> Guest:
        """Returns whom a token lets in.

        Args:
            token: As it came.
            session_id: Public id of the session that brings it; a single-use invitation is bound to it from now on.

        Raises:
            TokenRefusedError: Its signature is wrong, its time is over, it was revoked, or it is another session's.
        """
        claims = self._verified(token)
        invitation_id, name = claims['id'], claims['name']
        whose = f'invitation {invitation_id}' + (f' of {name}' if name else '')
        if claims['exp'] <= self._clock():
            raise TokenRefusedError(f'{whose} has expired')
        if not self.is_open(invitation_id):
            raise TokenRefusedError(f'{whose} was revoked')
        kept = self._read()[invitation_id]
        if kept.single_use and (not session_id or kept.used_by != session_id):
            self._bind(invitation_id, session_id, whose)
        return Guest(
            role=Role(claims['role']),
            name=name,
            task=claims['task'],
            invitation_id=invitation_id,
            expires_s=float(claims['exp']),
        )

    def revoke(self, invitation_id: str) -> Invitation:
        """Has an invitation let nobody in any more; returns it.

        Raises:
            InvitationError: There is no such invitation.
        """

        def revoked(register: dict[str, Invitation]) -> dict[str, Invitation]:
            if invitation_id not in register:
                known = ', '.join(register) or 'none'
                raise InvitationError(f'there is no invitation {invitation_id!r}; there are {known}')
            return register | {invitation_id: replace(register[invitation_id], revoked=True)}

        return self._change(revoked)[invitation_id]

    def is_open(self, invitation_id: str) -> bool:
        """Returns whether an invitation was not revoked, nor that of who issued it; its time may be over."""
        register = self._read()
        kept = register.get(invitation_id)
        while kept is not None and not kept.revoked and kept.invited_by:
            kept = register.get(kept.invited_by)
        return kept is not None and not kept.revoked

    def issued(self) -> list[Invitation]:
        """Returns the invitations that have not expired, oldest first."""
        return [invitation for invitation in self._read().values() if invitation.expires_s > self._clock()]

    def _signature(self, payload: str) -> str:
        return _encoded(hmac.digest(self._secret, b'cobalt invitation 1:' + payload.encode(), hashlib.sha256))

    def _verified(self, token: str) -> dict[str, Any]:
        if len(token) > MAX_TOKEN_CHARACTERS or not token.isascii():
            raise TokenRefusedError('a token is too long or holds odd characters')
        payload, _, signature = token.partition('.')
        if not hmac.compare_digest(signature, self._signature(payload)):
            raise TokenRefusedError('a token has no signature of this installation')
        try:
            # The signature is ours, and so is what it covers.
            return dict(json.loads(_decoded(payload)))
        except (ValueError, RecursionError, binascii.Error) as error:
            raise TokenRefusedError('a token cannot be read') from error

    def _bind(self, invitation_id: str, session_id: str, whose: str) -> None:
        if not session_id:
            raise TokenRefusedError(f'{whose} is for one session, and none was named')

        def bound(register: dict[str, Invitation]) -> dict[str, Invitation]:
            kept = register.get(invitation_id)
            if kept is None or (kept.used_by and kept.used_by != session_id):
                raise TokenRefusedError(f'{whose} is for one session, and another one has used it')
            return register | {invitation_id: replace(kept, used_by=session_id)}

        self._change(bound)

    def _read(self) -> dict[str, Invitation]:
        """Returns the register, read anew if another process has written it."""
        try:
            found = self._folder.file(_REGISTER).stat()
        except FileNotFoundError:
            return {}
        state = (found.st_mtime_ns, found.st_ino)
        if state != self._seen:
            self._register = _parsed(self._folder.read(_REGISTER))
            self._seen = state
        return self._register

    def _change(self, change: Callable[[dict[str, Invitation]], dict[str, Invitation]]) -> dict[str, Invitation]:
        with self._folder.locked(_REGISTER):
            register = change(dict(self._read()))
            kept = self._worth_keeping(register)
            if len(kept) > MAX_KEPT:
                raise InvitationError(f'{MAX_KEPT} invitations are out; wait until some expire, or make shorter ones')
            self._folder.write(_REGISTER, json.dumps([asdict(invitation) for invitation in kept], indent=1).encode())
        return register

    def _worth_keeping(self, register: dict[str, Invitation]) -> list[Invitation]:
        forget_s = self._clock() - KEPT_AFTER_S
        kept: list[Invitation] = []
        issuers = set()
        for invitation in reversed(register.values()):  # whoever issued one stands before it
            if invitation.expires_s > forget_s or invitation.id in issuers:
                kept.insert(0, invitation)
                issuers.add(invitation.invited_by)
        return kept


def _parsed(content: bytes | None) -> dict[str, Invitation]:
    try:
        return {entry['id']: Invitation(**entry) for entry in json.loads(content or b'[]')}
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise InvitationError(
            f'the register of invitations ({_REGISTER} in the state folder) is damaged: '
            'remove it, and no invitation is valid any more'
        ) from error


def _claims(invitation: Invitation) -> dict[str, Any]:
    return {
        'id': invitation.id,
        'role': invitation.role,
        'task': invitation.task,
        'name': invitation.name,
        'exp': int(invitation.expires_s),
    }


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b'=').decode()


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + '=' * (-len(text) % 4))
