"""One operator or spectator: his page and his workcell, and what he asks for. It outlives a reload of the page."""

import asyncio
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from aiohttp import web

from cobalt_interfaces.msg import ControlState
from cobalt_teleop.bridge.door.guest import Guest, Role
from cobalt_teleop.bridge.door.own_names import machine_addresses
from cobalt_teleop.bridge.host_services import ServiceError
from cobalt_teleop.bridge.operators.control_requests import ControlRequests
from cobalt_teleop.bridge.operators.device_samples import link_stats
from cobalt_teleop.bridge.operators.episode_requests import EpisodeRequests
from cobalt_teleop.bridge.operators.hands import Hands
from cobalt_teleop.bridge.operators.page_link import PageLink
from cobalt_teleop.bridge.operators.page_requests import OF_THE_LOBBY, Work
from cobalt_teleop.bridge.operators.reception import Reception, SessionRules
from cobalt_teleop.bridge.operators.room import Room
from cobalt_teleop.bridge.operators.sample_gate import LinkCounts, combined
from cobalt_teleop.bridge.operators.sample_intake import Driver, SampleIntake
from cobalt_teleop.bridge.wire.page_events import Event, keyboard_event
from cobalt_teleop.bridge.wire.page_messages import PageMessage

if TYPE_CHECKING:
    from cobalt_teleop.bridge.operators.companion import Companion

COMPANION_GRACE_S = 3.0
"""A phone whose page has gone counts as paired for so long: it may just have been turned, or loaded again [s]."""

