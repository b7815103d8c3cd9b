"""The two connections of one session's page, each made anew whenever it is asked for."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Protocol

from cobalt_teleop.bridge.media.encoded_packet import FrameSink
from cobalt_teleop.bridge.media.encoded_track import EncodedVideoTrack
from cobalt_teleop.bridge.media.peer import ControlPeer, Peer, PeerError
from cobalt_teleop.bridge.media.sent_frames import SentFrames
from cobalt_teleop.bridge.media.track_peer import TrackPeer
from cobalt_teleop.bridge.media.unit_peer import MayHaveAgain, UnitPeer
from cobalt_teleop.bridge.network.media_way import MediaWay
from cobalt_teleop.bridge.wire.page_events import Event
from cobalt_teleop.bridge.wire.page_messages import PageMessage, PageMessageError
from cobalt_teleop.core import topics


class VideoSource(Protocol):
    """A workcell, as far as its video goes."""

    @property
    def cameras(self) -> list[str]:
        """Names of the cameras that are on."""

    def add_sink(self, camera: str, codec: str, sink: FrameSink) -> None:
        """Sends a camera's frames in a codec to a viewer."""

    def remove_sink(self, camera: str, codec: str, sink: FrameSink) -> None:
        """Ends that."""

    def ask_key_frame(self, camera: str) -> None:
        """Asks a camera's encoder for a key frame."""


