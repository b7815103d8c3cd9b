"""One more page of a session: a phone in the hand of who looks at a laptop. It may do what its session may."""

import time
from collections.abc import Callable, Sequence

from aiohttp import web

from cobalt_interfaces.msg import ControlState
from cobalt_teleop.bridge.door.guest import Role
from cobalt_teleop.bridge.media.session_media import SessionMedia
from cobalt_teleop.bridge.operators.page_link import PageLink
from cobalt_teleop.bridge.operators.reception import SessionRules
from cobalt_teleop.bridge.operators.room import Room
from cobalt_teleop.bridge.operators.sample_gate import LinkCounts
from cobalt_teleop.bridge.operators.sample_intake import SampleIntake
from cobalt_teleop.bridge.operators.session import Session
from cobalt_teleop.bridge.wire.page_events import Event, keyboard_event
from cobalt_teleop.bridge.wire.page_messages import PageMessage

SEEN_S = 1.0
"""What the session's page has shown lately is what its person sees [s]: he who holds the phone looks there."""


class _SightBeside:
    """What is seen on the session's own page by who holds a device without pictures."""

    def __init__(self, main: Session, own: SessionMedia) -> None:
        self._main = main
        self._own = own

    def sees(self, cameras: Sequence[str], frame: tuple[str, int] | None) -> bool:
        if self._own.shows_video:
            return self._own.sees(cameras, frame)
        return not cameras or self.shown_frame_stamp(cameras, frame) is not None

    def shown_frame_stamp(self, cameras: Sequence[str], frame: tuple[str, int] | None) -> int | None:
        if self._own.shows_video:
            return self._own.shown_frame_stamp(cameras, frame)
        shown, at_s = self._main.seen
        if not self._main.connected or time.monotonic() - at_s > SEEN_S:
            return None
        return self._main.shown_frame_stamp(cameras, shown)


class Companion:
    """One more page of a session. Lives in the event loop.

    Args:
        device_id: Public id of the page's key.
        main: The session that it joins.
        rules: What all sessions keep.
        log: Writes a line to the node's log.
    """

    def __init__(self, device_id: str, main: Session, rules: SessionRules, log: Callable[[str], None]) -> None:
        self.device_id = device_id
        self.main = main
        self._left_s: float | None = None
        self.asks = False
        """It never waits for control: its session does."""
        self._page = PageLink(
            self,
            main.session_id,
            {**main.work_of_people(), 'stats': self._nothing},
            room=lambda: main.room,
            on_sample=lambda data: self._samples.on_message(data),
            on_open=self._tell_all,
            on_flood=self._end_flood,
            rules=rules,
            log=log,
        )
        self._media, self._voice = self._page.media, self._page.voice
        self._samples = SampleIntake(
            self._media,
            _SightBeside(main, self._media),
            main.as_driver,
            self._voice.tell,
            self._voice.complain,
            main.note_activity,
            hands=main.hands,
            page=device_id,
            takes_keys=False,
        )

    # As its room and its requests see it: all but its page is its session's.

    @property
    def session_id(self) -> str:
        """Its session."""
        return self.main.session_id

    @property
    def operator(self) -> str:
        """Whose device it is."""
        return self.main.operator

    @property
    def role(self) -> Role:
        """What it may do."""
        return self.main.role

    @property
    def lease_id(self) -> str:
        """The lease of its session, or empty."""
        return self.main.lease_id

    @property
    def full_name(self) -> str:
        """For the log."""
        return f'the second device of {self.main.full_name}'

    @property
    def connected(self) -> bool:
        """A page is there."""
        return self._voice.connected

    @property
    def away_s(self) -> float:
        """For how long its page has been away [s]."""
        return 0.0 if self._left_s is None else time.monotonic() - self._left_s

    @property
    def may_drive(self) -> bool:
        """Control is never handed to it, but to its session."""
        return False

    def note_activity(self) -> None:
        """Its person has done something."""
        self.main.note_activity()

    def on_control(self, state: ControlState) -> None:
        """The host says who has control; its session follows."""

    def take_lease(self, lease_id: str, room: Room) -> bool:
        """Control is never handed to it."""
        return False

    def release_objection(self) -> str:
        """Returns why it may not release the emergency stop; empty if it may."""
        return self.main.release_objection()

    # Its page comes and goes, and its session goes from room to room.

    async def attach(self, socket: web.WebSocketResponse, hello: PageMessage) -> None:
        """Takes its page's connection; an older one is told and closed."""
        self._voice.replace()
        await self._media.keep(hello['live'])
        self._voice.take(socket)
        self._left_s = None
        self._media.meet(hello)
        self._samples.restart()
        self.tell(
            {
                'type': 'session',
                'session': self.main.session_id,
                'key': hello['session'],
                'sequence': 0,
                'clutch_epoch': 0,
                'press_counts': [],
            }
        )
        self.tell(keyboard_event())
        self.tell_self()
        if self.main.room is not None:
            await self.enter(self.main.room)
        else:
            self.tell({'type': 'waiting', 'workcell': ''})

    async def detach(self, socket: web.WebSocketResponse) -> bool:
        """Its page's connection is gone; returns whether it was the present one."""
        if not self._voice.drop(socket):
            return False
        self._left_s = time.monotonic()
        await self.leave()
        return True

    async def enter(self, room: Room, *, anew: bool = False) -> None:
        """Follows its session into a workcell, which may be another than before."""
        if not self.connected:
            return
        if anew:
            await self._media.drop()
        room.enter(self)
        self._tell_all()
        await self._page.offer_media()

    async def leave(self) -> None:
        """Follows its session out, or goes."""
        await self._media.drop()
        if self.main.room is not None:
            self.main.room.leave(self)

    async def close(self, text: str) -> None:
        """Its page is sent away, if it is there, and told why."""
        self.main.companions.pop(self.device_id, None)
        await self.leave()
        self._page.requests.close()
        await self._voice.send_away(text)
        self.main.tell_self()

    def is_open_on(self, socket: web.WebSocketResponse) -> bool:
        """Returns whether this connection is that of its page, and not of one that another has replaced."""
        return self._voice.speaks_on(socket)

    # Down.

    def tell(self, event: Event) -> None:
        """Sends an event to the page."""
        self._voice.tell(event)

    def tell_self(self) -> None:
        """Tells the page as whom it is known."""
        self.tell({**self.main.described(), 'own_machine': False, 'companion': True})

    def _tell_all(self) -> None:
        if self.main.room is not None:
            self.main.room.tell_all_to(self)

    # Up.

    def on_signal(self, text: str) -> None:
        """Takes a message of the WebSocket."""
        self._page.requests.on_signal(text)

    def take_counts(self) -> LinkCounts:
        """Returns what came of its samples since the last call."""
        return self._samples.take_counts()

    async def _end_flood(self) -> None:
        await self.close('This page sent too many messages at once. Pair it again.')

    async def _nothing(self, _: PageMessage) -> None:
        """Its link is not its session's, which is what is told of."""
