"""One operator or spectator: his page and his workcell, and what he asks for. It outlives a reload of the page."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol

from aiohttp import web

from cobalt_interfaces.msg import ControlState
from cobalt_teleop.bridge.door.guest import Guest, Role
from cobalt_teleop.bridge.host_services import ServiceError
from cobalt_teleop.bridge.media.peer import PeerError
from cobalt_teleop.bridge.media.session_media import SessionMedia
from cobalt_teleop.bridge.metrics import Metrics
from cobalt_teleop.bridge.network.media_way import MediaWay
from cobalt_teleop.bridge.operators.control_requests import ControlRequests
from cobalt_teleop.bridge.operators.device_samples import link_stats
from cobalt_teleop.bridge.operators.episode_requests import EpisodeRequests
from cobalt_teleop.bridge.operators.page_pace import MAX_AT_WORK, PagePace
from cobalt_teleop.bridge.operators.room import Room
from cobalt_teleop.bridge.operators.sample_intake import Driver, SampleIntake
from cobalt_teleop.bridge.wire.page_events import Event, keyboard_event
from cobalt_teleop.bridge.wire.page_messages import PageMessage, PageMessageError, parse_signal


@dataclass(frozen=True, kw_only=True)
class SessionRules:
    """What all sessions keep.

    Attributes:
        service_timeout_s: How long a host may take to answer [s].
        episode_timeout_s: How long an episode may take to end before a reset gives up [s].
        require_recording: Refuse to start an episode that nobody records.
        adaptive_video: Video follows the viewers' links.
        way: How media finds its way.
        messages_per_s: A page may send, on average.
    """

    service_timeout_s: float
    episode_timeout_s: float
    require_recording: bool
    adaptive_video: bool
    way: MediaWay
    messages_per_s: float


_ALWAYS_HEARD = frozenset({'emergency_stop', 'stop_all'})

_SUPERVISION = frozenset({'overview', 'stop_all', 'release_stops', 'give', 'send_away', 'invite'})

_OF_THE_LOBBY = frozenset({'rename', 'watch', 'join_line', 'leave_line', 'here'}) | _SUPERVISION

_NEEDED_ROLES = dict.fromkeys(
    (
        'acquire',
        'release',
        'hand_over',
        'start',
        'reset',
        'end',
        'home',
        'clear_emergency_stop',
        'join_line',
        'leave_line',
    ),
    Role.OPERATOR,
) | dict.fromkeys(_SUPERVISION, Role.SUPERVISOR)
"""What only some may ask for. Everybody may look on, and stop the arm."""


class Reception(Protocol):
    """The lobby, as its sessions see it."""

    @property
    def metrics(self) -> Metrics:
        """Counts how links are."""

    def objection(self, session: 'Session') -> str:
        """Returns why a session may not take control where it is; empty if it may."""

    def took_control(self, session: 'Session') -> None:
        """A session has control."""

    def gave_control(self, session: 'Session') -> None:
        """A person has given control back, or handed it over."""

    async def serve(self, session: 'Session', message: PageMessage) -> None:
        """Does what a person asks of the lobby, or raises ServiceError with the reason."""

    async def send_away(self, session: 'Session', text: str) -> None:
        """Ends a session, and tells its page why."""


class Session:
    """What the bridge knows of one page, across reloads. Lives in the event loop.

    Args:
        session_id: Its public name.
        key: Kept by the page and by nobody else: it brings the session back after a reload.
        rules: What all sessions keep.
        reception: The lobby.
        log: Writes a line to the node's log.
    """

    def __init__(
        self, session_id: str, key: str, rules: SessionRules, reception: Reception, log: Callable[[str], None]
    ) -> None:
        self.session_id = session_id
        self.key = key
        self.guest = Guest(role=Role.SPECTATOR)
        self.operator = ''
        self.wanted_name = ''
        self.colour = 0
        self.room: Room | None = None
        self.wish = ''
        """The workcell that the page's address names, or empty."""
        self.watched = ''
        """Where it was in an earlier run of the bridge."""
        self.wants_place = True
        """It waits in line when it has no place."""
        self.last_active_s = time.monotonic()
        """When its person last did something."""
        self._rules = rules
        self._reception = reception
        self._log = log
        self._socket: web.WebSocketResponse | None = None
        self._media = SessionMedia(
            on_sample=self._on_sample,
            on_event=self._on_event,
            on_open=self._on_events_open,
            complain=self._complain,
            way=rules.way,
            name=session_id,
        )
        self._samples = SampleIntake(self._media, self._as_driver, self._complain, self._note_activity)
        self._control = ControlRequests(self, self._call, log)
        self._stats: PageMessage | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._acting = asyncio.Lock()
        self._episodes = EpisodeRequests(
            self._call, timeout_s=rules.episode_timeout_s, require_recording=rules.require_recording
        )
        self._complaints_s = 0.0
        self._pace = PagePace(rules.messages_per_s)
        self._floods = False
        self._news: dict[str, Event] = {}

    @property
    def lease_id(self) -> str:
        """The lease that this session holds, or empty."""
        return self._control.lease_id

    @property
    def asks(self) -> bool:
        """It has asked the holder for control and waits."""
        return self._control.asks

    @property
    def can_see(self) -> bool:
        """Its page can show the workcell's cameras."""
        return self.room is None or not self.room.cameras or self._media.shows_video

    @property
    def role(self) -> Role:
        """What it may do."""
        return self.guest.role

    @property
    def video(self) -> tuple[str, str]:
        """Road and codec of its video; empty without."""
        return (self._media.road, self._media.codec) if self.room is not None else ('', '')

    @property
    def report(self) -> PageMessage | None:
        """How the link is, as its page last told; None before it has."""
        return self._stats

    @property
    def connected(self) -> bool:
        """A page is there."""
        return self._socket is not None and not self._socket.closed

    # The page comes and goes.

    async def attach(self, socket: web.WebSocketResponse, hello: PageMessage) -> None:
        """Takes a page's connection; an older one of the same session is told and closed."""
        old, self._socket = self._socket, socket
        if old is not None and not old.closed:
            await _send(old, {'type': 'replaced', 'text': 'This session is open in another tab.'})
            await old.close()
        await self._media.drop()
        self._media.meet(hello)
        self._samples.restart()
        self._stats = None
        self._news.clear()
        self._note_activity()
        resume = self._samples.resume
        self.tell(
            {
                'type': 'session',
                'session': self.session_id,
                'key': self.key,
                'sequence': resume.sequence,
                'clutch_epoch': resume.clutch_epoch,
                'press_counts': list(resume.press_counts),
            }
        )
        self.tell(keyboard_event())
        self.tell_self()
        if self.lease_id and not self._may(Role.OPERATOR):
            await self._control.release_quietly()

    async def detach(self, socket: web.WebSocketResponse) -> bool:
        """The page's connection is gone; returns whether it was the session's present one."""
        if self._socket is not socket:
            return False
        self._socket = None
        await self._media.drop()
        if self.room is not None:
            self.room.tell_viewers()
        return True

    async def enter(self, room: Room) -> None:
        """Goes to a workcell and offers its video."""
        if self.room is not room:
            await self.leave()
            self.room = room
        room.enter(self)
        room.tell_all_to(self)
        await self.offer_media()

    async def leave(self) -> None:
        """Gives control back and leaves the workcell."""
        await self._media.drop()
        room = self.room
        if room is not None:
            await self._control.release_quietly()
            if self.room is room:  # nobody else has led it out meanwhile
                self.room = None
            room.leave(self)

    def release_at_exit(self) -> None:
        """Gives control back as the bridge ends."""
        self._control.release_at_exit()

    async def close(self) -> None:
        """Ends the session."""
        await self.leave()
        for task in tuple(self._tasks):
            task.cancel()
        if self._socket is not None and not self._socket.closed:
            await self._socket.close(code=1001, message=b'the bridge ends')
        self._socket = None

    # Media.

    async def offer_media(self) -> None:
        """Makes both connections anew and sends their offers."""
        if self.room is not None and self.connected:
            await asyncio.gather(self._offer_control(), self._offer_video())
        else:
            await self._media.drop()

    async def _offer_control(self) -> None:
        if self.room is not None and self.connected:
            self.tell(await self._media.offer_control())

    async def _offer_video(self) -> None:
        if self.room is not None and self.connected:
            offer = await self._media.offer_video(self.room)
            if offer is not None:
                self.tell(offer)

    # Down.

    def tell(self, event: Event) -> None:
        """Sends an event to the page: on the events channel, or on the WebSocket while that is not open."""
        text = json.dumps(event, allow_nan=False, default=str)
        if event['type'] != 'offer' and self._media.send_event(text):
            return
        if self.connected:
            self._start(_send_text(self._socket, text))

    def tell_self(self) -> None:
        """Tells the page as whom it is known."""
        self.tell(
            {
                'type': 'you',
                'name': self.operator,
                'named_by_invitation': bool(self.guest.name),
                'colour': self.colour,
                'role': self.guest.role.value,
                'task': self.guest.task,
            }
        )

    def tell_news(self, event: Event) -> None:
        """Sends an event unless it says what the last of its type said."""
        if self.connected and self._news.get(event['type']) != event:
            self._news[event['type']] = event
            self.tell(event)

    def notice(self, text: str, level: str = 'error') -> None:
        """Shows the person a sentence."""
        self.tell({'type': 'notice', 'level': level, 'text': text[:1].upper() + text[1:]})

    def on_control(self, state: ControlState) -> None:
        """The host says who has control."""
        if self._control.on_control(state) and self.connected and self._may(Role.OPERATOR):
            self._start(self._act('acquire', self._control.acquire(False)))

    def on_taken(self) -> None:
        """Control is this session's."""
        self._reception.took_control(self)

    def on_given(self) -> None:
        """Its person has given control back, or handed it over."""
        self._reception.gave_control(self)

    async def send_away(self, text: str) -> None:
        """Tells the page why, and ends its connection; it does not come again by itself."""
        socket, self._socket = self._socket, None
        if socket is not None and not socket.closed:
            await _send(socket, {'type': 'refused', 'text': text})
            await socket.close()

    async def release_control(self) -> None:
        """Gives control back for somebody who does not do it himself."""
        await self._control.release_quietly()

    def objection(self) -> str:
        """Returns why it may not take control where it is; empty if it may."""
        return self._reception.objection(self)

    def take_lease(self, lease_id: str) -> None:
        """Control was handed to this session."""
        self._control.take(lease_id)

    def _on_events_open(self) -> None:
        if self.room is not None:
            self.room.tell_all_to(self)

    # Up.

    def on_signal(self, text: str) -> None:
        """Takes a message of the WebSocket."""
        if not self._pace.may_say():
            self._end_flood()
            return
        try:
            message = parse_signal(text)
        except PageMessageError as error:
            self._complain(error)
            return
        self._on_message(message)

    def _on_event(self, data: str | bytes) -> None:
        if isinstance(data, bytes):
            self._complain(PageMessageError('the events channel takes text alone'))
            return
        self.on_signal(data)

    def _on_sample(self, data: str | bytes) -> None:
        if self._pace.may_sample():
            self._samples.on_message(data)
        else:
            self._end_flood()

    def _end_flood(self) -> None:
        if not self._floods:
            self._floods = True
            self._log(f'{self.operator} (session {self.session_id}) sends too much at once, and is sent away')
            self._start(self._reception.send_away(self, 'This page sent too many messages at once. Load it again.'))

    def _on_message(self, message: PageMessage) -> None:
        kind = message.type
        if kind == 'stats':
            self._reception.metrics.note_report(self._media.road, self._stats, message)
            self._stats = message
            if self.room is not None and self._rules.adaptive_video:
                self.room.on_viewer_report(self, message)
            return
        if kind == 'ping':
            if self._socket is not None:
                self._start(_send(self._socket, {'type': 'pong'}))
            return
        needed = _NEEDED_ROLES.get(kind, Role.SPECTATOR)
        if not self._may(needed):
            self._refuse(kind, needed)
            return
        if kind in ('restart_control', 'restart_video') and not self._pace.may_connect():
            self._complain(PageMessageError('too many new connections at once; wait a moment'))
            return
        if len(self._tasks) >= MAX_AT_WORK and kind not in _ALWAYS_HEARD:
            self._complain(PageMessageError('too much is at work for this page already; wait a moment'))
            return
        if kind not in ('answer', 'restart_control', 'restart_video'):
            self._note_activity()
        if kind in _OF_THE_LOBBY:
            self._start(self._act(kind, self._reception.serve(self, message), wait=kind != 'stop_all'))
        elif kind == 'answer':
            self._start(self._answer(message))
        elif kind == 'restart_control':
            self._start(self._offer_control())
        elif kind == 'restart_video':
            self._media.wanted_road = message['road']
            self._start(self._offer_video())
        elif kind == 'hello':
            self._complain(PageMessageError("'hello' comes once, first"))
        elif kind == 'emergency_stop':
            self._start(self._act(kind, self._control.emergency_stop(), wait=False))
        elif self.room is None:
            self.notice('there is no workcell yet')
        else:
            work: dict[str, Callable[[], Awaitable[Any]]] = {
                'acquire': lambda: self._control.acquire(message['ask']),
                'release': self._control.give_back,
                'hand_over': self._control.hand_over,
                'start': self._start_episode,
                'reset': self._reset_episode,
                'end': lambda: self._end_episode(message['outcome']),
                'home': self._control.home,
                'clear_emergency_stop': self._control.clear_emergency_stop,
            }
            self._start(self._act(kind, work[kind]()))

    def _may(self, needed: Role) -> bool:
        return self.guest.role.includes(needed)

    def _refuse(self, what: str, needed: Role) -> None:
        if self._counts_complaint():
            self._log(f'{self.operator} (session {self.session_id}), a {self.guest.role}, was refused {what}')
            self.notice(f'you are here as {self.guest.role}: that takes an invitation as {needed}')

    def _note_activity(self) -> None:
        self.last_active_s = time.monotonic()

    def _as_driver(self) -> Driver:
        lease_id = self.lease_id if self._may(Role.OPERATOR) else ''
        return Driver(self.session_id, self.operator, lease_id, self.room)

    # What a person asks for.

    async def _answer(self, answer: PageMessage) -> None:
        try:
            await self._media.accept(answer['connection'], answer['number'], answer['sdp'])
        except PeerError as error:
            self.notice(str(error))

    async def _act(self, what: str, work: Awaitable[Any], *, wait: bool = True) -> None:
        """Does one thing at a time; an emergency stop waits for nothing."""
        if wait:
            async with self._acting:
                await self._try(what, work)
        else:
            await self._try(what, work)

    async def _try(self, what: str, work: Awaitable[Any]) -> None:
        try:
            await work
        except ServiceError as error:
            self.notice(str(error))
        else:
            self.tell({'type': 'done', 'what': what})

    async def _call(self, service: str, **fields: Any) -> Any:
        if self.room is None:
            raise ServiceError('there is no workcell yet')
        return await self.room.call(service, self._rules.service_timeout_s, **fields)

    async def _start_episode(self) -> None:
        await self._episodes.start(await self._control.require(), self.lease_id, self.operator, self.guest.task)

    async def _reset_episode(self) -> None:
        await self._episodes.reset(await self._control.require(), self.lease_id, self.operator, self.guest.task)

    async def _end_episode(self, outcome: str) -> None:
        if self.room is None:
            raise ServiceError('there is no workcell yet')
        if not self.lease_id:
            raise ServiceError('take control first: whoever has control judges the episode')
        await self._episodes.end(self.room, self.lease_id, self.operator, outcome)

    # Once a second.

    async def each_second(self) -> None:
        """Renews the lease and publishes LinkStats."""
        if self.room is None or self.room.endpoints is None:
            return
        # Also while its page is away: the host would forget its control before the grace time is over.
        await self._control.each_second()
        if self.connected and self.room is not None and self.room.endpoints is not None:
            counts = self._samples.take_counts()
            self._reception.metrics.note_samples(counts)
            self.room.endpoints.publish_link(
                link_stats(
                    self._stats,
                    counts,
                    workcell_id=self._workcell_id,
                    session_id=self.session_id,
                    lease_id=self.lease_id,
                    operator=self.operator,
                    role=self.guest.role.value,
                    road=self._media.road,
                    codec=self._media.codec,
                )
            )

    @property
    def _workcell_id(self) -> str:
        return self.room.workcell_id if self.room is not None else ''

    def _complain(self, error: PageMessageError) -> None:
        """Tells the page what was wrong with its message, at most ten times a second."""
        if self._counts_complaint():
            self.tell({'type': 'error', 'text': str(error)})

    def _counts_complaint(self) -> bool:
        now = time.monotonic()
        if now - self._complaints_s < 0.1:
            return False
        self._complaints_s = now
        return True

    def _start(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _send(socket: web.WebSocketResponse, event: Event) -> None:
    await _send_text(socket, json.dumps(event))


async def _send_text(socket: web.WebSocketResponse | None, text: str) -> None:
    try:
        if socket is not None and not socket.closed:
            await socket.send_str(text)
    except (ConnectionError, RuntimeError):
        pass
