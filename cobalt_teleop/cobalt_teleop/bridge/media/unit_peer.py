"""The fast road to the screen: H.264 units on a data channel a camera, into the page's own decoder and canvas."""

from collections.abc import Callable, Mapping

from aiortc import RTCConfiguration, RTCDataChannel

from cobalt_teleop.bridge.media.peer import Peer
from cobalt_teleop.bridge.media.sent_frames import SentFrames
from cobalt_teleop.bridge.media.video_units import UnitSender
from cobalt_teleop.bridge.wire.page_messages import PageMessageError, parse_unit_request

AskKeyFrame = Callable[[str], None]

MayHaveAgain = Callable[[int], bool]
"""Counts a request by the fragments that were sent for it; returns whether the page may ask on."""


class UnitPeer(Peer):
    """One unordered channel that repeats nothing by itself for each camera, named after it.

    Args:
        cameras: With the frames that the page was sent.
        ask_key_frame: Asks a camera's encoder for a key frame.
        complain: Told what was wrong with a message of the page.
        may_have_again: Counts requests.
        configuration: ICE servers; none by default.
    """

    kind = 'video'
    road = 'units'
    codec = 'h264'

    def __init__(
        self,
        cameras: Mapping[str, SentFrames],
        ask_key_frame: AskKeyFrame,
        complain: Callable[[PageMessageError], None],
        may_have_again: MayHaveAgain,
        configuration: RTCConfiguration | None = None,
    ) -> None:
        super().__init__(configuration)
        self._complain = complain
        self._may_have_again = may_have_again
        self._sent_fragments = 0
        self.sinks = {camera: self._sender(camera, sent, ask_key_frame) for camera, sent in cameras.items()}

    async def offer(self) -> dict[str, object]:
        """Returns the offer."""
        return {**await super().offer(), 'road': self.road, 'cameras': {camera: camera for camera in self.sinks}}

    async def close(self) -> None:
        """Ends channels and connection."""
        for sender in self.sinks.values():
            sender.close()
        await super().close()

    def _sender(self, camera: str, sent: SentFrames, ask_key_frame: AskKeyFrame) -> UnitSender:
        channel: RTCDataChannel = self._connection.createDataChannel(camera, ordered=False, maxRetransmits=0)

        def send(fragment: bytes) -> None:
            if channel.readyState == 'open':
                self._sent_fragments += 1
                channel.send(fragment)

        sender = UnitSender(send, lambda: channel.bufferedAmount, lambda: ask_key_frame(camera), sent)
        channel.on('open', sender.open)
        channel.on('close', sender.close)
        channel.on('message', lambda data: self._on_request(sender, data))
        return sender

    def _on_request(self, sender: UnitSender, data: str | bytes) -> None:
        if not self._may_have_again(0):
            return
        try:
            request = parse_unit_request(data)
        except PageMessageError as error:
            self._complain(error)
            return
        if request.type == 'missing':
            before = self._sent_fragments
            sender.send_again(request['unit'], request['fragments'])
            self._may_have_again(self._sent_fragments - before)
        else:
            sender.skip_to_key_frame()
