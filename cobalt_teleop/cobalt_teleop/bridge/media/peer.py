"""One WebRTC connection to one page, which the server offers."""

import asyncio
from collections.abc import Callable

from aiortc import RTCBundlePolicy, RTCConfiguration, RTCDataChannel, RTCPeerConnection, RTCSessionDescription
from aiortc.exceptions import OperationError

from cobalt_teleop.core.errors import CobaltError

CLOSE_TIMEOUT_S = 2.0


class PeerError(CobaltError):
    """A page's answer cannot be used."""


def without_ice_servers() -> RTCConfiguration:
    """Returns the configuration of a connection that asks no server; aiortc's own default asks a public one."""
    return RTCConfiguration(iceServers=[], bundlePolicy=RTCBundlePolicy.MAX_BUNDLE)


class Peer:
    """A connection; what it carries is its subclass's.

    Args:
        configuration: ICE servers; none by default.
    """

    kind = ''
    """What it carries, as its offer names it."""

    def __init__(self, configuration: RTCConfiguration | None = None) -> None:
        self._connection = RTCPeerConnection(configuration or without_ice_servers())

    @property
    def state(self) -> str:
        """State of the connection, as RTCPeerConnection.connectionState."""
        return str(self._connection.connectionState)

    async def offer(self) -> dict[str, object]:
        """Returns the offer, with candidates."""
        await self._connection.setLocalDescription(await self._connection.createOffer())
        return {'type': 'offer', 'connection': self.kind, 'sdp': self._connection.localDescription.sdp}

    async def accept(self, sdp: str) -> None:
        """Takes the page's answer.

        Raises:
            PeerError: It is no answer to this offer, or has no codec in common with it.
        """
        try:
            await self._connection.setRemoteDescription(RTCSessionDescription(sdp=sdp, type='answer'))
        except OperationError as error:
            raise PeerError('this browser shows none of the video that there is; use another one') from error
        except Exception as error:
            # What aiortc raises on an answer that was tampered with is not of one kind.
            raise PeerError(f'the answer does not fit the offer ({type(error).__name__})') from error

    async def close(self) -> None:
        """Ends the connection."""
        try:
            await asyncio.wait_for(self._connection.close(), CLOSE_TIMEOUT_S)
        except TimeoutError:
            pass


class ControlPeer(Peer):
    """The `samples` channel (unordered, never repeated) and the `events` channel (reliable), and never video.

    Args:
        on_sample: Told each message of the samples channel.
        on_event: Told each message of the events channel.
        on_open: Called when the events channel is open.
        configuration: ICE servers; none by default.
    """

    kind = 'control'

    def __init__(
        self,
        *,
        on_sample: Callable[[str | bytes], None],
        on_event: Callable[[str | bytes], None],
        on_open: Callable[[], None],
        configuration: RTCConfiguration | None = None,
    ) -> None:
        super().__init__(configuration)
        self._samples: RTCDataChannel = self._connection.createDataChannel('samples', ordered=False, maxRetransmits=0)
        self._events: RTCDataChannel = self._connection.createDataChannel('events')
        self._samples.on('message', on_sample)
        self._events.on('message', on_event)
        self._events.on('open', on_open)

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
