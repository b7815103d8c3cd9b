"""The road to the screen that works everywhere: WebRTC video tracks into video elements."""

from collections.abc import Mapping

from aiortc import RTCConfiguration, RTCRtpSender
from aiortc.rtcrtpparameters import RTCRtpCodecCapability

from cobalt_teleop.bridge.media.encoded_track import EncodedVideoTrack
from cobalt_teleop.bridge.media.peer import Peer


def _h264_alone() -> list[RTCRtpCodecCapability]:
    return [
        codec
        for codec in RTCRtpSender.getCapabilities('video').codecs
        if codec.mimeType.lower() in ('video/h264', 'video/rtx')
    ]


class TrackPeer(Peer):
    """One track a camera.

    Args:
        tracks: By camera.
        configuration: ICE servers; none by default.
    """

    kind = 'video'
    road = 'track'

    def __init__(self, tracks: Mapping[str, EncodedVideoTrack], configuration: RTCConfiguration | None = None) -> None:
        super().__init__(configuration)
        self.sinks = dict(tracks)
        self._transceivers = {}
        for camera, track in tracks.items():
            transceiver = self._connection.addTransceiver(track, direction='sendonly')
            transceiver.setCodecPreferences(_h264_alone())
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
