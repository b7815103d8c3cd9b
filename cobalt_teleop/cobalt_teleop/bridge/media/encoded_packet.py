"""One encoded frame on its way to any number of viewers."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import av

_CLOCK_HZ = 90_000


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


class FrameSink(Protocol):
    """What takes a camera's frames to one viewer."""

    def push(self, frame: EncodedPacket) -> None:
        """Takes a frame, in the order of encoding. Called in the event loop."""


def encoded_packet(data: bytes, stamp_ns: int, codec: str = 'h264') -> EncodedPacket:
    """Returns the packet of one frame: an H.264 access unit in Annex B, or a VP8 frame."""
    packet = av.Packet(data)
    packet.pts = stamp_ns * 9 // 100_000
    packet.time_base = Fraction(1, _CLOCK_HZ)
    return EncodedPacket(packet, stamp_ns, _is_vp8_key_frame(data) if codec == 'vp8' else _starts_with_sps(data))


def _is_vp8_key_frame(data: bytes) -> bool:
    """Looks at the frame tag (RFC 6386, section 9.1)."""
    return bool(data) and not data[0] & 1


def _starts_with_sps(data: bytes) -> bool:
    start = data.find(b'\x00\x00\x01', 0, 64)
    return 0 <= start < len(data) - 3 and data[start + 3] & 0x1F in (5, 7)
