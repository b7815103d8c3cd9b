"""The road to the screen that works everywhere: WebRTC video tracks into video elements."""

from collections.abc import Mapping

from aiortc import RTCConfiguration, RTCRtpSender
from aiortc.rtcrtpparameters import RTCRtpCodecCapability

from cobalt_teleop.bridge.media.encoded_track import EncodedVideoTrack
from cobalt_teleop.bridge.media.peer import Peer


def _alone(codec: str) -> list[RTCRtpCodecCapability]:
    """A sender of encoded packets speaks one codec alone: packets of another would fail silently."""
    return [
        capability
        for capability in RTCRtpSender.getCapabilities('video').codecs
        if capability.mimeType.lower() in (f'video/{codec}', 'video/rtx')
    ]


class TrackPeer(Peer):
    """One track a camera.

    Args:
        tracks: By camera.
        codec: Of their packets: h264 or vp8.
        configuration: ICE servers; none by default.
    """

    kind = 'video'
    road = 'track'

    def __init__(
        self, tracks: Mapping[str, EncodedVideoTrack], codec: str, configuration: RTCConfiguration | None = None
    ) -> None:
        super().__init__(configuration)
        self.codec = codec
        self.sinks = dict(tracks)
        self._transceivers = {}
        for camera, track in tracks.items():
            transceiver = self._connection.addTransceiver(track, direction='sendonly')
            transceiver.setCodecPreferences(_alone(codec))
            track.bind(transceiver.sender)
            self._transceivers[camera] = transceiver

    async def offer(self) -> dict[str, object]:
        """Returns the offer, and which media line shows which camera."""
        offer = await super().offer()
        cameras = {transceiver.mid: camera for camera, transceiver in self._transceivers.items()}
        return {**offer, 'road': self.road, 'cameras': cameras}

    async def close(self) -> None:
        """Ends tracks and connection."""
        for track in self.sinks.values():
            track.stop()
        await super().close()
