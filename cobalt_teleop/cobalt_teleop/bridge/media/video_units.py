"""Video as single units on a data channel: numbered, in fragments, sent again when the page asks, never in a queue.

A fragment is one message: a header, then a part of one H.264 access unit. The header is big-endian: capture time
[ms since 1970] as float64, age when it was sent first [ms] as float32, number of the unit as uint32, index of the
fragment and their count as uint16, and flags as uint8, of which bit 0 says that the unit is a key frame. Units that are
sent have consecutive numbers: to the page a gap is a loss, and what was left out here is none.
"""

import struct
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence

from cobalt_teleop.bridge.media.encoded_packet import EncodedPacket
from cobalt_teleop.bridge.media.sent_frames import SentFrames

HEADER = struct.Struct('>dfIHHB')

FRAGMENT_BYTES = 1136
"""So that a fragment with its header fits one packet, and a lost packet costs one fragment."""

MAX_WAIT_S = 0.25
"""How long a unit may wait in a viewer's channel [s]. Beyond, his link is too slow: he skips to a key frame."""

KEPT_UNITS = 32
"""Units that can be sent again; older ones would be too old to be seen."""

ASK_INTERVAL_S = 0.5
"""One viewer's key frames cost all others bits: he asks no more often than this [s]."""


def fragments_of(unit: int, frame: EncodedPacket, sent_ns: int) -> list[bytes]:
    """Returns the messages that carry one frame, sent at `sent_ns` [ns]."""
    data = bytes(frame.packet)
    parts = [data[start : start + FRAGMENT_BYTES] for start in range(0, len(data), FRAGMENT_BYTES)]
    stamp_ms, age_ms, flags = frame.stamp_ns / 1e6, (sent_ns - frame.stamp_ns) / 1e6, int(frame.key_frame)
    return [HEADER.pack(stamp_ms, age_ms, unit, index, len(parts), flags) + part for index, part in enumerate(parts)]


class UnitSender:
    """One camera on its way to one page. Lives in the event loop.

    Args:
        send: Sends one message, unordered and never repeated by the channel.
        buffered: Returns how many bytes wait to be sent.
        ask_key_frame: Asks the camera's encoder for a key frame.
        sent: Gives units their numbers, and is told each that was sent.
        now_s: Monotonic clock [s].
    """

    def __init__(
        self,
        send: Callable[[bytes], None],
        buffered: Callable[[], int],
        ask_key_frame: Callable[[], None],
        sent: SentFrames,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._send_message = send
        self._buffered = buffered
        self._ask_key_frame = ask_key_frame
        self._sent = sent
        self._now_s = now_s
        self._open = False
        self._bytes = 0
        self._leaving: deque[tuple[int, float]] = deque()
        self._needs_key_frame = True
        self._asked_s = float('-inf')
        self._kept: OrderedDict[int, list[bytes]] = OrderedDict()
        self.overflows = 0
        """How often a full channel made the viewer skip to a key frame."""

    @property
    def is_open(self) -> bool:
        """Frames go, or will from the next key frame on."""
        return self._open

    def open(self) -> None:
        """The channel is open: frames go from the next key frame on."""
        self._open = True
        self._ask()

    def close(self) -> None:
        """The channel is closed."""
        self._open = False
        self._kept.clear()

    def push(self, frame: EncodedPacket) -> None:
        """Takes a frame, in the order of encoding. Called in the event loop."""
        if not self._open:
            return
        if self._wait_s() > MAX_WAIT_S:
            self.overflows += not self._needs_key_frame
            self._needs_key_frame = True
            return
        if self._needs_key_frame and not frame.key_frame:
            self._ask()
            return
        self._needs_key_frame = False
        unit = self._sent.next_unit()
        fragments = fragments_of(unit, frame, time.time_ns())
        self._kept[unit] = fragments
        while len(self._kept) > KEPT_UNITS:
            self._kept.popitem(last=False)
        for fragment in fragments:
            self._send(fragment)
        self._leaving.append((self._bytes, self._now_s()))
        self._sent.note(unit, frame.stamp_ns)

    def send_again(self, unit: int, fragments: Sequence[int]) -> None:
        """The page misses fragments of a unit; all of it if it names none."""
        kept = self._kept.get(unit, [])
        if self._wait_s() > MAX_WAIT_S:
            return
        for index in fragments or range(len(kept)):
            if index < len(kept):
                self._send(kept[index])

    def skip_to_key_frame(self) -> None:
        """The page has given a unit up: nothing before a key frame is of use to it."""
        self._needs_key_frame = True
        self._ask()

    def _send(self, fragment: bytes) -> None:
        self._bytes += len(fragment)
        self._send_message(fragment)

    def _wait_s(self) -> float:
        """Returns for how long the oldest unit that has not wholly left has waited."""
        left = self._bytes - self._buffered()
        while self._leaving and self._leaving[0][0] <= left:
            self._leaving.popleft()
        return self._now_s() - self._leaving[0][1] if self._leaving else 0.0

    def _ask(self) -> None:
        now_s = self._now_s()
        if now_s - self._asked_s >= ASK_INTERVAL_S:
            self._asked_s = now_s
            self._ask_key_frame()
