"""One WebRTC connection to one page: the server offers video down and two data channels."""

import asyncio
from collections.abc import Callable, Mapping

from aiortc import (
    RTCBundlePolicy,
    RTCConfiguration,
    RTCDataChannel,
    RTCPeerConnection,
    RTCRtpSender,
    RTCSessionDescription,
)
from aiortc.exceptions import OperationError
from aiortc.rtcrtpparameters import RTCRtpCodecCapability

from cobalt_teleop.bridge.media.encoded_track import EncodedVideoTrack
from cobalt_teleop.core.errors import CobaltError


class PeerError(CobaltError):
    """A page's answer cannot be used."""


def _h264_alone() -> list[RTCRtpCodecCapability]:
    return [
        codec
        for codec in RTCRtpSender.getCapabilities('video').codecs
        if codec.mimeType.lower() in ('video/h264', 'video/rtx')
    ]


class Peer:
    """Video tracks, the `samples` channel (unordered, never repeated) and the `events` channel (reliable).

    Args:
        tracks: By camera; empty for a page that cannot decode H.264.
        on_sample: Told each message of the samples channel.
        on_event: Told each message of the events channel.
        on_open: Called when the events channel is open.
    """

    def __init__(
        self,
        tracks: Mapping[str, EncodedVideoTrack],
        *,
        on_sample: Callable[[str | bytes], None],
        on_event: Callable[[str | bytes], None],
        on_open: Callable[[], None],
    ) -> None:
        self.tracks = dict(tracks)
        # An explicit empty list: aiortc's default asks a public server.
        configuration = RTCConfiguration(iceServers=[], bundlePolicy=RTCBundlePolicy.MAX_BUNDLE)
        self._connection = RTCPeerConnection(configuration)
        # Tracks before channels: aiortc 1.16 closes the shared transport if a channel made it.
        self._transceivers = {}
        for camera, track in self.tracks.items():
            transceiver = self._connection.addTransceiver(track, direction='sendonly')
            transceiver.setCodecPreferences(_h264_alone())
            track.bind(transceiver.sender)
            self._transceivers[camera] = transceiver
        self._samples: RTCDataChannel = self._connection.createDataChannel('samples', ordered=False, maxRetransmits=0)
        self._events: RTCDataChannel = self._connection.createDataChannel('events')
        self._samples.on('message', on_sample)
        self._events.on('message', on_event)
        self._events.on('open', on_open)

    @property
    def state(self) -> str:
        """State of the connection, as RTCPeerConnection.connectionState."""
        return str(self._connection.connectionState)

    async def offer(self) -> dict[str, object]:
        """Returns the offer, with candidates, and which media line shows which camera."""
        await self._connection.setLocalDescription(await self._connection.createOffer())
        return {
            'type': 'offer',
            'sdp': self._connection.localDescription.sdp,
            'cameras': {transceiver.mid: camera for camera, transceiver in self._transceivers.items()},
        }

    async def accept(self, sdp: str) -> None:
        """Takes the page's answer.

        Raises:
            PeerError: It is no answer to this offer, or has no codec in common with it.
        """
        try:
            await self._connection.setRemoteDescription(RTCSessionDescription(sdp=sdp, type='answer'))
        except OperationError as error:
            raise PeerError('this browser cannot show H.264 video; use Chrome, Edge, Safari or Firefox') from error
        except Exception as error:
            # What aiortc raises on an answer that was tampered with is not of one kind.
            raise PeerError(f'the answer does not fit the offer ({type(error).__name__})') from error

    def send_sample(self, text: str) -> None:
        """Sends on the samples channel, if it is open."""
        if self._samples.readyState == 'open':
            self._samples.send(text)

    def send_event(self, text: str) -> bool:
        """Sends on the events channel; returns False if it is not open."""
        if self._events.readyState != 'open' or self.state != 'connected':
            return False
        self._events.send(text)
        return True

    async def close(self) -> None:
        """Ends the connection."""
        for track in self.tracks.values():
            track.stop()
        try:
            await asyncio.wait_for(self._connection.close(), 2.0)
        except TimeoutError:
            pass
