"""One more page of a session: a phone in the hand of who looks at a laptop. It may do what its session may."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from aiohttp import web

from cobalt_interfaces.msg import ControlState
from cobalt_teleop.bridge.door.guest import Role
from cobalt_teleop.bridge.media.peer import PeerError
from cobalt_teleop.bridge.media.session_media import SessionMedia
from cobalt_teleop.bridge.operators.page_pace import PagePace
from cobalt_teleop.bridge.operators.page_requests import PageRequests, Work
from cobalt_teleop.bridge.operators.page_voice import PageVoice
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
        self.asks = False
        """It never waits for control: its session does."""
        self._log = log
        self._media = SessionMedia(
            on_sample=self._on_sample,
            on_event=lambda data: self._requests.on_event(data),
            on_open=self._tell_all,
            complain=lambda error: self._voice.complain(error),
            may_have_again=lambda fragments: self._requests.may_have_again(fragments),
            way=rules.way,
            name=main.session_id,
        )
        self._voice = PageVoice(self._media)
        self._samples = SampleIntake(
            self._media,
            _SightBeside(main, self._media),
            main.as_driver,
            self._voice.complain,
            main.note_activity,
            hands=main.hands,
            takes_keys=False,
        )
        self._requests = PageRequests(
            self, self._work(), self._voice, PagePace(rules.messages_per_s), self._end_flood, log
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
        await self._media.drop()
        self._voice.take(socket)
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
        await self.leave()
        return True

    async def enter(self, room: Room) -> None:
        """Follows its session into a workcell."""
        if not self.connected:
            return
        room.enter(self)
        self._tell_all()
        self.tell(await self._media.offer_control())
        await self._offer_video()

    async def leave(self) -> None:
        """Follows its session out, or goes."""
        await self._media.drop()
        if self.main.room is not None:
            self.main.room.leave(self)

    async def close(self, text: str) -> None:
        """Its session has ended."""
        self.main.companions.pop(self.device_id, None)
        await self.leave()
        self._requests.close()
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
        self.tell({**self.main.described(), 'companion': True})

    def _tell_all(self) -> None:
        if self.main.room is not None:
            self.main.room.tell_all_to(self)

    # Up.

    def on_signal(self, text: str) -> None:
        """Takes a message of the WebSocket."""
        self._requests.on_signal(text)

    def take_counts(self) -> LinkCounts:
        """Returns what came of its samples since the last call."""
        return self._samples.take_counts()

    def _work(self) -> dict[str, Work]:
        return {
            **self.main.work_of_people(),
            'stats': self._nothing,
            'ping': self._answer_ping,
            'answer': self._answer,
            'restart_control': self._restart_control,
            'restart_video': self._restart_video,
        }

    def _on_sample(self, data: str | bytes) -> None:
        if self._requests.may_sample():
            self._samples.on_message(data)

    async def _end_flood(self) -> None:
        await self.close('This page sent too many messages at once. Pair it again.')

    async def _nothing(self, _: PageMessage) -> None:
        """Its link is not its session's, which is what is told of."""

    async def _answer_ping(self, _: PageMessage) -> None:
        self._voice.pong()

    async def _answer(self, answer: PageMessage) -> None:
        try:
            await self._media.accept(answer['connection'], answer['number'], answer['sdp'])
        except PeerError as error:
            self._voice.notice(str(error))

    async def _restart_control(self, _: PageMessage) -> None:
        if self.main.room is not None and self.connected:
            self.tell(await self._media.offer_control())

    async def _restart_video(self, wish: PageMessage) -> None:
        self._media.wanted_road = wish['road']
        await self._offer_video()

    async def _offer_video(self) -> None:
        if self.main.room is not None and self.connected:
            offer: Any = await self._media.offer_video(self.main.room)
            if offer is not None:
                self.tell(offer)