SILENT_AFTER_S = 3.0
"""A page tells how its link is once a second; after so long without, nothing of it arrives [s]."""


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
        self.address = ''
        """From where its page came."""
        self.operator = ''
        self.wanted_name = ''
        self.colour = 0
        self.room: Room | None = None
        self.wish = ''
        """The workcell that the page's address names, or empty."""
        self.watched = ''
        """Where it was in an earlier run of the bridge."""
        self.going = asyncio.Lock()
        """Held while it goes from one workcell to another."""
        self.wants_place = False
        """It waits in line when it has no place."""
        self.last_active_s = time.monotonic()
        """When its person last did something."""
        self.hands = Hands()
        """Of all its pages."""
        self.companions: dict[str, Companion] = {}
        """Its other pages, such as phones beside a laptop, by the public ids of their keys."""
        self._rules = rules
        self._reception = reception
        self._log = log
        self._control = ControlRequests(self, self._call, log)
        self._episodes = EpisodeRequests(
            self._call, timeout_s=rules.episode_timeout_s, require_recording=rules.require_recording
        )
        self._page = PageLink(
            self,
            session_id,
            {**self.work_of_people(), 'stats': self._take_stats},
            room=lambda: self.room,
            on_sample=lambda data: self._samples.on_message(data),
            on_open=self._on_events_open,
            on_flood=self._end_flood,
            rules=rules,
            log=log,
        )
        self._media, self._voice = self._page.media, self._page.voice
        self._samples = SampleIntake(
            self._media,
            self._media,
            self.as_driver,
            self._voice.tell,
            self._voice.complain,
            self.note_activity,
            hands=self.hands,
            page=session_id,
        )
        self._stats: PageMessage | None = None
        self._stats_s = 0.0

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
    def may_drive(self) -> bool:
        """A page is there that shows video, of somebody whose role allows to drive."""
        return self.connected and self.can_see and self.role.includes(Role.OPERATOR)

    @property
    def role(self) -> Role:
        """What it may do."""
        return self.guest.role

    @property
    def video(self) -> tuple[str, str]:
        """Road and codec of its video; empty without."""
        return (self._media.road, self._media.codec) if self.room is not None else ('', '')

    @property
    def seen(self) -> tuple[tuple[str, int] | None, float]:
        """The picture that its page has shown last, and when it told so [s]."""
        return self._samples.seen

    def shown_frame_stamp(self, cameras: Sequence[str], frame: tuple[str, int] | None) -> int | None:
        """Returns the capture time [ns] of a picture on its page's screen, if it is known."""
        return self._media.shown_frame_stamp(cameras, frame)

    @property
    def report(self) -> PageMessage | None:
        """How the link is, as its page last told; None before it has."""
        return self._stats

    @property
    def tells_nothing(self) -> bool:
        """Its page has told of its link before, and does no more."""
        return self._stats is not None and time.monotonic() - self._stats_s > SILENT_AFTER_S

    @property
    def connected(self) -> bool:
        """A page is there."""
        return self._voice.connected

    def is_open_on(self, socket: web.WebSocketResponse) -> bool:
        """Returns whether this connection is that of its page, and not of one that another has replaced."""
        return self._voice.speaks_on(socket)

    @property
    def full_name(self) -> str:
        """For the log."""
        return f'{self.operator} (session {self.session_id})'

    # The page comes and goes.

    async def attach(self, socket: web.WebSocketResponse, hello: PageMessage) -> None:
        """Takes a page's connection; an older one of the same session is told and closed."""
        self._control.ask_no_more()
        while True:
            self._voice.replace()
            await self._media.keep(hello['live'])
            if not self._voice.connected:  # no other page came meanwhile
                break
        # From here to its first event nothing is waited for: no other news comes before it.
        self._voice.take(socket)
        self._media.meet(hello)
        self._samples.restart()
        self._stats = None
        self.note_activity()
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
        if self.lease_id and not self.role.includes(Role.OPERATOR):
            await self._control.release_quietly()

    async def detach(self, socket: web.WebSocketResponse) -> bool:
        """The page's connection is gone; returns whether it was the session's present one."""
        if not self._voice.drop(socket):
            return False
        self._control.ask_no_more()
        await self._media.drop()
        if self.room is not None:
            self.room.tell_viewers()
        return True

    async def enter(self, room: Room, *, anew: bool = False) -> None:
        """Goes to a workcell and offers its video.

        Args:
            room: Of the workcell.
            anew: What it shows is another than before.
        """
        if self.room is not room:
            await self.leave()
            self.room = room
        elif anew:
            await self._media.drop()
        room.enter(self)
        room.tell_all_to(self)
        await self.offer_media()
        for companion in tuple(self.companions.values()):
            await companion.enter(room)

    async def leave(self) -> None:
        """Gives control back and leaves the workcell."""
        await self._media.drop()
        for companion in tuple(self.companions.values()):
            await companion.leave()
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
        for companion in tuple(self.companions.values()):
            await companion.close('The session of your other page has ended. Pair this one again.')
        await self.leave()
        self._page.requests.close()
        await self._voice.close()

    async def offer_media(self) -> None:
        """Makes the connections that there are not, and sends their offers."""
        await self._page.offer_media()

    # Down.

    def tell(self, event: Event) -> None:
        """Sends an event to the page."""
        self._voice.tell(event)

    def tell_self(self) -> None:
        """Tells the page as whom it is known."""
        self.tell(self.described())
        for companion in tuple(self.companions.values()):
            companion.tell_self()

    def described(self) -> Event:
        """Returns what its pages are told of it."""
        return {
            'type': 'you',
            'name': self.operator,
            'named_by_invitation': bool(self.guest.name),
            'colour': self.colour,
            'role': self.guest.role.value,
            'comes_to_drive': self.guest.comes_to_drive,
            'task': self.guest.task,
            'own_machine': self.address in machine_addresses(),
            'companion': False,
            'companions': len(self.companions),
        }

    def tell_news(self, event: Event) -> None:
        """Sends an event unless it says what the last of its type said."""
        self._voice.tell_news(event)

    def notice(self, text: str, level: str = 'error') -> None:
        """Shows the person a sentence."""
        self._voice.notice(text, level)

    def on_control(self, state: ControlState) -> None:
        """The host says who has control."""
        if self._control.on_control(state) and self.connected and self.role.includes(Role.OPERATOR):
            self._page.requests.do('acquire', partial(self._control.acquire, False))

    def on_taken(self) -> None:
        """Control is this session's."""
        self._reception.took_control(self)

    def on_given(self) -> None:
        """Its person has given control back, or handed it over."""
        self._reception.gave_control(self)

    async def send_away(self, text: str) -> None:
        """Tells the page why, and ends its connection; it does not come again by itself."""
        self._control.ask_no_more()
        await self._voice.send_away(text)

    async def release_control(self) -> None:
        """Gives control back for somebody who does not do it himself."""
        await self._control.release_quietly()

    def renew_control(self) -> None:
        """Its name has changed, under which the host knows who has control."""
        self._control.renew_soon()

    def release_objection(self) -> str:
        """Returns why it may not release the emergency stop; empty if it may."""
        return self._control.release_objection()

    def objection(self) -> str:
        """Returns why it may not take control where it is; empty if it may."""
        return self._reception.objection(self)

    def take_lease(self, lease_id: str, room: Room) -> bool:
        """Control of a workcell was handed to this session; returns whether it takes it: it is there, and may drive."""
        takes = self.may_drive and self.room is room
        if takes:
            self._control.take(lease_id)
        return takes

    def _on_events_open(self) -> None:
        if self.room is not None:
            self.room.tell_all_to(self)

    # Up.

    def on_signal(self, text: str) -> None:
        """Takes a message of the WebSocket."""
        self._page.requests.on_signal(text)

    def note_activity(self) -> None:
        """Its person has done something."""
        self.last_active_s = time.monotonic()

    def work_of_people(self) -> dict[str, Work]:
        """Returns what is done for each message of a person, whichever page of the session he holds."""
        control = self._control
        return {
            'acquire': lambda message: control.acquire(message['ask']),
            'release': lambda _: control.give_back(),
            'hand_over': lambda _: control.hand_over(),
            'home': lambda _: control.home(),
            'emergency_stop': lambda _: control.emergency_stop(),
            'clear_emergency_stop': lambda _: control.clear_emergency_stop(),
            'start': lambda _: self._start_episode(practice=False),
            'practise': lambda _: self._start_episode(practice=True),
            'reset': lambda _: self._reset_episode(),
            'end': lambda message: self._end_episode(message['outcome']),
            **dict.fromkeys(OF_THE_LOBBY, lambda message: self._reception.serve(self, message)),
        }

    async def _end_flood(self) -> None:
        await self._reception.send_away(self, 'This page sent too many messages at once. Load it again.')

    def as_driver(self) -> Driver:
        """Returns as whom its devices drive, at this moment."""
        lease_id = self.lease_id if self.role.includes(Role.OPERATOR) else ''
        return Driver(self.session_id, self.operator, lease_id, self.room)

    # What a page asks for.

    async def _take_stats(self, report: PageMessage) -> None:
        self._reception.metrics.note_report(self._media.road, self._stats, report)
        self._stats, self._stats_s = report, time.monotonic()
        if self.room is not None and self._rules.adaptive_video:
            self.room.on_viewer_report(self, report)

    async def _call(self, service: str, **fields: Any) -> Any:
        if self.room is None:
            raise ServiceError('there is no workcell yet')
        return await self.room.call(service, self._rules.service_timeout_s, **fields)

    async def _start_episode(self, *, practice: bool) -> None:
        room = await self._control.require()
        await self._episodes.start(room, self.lease_id, self.operator, self.guest.task, practice=practice)

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
        """Lets companions go, renews the lease, and publishes LinkStats."""
        for companion in tuple(self.companions.values()):
            if companion.away_s > COMPANION_GRACE_S:
                await companion.close('')
        if self.room is None or self.room.endpoints is None:
            return
        # Also while its page is away: the host would forget its control before the grace time is over.
        if self.role.includes(Role.OPERATOR):
            await self._control.each_second()
        if self.connected and self.room is not None and self.room.endpoints is not None:
            counts = self._take_counts()
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

    def _take_counts(self) -> LinkCounts:
        others = [companion.take_counts() for companion in self.companions.values()]
        return combined([self._samples.take_counts(), *others])

    @property
    def _workcell_id(self) -> str:
        return self.room.workcell_id if self.room is not None else ''
