"""A video track of packets that are encoded already, shared by all peers that watch the camera."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from aiortc import MediaStreamTrack, RTCRtpSender
from aiortc.mediastreams import MediaStreamError

from cobalt_teleop.bridge.media.encoded_packet import EncodedPacket
from cobalt_teleop.bridge.media.sender_hooks import last_rtp_timestamp, on_key_frame_request
from cobalt_teleop.bridge.media.sent_frames import SentFrames

if TYPE_CHECKING:
    import av

_QUEUE_FRAMES = 8


class EncodedVideoTrack(MediaStreamTrack):
    """One camera on its way to one peer.

    Packets are never trimmed inside a group of pictures: a queue that overflows is emptied and waits for the next key
    frame, which it asks for.

    Args:
        ask_key_frame: Asks the camera's encoder for a key frame.
        sent: Is told each frame that has gone, by its RTP timestamp.
        on_anchor: Told an RTP timestamp and the capture time [ns] that it stands for, once the first frame has gone.
    """

    kind = 'video'

    def __init__(
        self, ask_key_frame: Callable[[], None], sent: SentFrames, on_anchor: Callable[[int, int], None]
    ) -> None:
        super().__init__()
        self._ask_key_frame = ask_key_frame
        self._sent = sent
        self._on_anchor = on_anchor
        self._sender: RTCRtpSender | None = None
        self._queue: deque[EncodedPacket] = deque()
        self._filled = asyncio.Event()
        self._running = False
        self._needs_key_frame = True
        self._in_flight: EncodedPacket | None = None
        self._anchored = False
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
        self._sent.note(rtp_timestamp, frame.stamp_ns)
        if not self._anchored or frame.key_frame:
            self._anchored = True
            self._on_anchor(rtp_timestamp, frame.stamp_ns)
