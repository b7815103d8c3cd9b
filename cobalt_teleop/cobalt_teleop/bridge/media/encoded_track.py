"""A video track of packets that are encoded already, shared by all peers that watch the camera."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import av
from aiortc import MediaStreamTrack, RTCRtpSender
from aiortc.mediastreams import MediaStreamError

from cobalt_teleop.bridge.media.sender_hooks import last_rtp_timestamp, on_key_frame_request

_CLOCK_HZ = 90_000
_QUEUE_FRAMES = 8
_REMEMBERED_FRAMES = 128


@dataclass(frozen=True)
class EncodedPacket:
    """One frame on its way to any number of peers.

    Attributes:
        packet: Its pts is the capture time on the 90 kHz clock of RTP.
        stamp_ns: Capture time [ns].
        key_frame: It can be decoded without any frame before it.
    """

    packet: 'av.Packet[Any]'
    stamp_ns: int
    key_frame: bool


def encoded_packet(data: bytes, stamp_ns: int) -> EncodedPacket:
    """Returns the packet of one H.264 access unit in Annex B."""
    packet = av.Packet(data)
    packet.pts = stamp_ns * 9 // 100_000
    packet.time_base = Fraction(1, _CLOCK_HZ)
    return EncodedPacket(packet, stamp_ns, _starts_with_sps(data))


def _starts_with_sps(data: bytes) -> bool:
    start = data.find(b'\x00\x00\x01', 0, 64)
    return 0 <= start < len(data) - 3 and data[start + 3] & 0x1F in (5, 7)


class EncodedVideoTrack(MediaStreamTrack):
    """One camera on its way to one peer.

    Packets are never trimmed inside a group of pictures: a queue that overflows is emptied and waits for the next key
    frame, which it asks for.

    Args:
        ask_key_frame: Asks the camera's encoder for a key frame.
        on_anchor: Told an RTP timestamp and the capture time [ns] that it stands for, once the first frame has gone.
    """

    kind = 'video'

    def __init__(self, ask_key_frame: Callable[[], None], on_anchor: Callable[[int, int], None]) -> None:
        super().__init__()
        self._ask_key_frame = ask_key_frame
        self._on_anchor = on_anchor
        self._sender: RTCRtpSender | None = None
        self._queue: deque[EncodedPacket] = deque()
        self._filled = asyncio.Event()
        self._running = False
        self._needs_key_frame = True
        self._in_flight: EncodedPacket | None = None
        self._anchored = False
        self._stamps: OrderedDict[int, int] = OrderedDict()
        self.overflows = 0

    def bind(self, sender: RTCRtpSender) -> None:
        """Connects the track with its sender."""
        self._sender = sender
        on_key_frame_request(sender, self._ask_key_frame)

    def push(self, frame: EncodedPacket) -> None:
        """Takes a frame, in the order of encoding. Called in the event loop."""
        if not self._running:
            return
        if self._needs_key_frame:
            if not frame.key_frame:
                return
            self._needs_key_frame = False
        if len(self._queue) >= _QUEUE_FRAMES:
            self.overflows += 1
            self._queue.clear()
            if not frame.key_frame:
                self._needs_key_frame = True
                self._ask_key_frame()
                return
        self._queue.append(frame)
        self._filled.set()

    def stamp_of(self, rtp_timestamp: int) -> int | None:
        """Returns the capture time [ns] of a frame by its RTP timestamp, if it was sent lately."""
        return self._stamps.get(rtp_timestamp)

    async def recv(self) -> 'av.Packet[Any]':
        """Returns the next packet; called by the sender, which has sent the one before."""
        if self._in_flight is not None:
            self._note_sent(self._in_flight)
            self._in_flight = None
        if not self._running:
            self._running = True
            self._ask_key_frame()
        while not self._queue:
            if self.readyState != 'live':
                raise MediaStreamError
            self._filled.clear()
            await self._filled.wait()
        self._in_flight = self._queue.popleft()
        return self._in_flight.packet

    def stop(self) -> None:
        """Ends the track."""
        super().stop()
        self._running = False
        self._queue.clear()
        self._filled.set()

    def _note_sent(self, frame: EncodedPacket) -> None:
        if self._sender is None:
            return
        rtp_timestamp = last_rtp_timestamp(self._sender)
        self._stamps[rtp_timestamp] = frame.stamp_ns
        while len(self._stamps) > _REMEMBERED_FRAMES:
            self._stamps.popitem(last=False)
        if not self._anchored or frame.key_frame:
            self._anchored = True
            self._on_anchor(rtp_timestamp, frame.stamp_ns)
