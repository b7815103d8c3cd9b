"""What of the lobby survives a restart of the bridge: who was where, and who waited."""

import asyncio
import hashlib
import hmac
import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from typing import Any, TypeVar

from cobalt_teleop.bridge.door.state_folder import StateFolder
from cobalt_teleop.bridge.operators.pairings import KnownPairing
from cobalt_teleop.bridge.operators.stop_record import KnownStop
from cobalt_teleop.core.errors import CobaltError

WRITE_AFTER_S = 0.2
"""Changes are gathered for so long [s]."""

FORGOTTEN_AFTER_S = 60.0
"""A bridge that was away for longer begins anew, but for stops: its pages have gone on, or are gone [s]."""


@dataclass(frozen=True, kw_only=True)
class KnownSession:
    """A session of an earlier run.

    Attributes:
        session_id: Its public name.
        key_sha256: Of its key, which is 128 random bits: who reads this can neither find the key nor be taken for its
            page.
        operator: Name shown to others.
        wanted_name: Name that its page asked for.
        colour: Shown to others.
        role: Of its guest.
        invitation_id: That let it in.
        wish: Workcell that its address names, or empty.
        workcell: Where its place was, or empty.
        watched: Where it was, or empty.
        wants_place: It has not given its place up.
    """

    session_id: str
    key_sha256: str
    operator: str
    wanted_name: str
    colour: int
    role: str
    invitation_id: str
    wish: str
    workcell: str
    watched: str
    wants_place: bool

    def is_opened_by(self, key: str) -> bool:
        """Returns whether a page's key is this session's."""
        return hmac.compare_digest(self.key_sha256, key_sha256(key))


@dataclass(frozen=True)
class LobbyState:
    """All sessions, the line in its order, who pressed the emergency stops that are on, and codes of second devices."""

    sessions: tuple[KnownSession, ...] = ()
    line: tuple[str, ...] = ()
    stops: tuple[KnownStop, ...] = ()
    pairings: tuple[KnownPairing, ...] = ()

    def to_bytes(self) -> bytes:
        """Returns the text of the file."""
        content = {
            'sessions': [asdict(session) for session in self.sessions],
            'line': list(self.line),
            'stops': [asdict(stop) for stop in self.stops],
            'pairings': [asdict(pairing) for pairing in self.pairings],
        }
        return json.dumps(content, indent=1).encode()


Known = TypeVar('Known', KnownSession, KnownStop, KnownPairing)


class LobbyStateError(CobaltError):
    """The file of an earlier run does not hold what it must."""


def key_sha256(key: str) -> str:
    """Returns what is kept of a session's key."""
    return hashlib.sha256(b'cobalt session ' + key.encode()).hexdigest()


def read_lobby_state(content: bytes) -> LobbyState:
    """Returns what an earlier run left.

    Raises:
        LobbyStateError: It is not of this kind.
    """
    try:
        found = json.loads(content)
        sessions = tuple(_known(KnownSession, entry) for entry in found['sessions'])
        stops = tuple(_known(KnownStop, entry) for entry in found['stops'])
        # An older bridge kept none.
        pairings = tuple(_known(KnownPairing, entry) for entry in found.get('pairings', ()))
        line = tuple(name for name in found['line'] if isinstance(name, str))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise LobbyStateError(
            f'the sessions of the last run cannot be read ({error}): pages come as new ones'
        ) from error
    return LobbyState(sessions, line, stops, pairings)


def _known(what: type[Known], entry: Any) -> Known:
    types = {field.name: field.type for field in fields(what)}
    if not isinstance(entry, dict) or entry.keys() != types.keys():
        raise ValueError(f'a {what.__name__} has {", ".join(types)}')
    if any(type(entry[name]) is not kind for name, kind in types.items()):
        raise ValueError(f'a field of a {what.__name__} is of another kind')
    return what(**entry)


class LobbyStateFile:
    """Keeps the newest state on disk. Lives in the event loop; writes in a thread.

    Args:
        folder: Where it lies.
        name: Of the file.
        state: Returns the state of now.
        log: Writes a line to the node's log.
    """

    def __init__(
        self, folder: StateFolder, name: str, state: Callable[[], LobbyState], log: Callable[[str], None]
    ) -> None:
        self._folder = folder
        self._name = name
        self._state = state
        self._log = log
        self._written = b''
        self._writing: asyncio.Task[None] | None = None
        self._again = False

    def read(self) -> LobbyState:
        """Returns what the last run left: stops alone if it is old; nothing if there was none, or none to be read."""
        try:
            content = self._folder.read(self._name)
            if content is None:
                return LobbyState()
            state = read_lobby_state(content)
            old = time.time() - self._folder.file(self._name).stat().st_mtime > FORGOTTEN_AFTER_S
            return LobbyState(stops=state.stops) if old else state
        except (CobaltError, OSError) as error:
            self._log(str(error))
            return LobbyState()

    def still_here(self) -> None:
        """Notes in the file that the state still holds; called every few seconds."""
        try:
            os.utime(self._folder.file(self._name))
        except OSError:
            pass  # it was never written, or cannot be, which the log tells

    def changed(self) -> None:
        """Has the state of soon written."""
        self._again = True
        if self._writing is None or self._writing.done():
            self._writing = asyncio.get_running_loop().create_task(self._write_soon())

    def write_now(self) -> None:
        """Writes the state of this moment."""
        self._write(self._state().to_bytes())

    async def _write_soon(self) -> None:
        while self._again:
            await asyncio.sleep(WRITE_AFTER_S)
            self._again = False
            await asyncio.to_thread(self._write, self._state().to_bytes())

    def _write(self, content: bytes) -> None:
        if content == self._written:
            return
        try:
            self._folder.write(self._name, content)
        except CobaltError as error:
            self._log(f'sessions are not kept: {error}')
        self._written = content
