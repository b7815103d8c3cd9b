"""The connections of one session's page, made anew whenever they are asked for."""

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Protocol

from cobalt_teleop.bridge.media.encoded_track import EncodedVideoTrack
from cobalt_teleop.bridge.media.peer import Peer
from cobalt_teleop.bridge.wire.page_events import Event


class VideoSource(Protocol):
    """A workcell, as far as its video goes."""

    @property
    def cameras(self) -> list[str]:
        """Names of the cameras that are on."""

    def add_track(self, camera: str, track: EncodedVideoTrack) -> None:
        """Sends a camera's frames to a track."""

    def remove_track(self, camera: str, track: EncodedVideoTrack) -> None:
        """Ends a track."""

    def ask_key_frame(self, camera: str) -> None:
        """Asks a camera's encoder for a key frame."""


class SessionMedia:
    """Offers a workcell's video and the two data channels to a page. Lives in the event loop.

    Args:
        on_sample: Told each message of the samples channel.
        on_event: Told each message of the events channel.
        on_open: Called when the events channel is open.
    """

    def __init__(
        self,
        *,
        on_sample: Callable[[str | bytes], None],
        on_event: Callable[[str | bytes], None],
        on_open: Callable[[], None],
    ) -> None:
        self.h264 = True
        """The page can show H.264."""
        self._on_sample = on_sample
        self._on_event = on_event
        self._on_open = on_open
        self._peer: Peer | None = None
        self._source: VideoSource | None = None
        self._lock = asyncio.Lock()

    @property
    def road(self) -> str:
        """How pictures reach the screen, as LinkStats names it."""
        return 'track'

    @property
    def codec(self) -> str:
        """h264, or empty without video."""
        return 'h264' if self.h264 else ''

    def sees(self, cameras: Sequence[str], frame: tuple[str, int] | None) -> bool:
        """Returns whether who sends a sample sees what he drives.

        A page that names a picture which it cannot have, or has no video at all, drives blind. One whose browser
        cannot tell which picture it shows names none.

        Args:
            cameras: Those of its workcell.
            frame: Camera and RTP timestamp of the picture on its screen, if it told.
        """
        return not cameras or (self.h264 and (frame is None or self.shown_frame_stamp(frame) is not None))

    def shown_frame_stamp(self, frame: tuple[str, int] | None) -> int | None:
        """Returns the capture time [ns] of the picture on the page's screen, if it is known."""
        if frame is None or self._peer is None:
            return None
        track = self._peer.tracks.get(frame[0])
        return None if track is None else track.stamp_of(frame[1])

    async def offer(self, source: VideoSource) -> Event:
        """Makes a new connection and returns its offer."""
        async with self._lock:
            await self._drop()
            tracks = {camera: self._track(source, camera) for camera in (source.cameras if self.h264 else [])}
            peer = Peer(tracks, on_sample=self._on_sample, on_event=self._on_event, on_open=self._on_open)
            self._peer, self._source = peer, source
            for camera, track in tracks.items():
                source.add_track(camera, track)
            return await peer.offer()

    async def accept(self, sdp: str) -> None:
        """Takes the page's answer.

        Raises:
            PeerError: It cannot be used.
        """
        if self._peer is not None:
            await self._peer.accept(sdp)

    async def drop(self) -> None:
        """Ends the connection."""
        async with self._lock:
            await self._drop()

    def send_event(self, text: str) -> bool:
        """Sends on the events channel; returns False if it is not open."""
        return self._peer is not None and self._peer.send_event(text)

    def send_sample(self, text: str) -> None:
        """Sends on the samples channel, if it is open."""
        if self._peer is not None:
            self._peer.send_sample(text)

    def _track(self, source: VideoSource, camera: str) -> EncodedVideoTrack:
        def anchor(rtp_timestamp: int, stamp_ns: int) -> None:
            stamp_ms = stamp_ns / 1e6
            self.send_sample(
                json.dumps({'type': 'anchor', 'camera': camera, 'rtp_timestamp': rtp_timestamp, 'stamp_ms': stamp_ms})
            )

        return EncodedVideoTrack(lambda: source.ask_key_frame(camera), anchor)

    async def _drop(self) -> None:
        peer, self._peer = self._peer, None
        source, self._source = self._source, None
        if peer is not None:
            if source is not None:
                for camera, track in peer.tracks.items():
                    source.remove_track(camera, track)
            await peer.close()
