"""What a page asks for: checked, bounded, allowed or refused by its role, and done one thing at a time."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Protocol

from cobalt_teleop.bridge.door.guest import Role
from cobalt_teleop.bridge.host_services import ServiceError
from cobalt_teleop.bridge.operators.page_pace import MAX_AT_WORK, PagePace
from cobalt_teleop.bridge.operators.page_voice import PageVoice
from cobalt_teleop.bridge.wire.page_messages import PageMessage, PageMessageError, parse_signal

Work = Callable[[PageMessage], Awaitable[Any]]

OF_PAGES = frozenset({'stats', 'ping', 'answer', 'restart_control', 'restart_video'})
"""Said by pages, not by people: done at once, and nothing is said about it."""

OF_SUPERVISORS = frozenset({'overview', 'stop_all', 'release_stops', 'end_episode', 'give', 'send_away', 'invite'})

OF_THE_LOBBY = frozenset({'rename', 'watch', 'join_line', 'leave_line', 'here', 'pair'}) | OF_SUPERVISORS

_OF_OPERATORS = frozenset(
    {
        'acquire',
        'release',
        'hand_over',
        'start',
        'practise',
        'reset',
        'end',
        'home',
        'clear_emergency_stop',
        'join_line',
        'leave_line',
        'pair',
    }
)

_COSTLY = frozenset({'restart_control', 'restart_video', 'watch', 'rename', 'join_line', 'leave_line', 'pair'})
"""They make new connections, or tell something to everybody."""

_STOPS = frozenset({'emergency_stop', 'stop_all'})
"""They wait for nothing, and are always heard."""


class Asker(Protocol):
    """A session, as far as it asks."""

    @property
    def role(self) -> Role:
        """What it may do."""

    @property
    def full_name(self) -> str:
        """For the log."""

    def note_activity(self) -> None:
        """Its person has done something."""


class PageRequests:
    """Hears one page. Lives in the event loop.

    Args:
        asker: Whose page it is.
        work: What is done, by the type of the message.
        voice: Tells the page what came of it.
        pace: How fast it may speak.
        on_flood: Called once when it speaks much too fast.
        log: Writes a line to the node's log.
    """

    def __init__(
        self,
        asker: Asker,
        work: Mapping[str, Work],
        voice: PageVoice,
        pace: PagePace,
        on_flood: Callable[[], Awaitable[None]],
        log: Callable[[str], None],
    ) -> None:
        self._asker = asker
        self._work = work
        self._voice = voice
        self._pace = pace
        self._on_flood = on_flood
        self._log = log
        self._floods = False
        self._tasks: set[asyncio.Task[Any]] = set()
        self._acting = asyncio.Lock()

    def on_signal(self, text: str) -> None:
        """Takes a message of the WebSocket."""
        if not self._may(self._pace.may_say()):
            return
        try:
            message = parse_signal(text)
        except PageMessageError as error:
            self._voice.complain(error)
            return
        self._on_message(message)

    def on_event(self, data: str | bytes) -> None:
        """Takes a message of the events channel."""
        if isinstance(data, bytes):
            self._voice.complain(PageMessageError('the events channel takes text alone'))
            return
        self.on_signal(data)

    def may_sample(self) -> bool:
        """Counts a message of the samples channel; returns whether it may be heard. A page that floods is sent away."""
        return self._may(self._pace.may_sample())

    def may_have_again(self, fragments: int) -> bool:
        """Counts a request for video units, by what it costs; returns whether it may be heard, as `may_sample`."""
        return self._may(self._pace.may_have_again(fragments))

    def _may(self, granted: bool) -> bool:
        if not granted:
            self._end_flood()
        return granted

    def _end_flood(self) -> None:
        if not self._floods:
            self._floods = True
            self._log(f'{self._asker.full_name} sends too much at once, and is sent away')
            self._start(self._on_flood())

    def do(self, what: str, work: Callable[[], Awaitable[Any]]) -> None:
        """Does a thing for the page, after all that it has asked for before."""
        self._start(self._one_at_a_time(what, work))

    def close(self) -> None:
        """Drops what is at work."""
        for task in tuple(self._tasks):
            task.cancel()

    def _on_message(self, message: PageMessage) -> None:
        kind = message.type
        problem = self._problem(kind)
        if problem:
            self._voice.complain(PageMessageError(problem))
            return
        needed = self._needed(kind)
        if not self._asker.role.includes(needed):
            self._refuse(kind, needed)
            return
        work = partial(self._work[kind], message)
        if kind in OF_PAGES:
            self._start(work())
            return
        self._asker.note_activity()
        if kind in _STOPS:
            self._start(self._try(kind, work))
        else:
            self.do(kind, work)

    def _problem(self, kind: str) -> str:
        if kind not in self._work:
            return f"'{kind}' comes once, first"
        if kind in _COSTLY and not self._pace.may_change():
            return f"too many '{kind}' at once; wait a moment"
        if len(self._tasks) >= MAX_AT_WORK and kind not in _STOPS:
            return 'too much is at work for this page already; wait a moment'
        return ''

    def _needed(self, kind: str) -> Role:
        """Returns which role may ask for a thing. Everybody may look on, and stop the arm."""
        if kind in OF_SUPERVISORS:
            return Role.SUPERVISOR
        return Role.OPERATOR if kind in _OF_OPERATORS else Role.SPECTATOR

    def _refuse(self, what: str, needed: Role) -> None:
        if self._voice.may_complain():
            role = self._asker.role
            self._log(f'{self._asker.full_name}, a {role}, was refused {what}')
            self._voice.notice(f'you are here as {role}: that takes an invitation as {needed}')

    async def _one_at_a_time(self, what: str, work: Callable[[], Awaitable[Any]]) -> None:
        async with self._acting:
            await self._try(what, work)

    async def _try(self, what: str, work: Callable[[], Awaitable[Any]]) -> None:
        try:
            await work()
        except ServiceError as error:
            self._voice.notice(str(error))
        else:
            self._voice.tell({'type': 'done', 'what': what})

    def _start(self, work: Awaitable[Any]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
