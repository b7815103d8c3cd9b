"""The server's half of a page's connection test: one connection as for an operator, without a workcell."""

import asyncio
import json
import secrets

from aiohttp import WSMsgType, web
from aiortc import RTCConfiguration, RTCPeerConnection, RTCRtpSender, RTCSessionDescription

from cobalt_teleop.bridge.network.media_way import MediaWay
from cobalt_teleop.bridge.network.server_check import check_servers
from cobalt_teleop.bridge.network.trial_picture import TrialPicture
from cobalt_teleop.bridge.wire.page_events import Event
from cobalt_teleop.bridge.wire.page_messages import PageMessageError, parse_check, parse_sample
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.ros.stamps import now_ns

MAX_CHECKS = 8
LONGEST_S = 60.0


class CheckError(CobaltError):
    """A test cannot be made; the message is for the person at the page."""


class ConnectionChecks:
    """Tests that run at this moment, few at a time: anybody with a token may ask for one.

    Args:
        way: What connections have in common.
    """

    def __init__(self, way: MediaWay) -> None:
        self._way = way
        self._running = 0

    async def serve(self, socket: web.WebSocketResponse) -> None:
        """Makes one test, until the page is gone or it has lasted too long.

        Raises:
            CheckError: Too many run already.
        """
        if self._running >= MAX_CHECKS:
            raise CheckError('too many connection tests run at this moment; try again in a minute')
        self._running += 1
        try:
            async with asyncio.timeout(LONGEST_S):
                await _check(socket, self._way)
        except TimeoutError:
            pass
        finally:
            self._running -= 1


async def _check(socket: web.WebSocketResponse, way: MediaWay) -> None:
    connection = _Trial(way.configuration())
    asking: asyncio.Task[None] | None = None
    try:
        offer = way.offered(await connection.offer(), f'test-{secrets.token_hex(4)}')
        await socket.send_json({**offer, 'type': 'check_offer', 'udp_ports': str(way.ports or '')})
        asking = asyncio.get_running_loop().create_task(_tell_servers(socket, way))
        answered = False
        async for message in socket:
            if message.type != WSMsgType.TEXT:
                break
            answer = parse_check(message.data)
            if answered:
                raise PageMessageError('a connection test takes one answer')
            answered = True
            await connection.accept(answer['sdp'])
    finally:
        if asking is not None:
            asking.cancel()
        await connection.close()


async def _tell_servers(socket: web.WebSocketResponse, way: MediaWay) -> None:
    findings = [{'url': finding.url, 'problem': finding.problem} for finding in await check_servers(way.servers)]
    try:
        await socket.send_json({'type': 'check_servers', 'servers': findings})
    except (ConnectionError, RuntimeError):
        pass  # the page has gone


class _Trial:
    """A connection with a samples channel that answers pings, and a small picture."""

    def __init__(self, configuration: RTCConfiguration) -> None:
        self._connection = RTCPeerConnection(configuration)
        self._picture = TrialPicture()
        # Tracks before channels: aiortc 1.16 closes the shared transport if a channel made it.
        transceiver = self._connection.addTransceiver(self._picture, direction='sendonly')
        codecs = RTCRtpSender.getCapabilities('video').codecs
        transceiver.setCodecPreferences(sorted(codecs, key=lambda codec: codec.mimeType.lower() != 'video/h264'))
        self._samples = self._connection.createDataChannel('samples', ordered=False, maxRetransmits=0)
        self._samples.on('message', self._answer_ping)

    async def offer(self) -> Event:
        await self._connection.setLocalDescription(await self._connection.createOffer())
        return {'sdp': self._connection.localDescription.sdp}

    async def accept(self, sdp: str) -> None:
        try:
            await self._connection.setRemoteDescription(RTCSessionDescription(sdp=sdp, type='answer'))
        except Exception as error:
            # What aiortc raises on an answer that was tampered with is not of one kind.
            raise PageMessageError(f'the answer does not fit the offer ({type(error).__name__})') from error

    async def close(self) -> None:
        self._picture.stop()
        await self._connection.close()

    def _answer_ping(self, data: str | bytes) -> None:
        try:
            message = parse_sample(data) if isinstance(data, str) else None
        except PageMessageError:
            return
        if message is not None and message.type == 'ping':
            pong = {'type': 'pong', 'id': message['id'], 'sent_ms': message['sent_ms'], 'host_ms': now_ns() / 1e6}
            self._samples.send(json.dumps(pong))
