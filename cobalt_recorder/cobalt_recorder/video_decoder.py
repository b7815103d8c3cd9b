"""Decodes the recorded frames of one camera, whatever their bytes are."""

from typing import Any

import av


class VideoDecoder:
    """The frames of one camera, from a key frame on.

    Args:
        codec: Of the frames, as their messages name it; empty for H.264.

    Raises:
        ValueError, av.error.FFmpegError: There is no such codec.
    """

    def __init__(self, codec: str) -> None:
        self._context: Any = av.CodecContext.create(codec or 'h264', 'r')
        self.stamps_ns: list[int] = []
        """When each frame was taken [ns]."""

    def decode(self, stamp_ns: int, data: bytes) -> list[Any]:
        """Takes a frame; returns the av.VideoFrames that are ready, whose `pts` is the number of their frame."""
        packet = av.Packet(data)
        packet.pts = len(self.stamps_ns)
        self.stamps_ns.append(stamp_ns)
        return self._ready(packet)

    def end(self) -> list[Any]:
        """Returns the last ones."""
        return self._ready(None)

    def _ready(self, packet: Any) -> list[Any]:
        try:
            return list(self._context.decode(packet))
        except av.error.FFmpegError:
            return []  # a frame that doesn't decode
