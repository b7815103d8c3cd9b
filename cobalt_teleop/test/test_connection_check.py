"""The server's half of the connection test, over a real socket and a real connection."""

import asyncio
import json
import socket
import time

import aiohttp
import pytest
from aiohttp import web
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription

from cobalt_teleop.bridge.door.door import EntryRefusedError
from cobalt_teleop.bridge.door.guest import Guest, Role
from cobalt_teleop.bridge.door.limits import DoorLimits
from cobalt_teleop.bridge.network import connection_check, server_check
from cobalt_teleop.bridge.network.check_signalling import CheckSignalling
from cobalt_teleop.bridge.network.ice import FixedLogin, IceServers
from cobalt_teleop.bridge.network.media_way import MediaWay
from cobalt_teleop.bridge.network.udp_ports import PortRange

TOKEN = 'a-token-for-tests'


class DoorDouble:
    """Lets one token in."""

    def admit(self, token, address, *, session_id='', forwarded=False):
        if token != TOKEN:
            raise EntryRefusedError('A valid link is needed.')
        return Guest(role=Role.SPECTATOR, invitation_id='1')


def run(scenario, way=None):
    """Runs a scenario with a client and the address of a server."""

    async def serve():
        checking = CheckSignalling(DoorDouble(), DoorLimits(hello_s=1.0), way or MediaWay())
        app = web.Application()
        app.router.add_get('/ws/check', checking.serve)
        runner = web.AppRunner(app)
        await runner.setup()
        with socket.socket() as listener:
            listener.bind(('127.0.0.1', 0))
            await web.SockSite(runner, listener).start()
            async with aiohttp.ClientSession() as client:
                address = f'http://127.0.0.1:{listener.getsockname()[1]}/ws/check'
                await asyncio.wait_for(scenario(client, address), 30.0)
            await runner.cleanup()

    asyncio.run(serve())


async def first_answer(page, token=TOKEN, kind='check'):
    await page.send_json({'type': kind, 'session': '', 'token': token})
    return await page.receive_json()


def test_a_page_gets_a_connection_that_answers_pings_and_shows_a_picture():
    async def scenario(client, address):
        async with client.ws_connect(address) as page:
            offer = await first_answer(page)
            assert offer['type'] == 'check_offer'
            assert (offer['ice_servers'], offer['udp_ports']) == ([], '50000-50063')
            peer = RTCPeerConnection(RTCConfiguration(iceServers=[]))
            pong, picture = asyncio.get_running_loop().create_future(), asyncio.get_running_loop().create_future()

            @peer.on('datachannel')
            def on_channel(channel):
                channel.on('message', lambda text: pong.done() or pong.set_result(json.loads(text)))
                channel.send('no JSON at all')
                channel.send(json.dumps({'type': 'ping', 'id': 7, 'sent_ms': time.time() * 1e3}))

            @peer.on('track')
            def on_track(track):
                task = asyncio.ensure_future(track.recv())
                task.add_done_callback(lambda done: picture.set_result(done.result()))

            await peer.setRemoteDescription(RTCSessionDescription(offer['sdp'], 'offer'))
            await peer.setLocalDescription(await peer.createAnswer())
            await page.send_json({'type': 'check_answer', 'sdp': peer.localDescription.sdp})
            assert (await pong)['id'] == 7
            frame = await picture
            assert (frame.width, frame.height) == (160, 120)
            await peer.close()

    run(scenario, MediaWay(ports=PortRange(50000, 50063)))


@pytest.mark.parametrize(
    ('message', 'says'),
    [
        ({'type': 'check', 'session': '', 'token': 'wrong'}, 'A valid link is needed.'),
        ({'type': 'check_answer', 'sdp': ''}, "the first message must be 'check'"),
        ({'type': 'hello'}, "'type' must be one of check, check_answer"),
    ],
)
def test_strangers_and_nonsense_get_a_sentence_and_nothing_else(message, says):
    async def scenario(client, address):
        async with client.ws_connect(address) as page:
            await page.send_json(message)
            answer = await page.receive_json()
            assert answer['type'] == 'error'
            assert says in answer['text']
            assert (await page.receive()).type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED)

    run(scenario)


def test_an_answer_that_fits_nothing_ends_the_test():
    async def scenario(client, address):
        async with client.ws_connect(address) as page:
            await first_answer(page)
            await page.send_json({'type': 'check_answer', 'sdp': 'v=0\r\n'})
            answers = [await page.receive_json(), await page.receive_json()]
            assert any('does not fit the offer' in answer.get('text', '') for answer in answers)

    run(scenario)


def test_so_many_tests_run_at_once_and_no_more(monkeypatch):
    monkeypatch.setattr(connection_check, 'MAX_CHECKS', 1)

    async def scenario(client, address):
        async with client.ws_connect(address) as page:
            assert (await first_answer(page))['type'] == 'check_offer'
            async with client.ws_connect(address) as other:
                assert 'too many connection tests' in (await first_answer(other))['text']
        while True:  # until the server has seen that the first is gone
            async with client.ws_connect(address) as page:
                if (await first_answer(page))['type'] == 'check_offer':
                    break
            await asyncio.sleep(0.05)

    run(scenario)


def test_servers_that_do_not_answer_are_told_in_words(monkeypatch):
    monkeypatch.setattr(server_check, 'TIMEOUT_S', 0.5)
    with socket.socket() as taken, socket.socket(type=socket.SOCK_DGRAM) as silent:
        taken.bind(('127.0.0.1', 0))
        silent.bind(('127.0.0.1', 0))
        urls = [
            f'turn:127.0.0.1:{silent.getsockname()[1]}?transport=udp',
            f'turn:127.0.0.1:{taken.getsockname()[1]}?transport=tcp',
        ]
        findings = asyncio.run(server_check.check_servers(IceServers([], urls, FixedLogin('u', 'p'))))
    assert [finding.url for finding in findings] == urls
    assert 'does not answer' in findings[0].problem
    assert 'cannot be reached' in findings[1].problem