class SessionMedia:
    """Offers a page a connection for control and one for a workcell's video. Lives in the event loop.

    Video restarts and fails without touching control.

    Args:
        on_sample: Told each message of the samples channel.
        on_event: Told each message of the events channel.
        on_open: Called when the events channel is open.
        complain: Told what was wrong with a message of the page.
        may_have_again: Counts requests for video units.
        way: How media finds its way.
        name: Of the session, for credentials.
    """

    def __init__(
        self,
        *,
        on_sample: Callable[[str | bytes], None],
        on_event: Callable[[str | bytes], None],
        on_open: Callable[[], None],
        complain: Callable[[PageMessageError], None],
        may_have_again: MayHaveAgain,
        way: MediaWay,
        name: str,
    ) -> None:
        self._track_codecs: tuple[str, ...] = topics.VIDEO_CODECS
        self.wanted_road = 'track'
        """Road that the page asks for: units or track."""
        self._on_sample = on_sample
        self._on_event = on_event
        self._on_open = on_open
        self._complain = complain
        self._may_have_again = may_have_again
        self._way = way
        self._name = name
        self._control: ControlPeer | None = None
        self._video: TrackPeer | UnitPeer | None = None
        self._source: VideoSource | None = None
        self._numbers = {'control': 0, 'video': 0}
        self._answered = {'control': 0, 'video': 0}
        self._sent: defaultdict[str, SentFrames] = defaultdict(SentFrames)
        self._locks = {'control': asyncio.Lock(), 'video': asyncio.Lock()}

    @property
    def road(self) -> str:
        """How pictures reach the screen: track or units, or empty without video."""
        return self._video.road if self._video is not None else ''

    @property
    def codec(self) -> str:
        """h264 or vp8, or empty without video."""
        return self._video.codec if self._video is not None else ''

    @property
    def shows_video(self) -> bool:
        """The page has a way to show video."""
        return bool(self._track_codecs) or self.wanted_road == 'units'

    def meet(self, hello: PageMessage) -> None:
        """Takes what a page says of its browser."""
        self._track_codecs = tuple(codec for codec in topics.VIDEO_CODECS if codec in hello['codecs'])
        self.wanted_road = hello['road']

    def sees(self, cameras: Sequence[str], frame: tuple[str, int] | None) -> bool:
        """Returns whether who sends a sample sees what he drives.

        A page that names a picture which it cannot have, or has no video at all, drives blind. One whose browser
        cannot tell which picture it shows names none.

        Args:
            cameras: Those of its workcell.
            frame: Camera and number of the picture on its screen, if it told.
        """
        return not cameras or (self.shows_video and self.shown_frame_stamp(cameras, frame) is not None)

    def shown_frame_stamp(self, cameras: Sequence[str], frame: tuple[str, int] | None) -> int | None:
        """Returns the capture time [ns] of the picture on the page's screen, if it is known.

        Of a page that names none it is the newest that was sent to it: what it shows is no newer. On the fast road a
        page draws its pictures itself and knows them: one that names none shows none.
        """
        if frame is not None:
            return self._sent[frame[0]].stamp_of(frame[1]) if frame[0] in self._sent else None
        if self.road == 'units':
            return None
        sent = [self._sent[camera].newest_ns for camera in cameras if camera in self._sent]
        return max((stamp_ns for stamp_ns in sent if stamp_ns is not None), default=None)

    async def offer_control(self) -> Event:
        """Makes a new connection for control and returns its offer."""
        async with self._locks['control']:
            await self._drop_control()
            self._control = ControlPeer(
                on_sample=self._on_sample,
                on_event=self._on_event,
                on_open=self._on_open,
                configuration=self._way.configuration(),
            )
            return await self._numbered(self._control)

    async def offer_video(self, source: VideoSource) -> Event | None:
        """Makes a new connection for a workcell's video and returns its offer; None if there is nothing to show."""
        async with self._locks['video']:
            await self._drop_video()
            if not self.shows_video or not source.cameras:
                return None
            self._video, self._source = self._video_peer(source), source
            for camera, sink in self._video.sinks.items():
                source.add_sink(camera, self._video.codec, sink)
            return await self._numbered(self._video)

    async def accept(self, connection: str, number: int, sdp: str) -> None:
        """Takes the page's answer to an offer, once; one to an offer that a newer one has replaced says nothing.

        Raises:
            PeerError: It cannot be used.
        """
        peer: Peer | None = self._control if connection == 'control' else self._video
        if peer is not None and number == self._numbers[connection]:
            if number == self._answered[connection]:
                raise PeerError('this offer has had its answer; ask for another by restarting the connection')
            self._answered[connection] = number
            await peer.accept(sdp)

    @property
    def has_control(self) -> bool:
        """A connection for control is there, or on its way."""
        return self._control is not None

    @property
    def has_video(self) -> bool:
        """A connection for video is there, or on its way."""
        return self._video is not None

    async def keep(self, live: tuple[int, int]) -> None:
        """Ends what its page does not have any more: a page that makes its WebSocket anew goes on with the rest.

        Args:
            live: Numbers of the offers, for control and for video, of the connections that the page has; 0 for none.
        """
        async with self._locks['control'], self._locks['video']:
            if not self._lives(self._control, live[0]):
                await self._drop_control()
            if not self._lives(self._video, live[1]):
                await self._drop_video()
            if not (self.has_control or self.has_video):
                self._sent.clear()

    def _lives(self, peer: Peer | None, number: int) -> bool:
        return peer is not None and peer.state == 'connected' and number == self._numbers[peer.kind]

    async def drop(self) -> None:
        """Ends both connections."""
        async with self._locks['control'], self._locks['video']:
            await asyncio.gather(self._drop_control(), self._drop_video())
            self._sent.clear()

    def send_event(self, text: str) -> bool:
        """Sends on the events channel; returns False if it is not open."""
        return self._control is not None and self._control.send_event(text)

    def send_sample(self, text: str) -> None:
        """Sends on the samples channel, if it is open."""
        if self._control is not None:
            self._control.send_sample(text)

    async def _numbered(self, peer: Peer) -> Event:
        self._numbers[peer.kind] += 1
        offer = self._way.offered(await peer.offer(), self._name)
        return {**offer, 'number': self._numbers[peer.kind]}

    def _video_peer(self, source: VideoSource) -> TrackPeer | UnitPeer:
        if self.wanted_road == 'units':
            sent = {camera: self._sent[camera] for camera in source.cameras}
            return UnitPeer(sent, source.ask_key_frame, self._complain, self._may_have_again, self._way.configuration())
        tracks = {camera: self._track(source, camera) for camera in source.cameras}
        return TrackPeer(tracks, self._track_codecs[0], self._way.configuration())

    def _track(self, source: VideoSource, camera: str) -> EncodedVideoTrack:
        def anchor(rtp_timestamp: int, stamp_ns: int) -> None:
            stamp_ms = stamp_ns / 1e6
            self.send_sample(
                json.dumps({'type': 'anchor', 'camera': camera, 'rtp_timestamp': rtp_timestamp, 'stamp_ms': stamp_ms})
            )

        return EncodedVideoTrack(lambda: source.ask_key_frame(camera), self._sent[camera], anchor)

    async def _drop_control(self) -> None:
        peer, self._control = self._control, None
        if peer is not None:
            await peer.close()

    async def _drop_video(self) -> None:
        peer, self._video = self._video, None
        source, self._source = self._source, None
        if peer is not None:
            if source is not None:
                for camera, sink in peer.sinks.items():
                    source.remove_sink(camera, peer.codec, sink)
            await peer.close()
