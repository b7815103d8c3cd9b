"""The way of one page's samples, from its channel to the device node."""

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from cobalt_interfaces.msg import DeviceSample
from cobalt_teleop.bridge.media.session_media import SessionMedia
from cobalt_teleop.bridge.operators.device_samples import device_of, device_sample
from cobalt_teleop.bridge.operators.hands import Hands
from cobalt_teleop.bridge.operators.press_witness import PressWitness, before_press
from cobalt_teleop.bridge.operators.room import Room
from cobalt_teleop.bridge.operators.sample_gate import LinkCounts, SampleGate, combined
from cobalt_teleop.bridge.wire.page_events import Event, let_go_event
from cobalt_teleop.bridge.wire.page_messages import PageMessage, PageMessageError, parse_sample
from cobalt_teleop.core.keyboard_actions import ACTIONS
from cobalt_teleop.ros.stamps import now_ns


@dataclass(frozen=True)
class ResumePoint:
    """Where the counters of a page go on after a reload."""

    sequence: int = 0
    clutch_epoch: int = 0
    press_counts: tuple[int, ...] = (0,) * len(ACTIONS)


@dataclass(frozen=True)
class Driver:
    """Who sends samples.

    Attributes:
        session_id: Of the page.
        operator: Name shown to others.
        lease_id: Under which samples are sent; empty without control.
        room: His workcell, if he has one.
    """

    session_id: str
    operator: str
    lease_id: str
    room: Room | None


class Sight(Protocol):
    """What an operator sees of the arm."""

    def sees(self, cameras: Sequence[str], frame: tuple[str, int] | None) -> bool:
        """Returns whether who sends a sample sees what he drives."""

    def shown_frame_stamp(self, cameras: Sequence[str], frame: tuple[str, int] | None) -> int | None:
        """Returns the capture time [ns] of the picture that he sees, if it is known."""


class SampleIntake:
    """Checks a page's samples, bounds their rate, and publishes them for the workcell that it drives.

    Args:
        media: Of the page.
        sight: What its person sees, on this page or beside it.
        driver: Tells who sends, at this moment.
        tell: Sends the page an event.
        complain: Told what was wrong with a message.
        on_activity: Called when the person does something.
        hands: Of the session.
        page: Tells it from the session's other pages.
        takes_keys: It has a keyboard; only a session's own page has one.
    """

    def __init__(
        self,
        media: SessionMedia,
        sight: Sight,
        driver: Callable[[], Driver],
        tell: Callable[[Event], None],
        complain: Callable[[PageMessageError], None],
        on_activity: Callable[[], None],
        *,
        hands: Hands,
        page: str,
        takes_keys: bool = True,
    ) -> None:
        self._media = media
        self._sight = sight
        self._hands = hands
        self._page = page
        self._waits: dict[tuple[str, str], int] = {}
        self._takes_keys = takes_keys
        self._driver = driver
        self._tell = tell
        self._complain = complain
        self._on_activity = on_activity
        self._gates: dict[tuple[str, str], SampleGate] = {}
        self._witness = PressWitness()
        self._published = 0
        self.resume = ResumePoint()
        self.seen: tuple[tuple[str, int] | None, float] = (None, float('-inf'))
        """The picture that its newest sample names, and when that came [s]."""

    def restart(self) -> None:
        """A page has come anew: its counts of the link begin again."""
        self._gates.clear()

    def take_counts(self) -> LinkCounts:
        """Returns what came since the last call."""
        return combined([gate.take_counts() for gate in self._gates.values()])

    def on_message(self, data: str | bytes) -> None:
        """Takes a message of the samples channel."""
        received_ns = now_ns()
        if isinstance(data, bytes):
            self._complain(PageMessageError('the samples channel takes text alone'))
            return
        try:
            message = parse_sample(data)
        except PageMessageError as error:
            self._complain(error)
            return
        if message.type == 'ping':
            pong = {'type': 'pong', 'id': message['id'], 'sent_ms': message['sent_ms'], 'host_ms': received_ns / 1e6}
            self._media.send_sample(json.dumps(pong))
            return
        room = self._driver().room
        if room is None:
            return
        if message.type == 'keys' and not self._takes_keys:
            self._complain(PageMessageError('keys are taken from the page of the session alone'))
            return
        self.seen = message['frame'], time.monotonic()
        device, part = device_of(message), self._part_of(message, room.parts)
        if part not in room.parts:
            self._complain(PageMessageError(f"there is no part '{part}' here; there are {', '.join(room.parts)}"))
            return
        gate = self._gates.setdefault((device, part), SampleGate())
        if not gate.hear(message, time.monotonic()) or not self._may_speak(message, device, part):
            return
        delay_s = gate.offer(message, time.monotonic())
        if delay_s == 0.0:
            self._publish(device, part)
        elif delay_s is not None:
            asyncio.get_running_loop().call_later(delay_s, self._publish, device, part)

    def _may_speak(self, message: PageMessage, device: str, part: str) -> bool:
        press = message['clutch_epoch'] if message['engaged'] else None
        granted = self._hands.may_speak(self._page, device, part, press=press)
        if press is not None and not granted and self._waits.get((device, part)) != press:
            self._waits[device, part] = press
            self._tell(let_go_event(device, message['part'], 'another device of yours moves this arm'))
        return granted

    @staticmethod
    def _part_of(message: PageMessage, parts: Sequence[str]) -> str:
        return str(message['part']) if message.type == 'device' and message['part'] else parts[0]

    def _publish(self, device: str, part: str) -> None:
        gate = self._gates.get((device, part))
        message = gate.take(time.monotonic()) if gate is not None else None
        if message is None:
            return
        if message['engaged']:
            self._on_activity()
        if device == 'keyboard':
            self.resume = ResumePoint(message['sequence'], message['clutch_epoch'], message['press_counts'])
        # A keyboard's page shows its keys at rest by itself, and each key is counted.
        begins = (
            message['engaged']
            and device != 'keyboard'
            and self._witness.vouches_for(device, part, message['clutch_epoch'], time.monotonic())
        )
        driver = self._driver()
        if driver.room is None or driver.room.endpoints is None or not driver.lease_id:
            return
        endpoints = driver.room.endpoints
        self._published += 1
        sample = self._sample(message, driver, driver.room)
        if begins:
            endpoints.publish_sample(device, part, before_press(sample))
            if not endpoints.is_heard(device, part):
                return
            self._witness.note_told(device, part)
        endpoints.publish_sample(device, part, sample)

    def _sample(self, message: PageMessage, driver: Driver, room: Room) -> DeviceSample:
        return device_sample(
            message,
            session_id=driver.session_id,
            lease_id=driver.lease_id,
            operator=driver.operator,
            sequence=self._published,
            sees=self._sight.sees(room.cameras, message['frame']),
            shown_frame_ns=self._sight.shown_frame_stamp(room.cameras, message['frame']),
        )
