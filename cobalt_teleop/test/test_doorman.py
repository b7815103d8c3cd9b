"""Who takes connections in: with TLS and in plain HTTP, so many and no more, and only those who come to the point."""

import asyncio
import socket
import ssl
import time
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from cobalt_teleop.bridge.door.certificate import own_certificate
from cobalt_teleop.bridge.door.doorman import Doorman
from cobalt_teleop.bridge.door.limits import DoorLimits
from cobalt_teleop.bridge.door.listening import AddressError, is_every_address, is_loopback, listen
from cobalt_teleop.bridge.door.state_folder import StateFolder

QUICK = DoorLimits(handshake_s=1.0, sockets=6, sockets_of_address=4)
PATIENT = DoorLimits(handshake_s=60.0, sockets=6, sockets_of_address=4)


class Server:
    """A small web server behind a doorman, and what it logs."""

    def __init__(self, certificate=None, limits=None):
        self.certificate = certificate
        self.limits = limits or DoorLimits()
        self.lines = []

    @asynccontextmanager
    async def running(self):
        async def answer(request):
            return web.Response(text='hello')

        app = web.Application()
        app.router.add_get('/', answer)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        listener = listen('127.0.0.1', 0)
        self.port = listener.getsockname()[1]
        doorman = Doorman(
            listener,
            runner.server,
            context=self.certificate and self.certificate.context(),
            is_own_host=lambda host: host.startswith('127.0.0.1'),
            limits=self.limits,
            log=self.lines.append,
        )
        task = asyncio.ensure_future(doorman.serve())
        try:
            yield self
        finally:
            task.cancel()
            await runner.cleanup()

    async def connect(self, source='127.0.0.1', tls=False):
        context = ssl.create_default_context(cafile=str(self.certificate.file)) if tls else None
        return await asyncio.open_connection(
            '127.0.0.1', self.port, local_addr=(source, 0), ssl=context, server_hostname='localhost' if tls else None
        )

    async def until_it_answers(self):
        for _ in range(100):
            try:
                if '200 OK' in await asked(await self.connect(tls=self.certificate is not None)):
                    return
            except OSError:
                pass  # a handshake on a busy machine may be cut off, too
            await asyncio.sleep(0.05)
        raise AssertionError('it answers nobody any more')


@pytest.fixture
def certificate(tmp_path):
    return own_certificate(StateFolder(str(tmp_path)), ['localhost'])


def run(scenario):
    asyncio.run(asyncio.wait_for(scenario(), 40.0))


async def asked(streams, text='GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'):
    """Returns the head and body of an answer, or nothing if the connection was cut."""
    reader, writer = streams
    try:
        writer.write(text.encode())
        head = await asyncio.wait_for(reader.readuntil(b'\r\n\r\n'), 5.0)
        return (head + await reader.read(500)).decode()
    except (asyncio.IncompleteReadError, ConnectionError):
        return ''


async def cut_after_s(streams):
    """Returns when the other side ends a connection."""
    started = time.monotonic()
    try:
        while await asyncio.wait_for(streams[0].read(1000), 10.0):
            pass
    except ConnectionError:
        pass
    return time.monotonic() - started


def test_requests_are_answered_in_plain_and_over_tls(certificate):
    async def scenario():
        async with Server().running() as plain:
            assert '200 OK' in await asked(await plain.connect())
        async with Server(certificate).running() as secure:
            assert '200 OK' in await asked(await secure.connect(tls=True))
            assert secure.lines == []

    run(scenario)


def test_http_on_the_tls_port_is_led_to_https_without_its_token(certificate):
    async def scenario():
        async with Server(certificate).running() as server:
            answer = await asked(await server.connect(), 'GET /?token=abc HTTP/1.1\r\nHost: 127.0.0.1:9\r\n\r\n')
            assert answer.startswith('HTTP/1.1 307') and 'Location: https://127.0.0.1:9/\r\n' in answer
            assert 'abc' not in answer

    run(scenario)


@pytest.mark.parametrize('host', ['Host: evil.example', 'Host: a\nSet-Cookie: b', 'X: y', 'Host: 127.0.0.1 /evil'])
def test_http_on_the_tls_port_leads_nobody_to_a_foreign_name(certificate, host):
    async def scenario():
        async with Server(certificate).running() as server:
            answer = await asked(await server.connect(), f'GET / HTTP/1.1\r\n{host}\r\n\r\n')
            assert answer.startswith('HTTP/1.1 400') and 'speaks https' in answer
            assert 'Location' not in answer and 'Cookie' not in answer

    run(scenario)


def test_slow_loris_is_cut_off_and_gives_its_place_back(certificate):
    async def scenario():
        for server in (Server(limits=QUICK), Server(certificate, QUICK)):
            async with server.running():
                silent = [await server.connect() for _ in range(4)]
                dripping = await server.connect(source='127.0.0.2')

                async def drip(writer=dripping[1]):
                    for letter in 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ' + 'y' * 1000:
                        writer.write(letter.encode())
                        await asyncio.sleep(0.02)

                dripper = asyncio.ensure_future(drip())
                assert max(await asyncio.gather(*map(cut_after_s, (*silent, dripping)))) < 8.0
                dripper.cancel()
                await server.until_it_answers()

    run(scenario)


def test_a_connection_that_has_asked_once_may_stay_without_words():
    async def scenario():
        async with Server(limits=QUICK).running() as server:
            streams = await server.connect()
            assert '200 OK' in await asked(streams)
            await asyncio.sleep(1.5 * QUICK.handshake_s)
            assert '200 OK' in await asked(streams)

    run(scenario)


def test_one_address_has_so_many_sockets_and_others_still_come_in():
    async def scenario():
        async with Server(limits=DoorLimits(sockets=6, sockets_of_address=4)).running() as server:
            held = [await server.connect() for _ in range(4)]
            for streams in held:
                assert '200 OK' in await asked(streams)
            assert await asked(await server.connect()) == ''
            assert '200 OK' in await asked(await server.connect(source='127.0.0.2'))
            assert any('127.0.0.1 has no connection more' in line for line in server.lines)
            held[1][1].close()
            await server.until_it_answers()

    run(scenario)


def test_who_says_nothing_makes_way_for_who_comes_after_from_the_same_address(certificate):
    async def scenario():
        for server in (Server(limits=PATIENT), Server(certificate, PATIENT)):
            async with server.running():
                busy = await server.connect(tls=server.certificate is not None)
                assert '200 OK' in await asked(busy)
                other = await server.connect(source='127.0.0.2')
                silent = [await server.connect() for _ in range(20)]
                started_s = time.monotonic()
                assert '200 OK' in await asked(await server.connect(tls=server.certificate is not None))
                assert max(await asyncio.gather(*map(cut_after_s, silent[:-3]))) < 8.0
                assert time.monotonic() - started_s < 9.0, 'long before their time is over'
                assert '200 OK' in await asked(busy), 'who has asked stays'
                if server.certificate is None:
                    assert '200 OK' in await asked(other), 'who comes from elsewhere stays'

    run(scenario)


def test_rubbish_instead_of_a_handshake_ends_one_connection_and_nothing_else(certificate):
    async def scenario():
        async with Server(certificate, QUICK).running() as server:
            for rubbish in (b'\x16' + b'\xff' * 300, b'\x16\x03\x01\x00\x00', b'\x00' * 50, b'SSH-2.0-x\r\n', b'\n'):
                reader, writer = await server.connect()
                writer.write(rubbish)
                await cut_after_s((reader, writer))
            await server.until_it_answers()

    run(scenario)


def test_who_does_not_trust_the_certificate_is_told_of_once(certificate):
    def distrust(port):
        with (
            socket.create_connection(('127.0.0.1', port), 5.0) as connection,
            pytest.raises(ssl.SSLCertVerificationError),
        ):
            ssl.create_default_context().wrap_socket(connection, server_hostname='localhost')

    async def scenario():
        async with Server(certificate).running() as server:
            # A client that closes at once may reset its connection before its reason is read.
            for _ in range(100):
                await asyncio.to_thread(distrust, server.port)
                await asyncio.sleep(0.05)
                if server.lines:
                    break
            for _ in range(5):
                await asyncio.to_thread(distrust, server.port)
            assert len(server.lines) == 1 and 'does not trust the certificate yet' in server.lines[0]

    run(scenario)


@pytest.mark.parametrize('host', ['robot', '', '1.2.3', 'example.org', '0.0.0.0:80'])
def test_what_is_no_address_is_refused(host):
    with pytest.raises(AddressError, match=r'no address.*0\.0\.0\.0'):
        listen(host, 0)


def test_a_busy_port_is_refused_with_what_to_do():
    with socket.socket() as taken:
        taken.bind(('127.0.0.1', 0))
        taken.listen()
        with pytest.raises(AddressError, match=r"cannot be used.*'port'"):
            listen('127.0.0.1', taken.getsockname()[1])


def test_all_addresses_of_ipv6_stand_for_those_of_ipv4_too():
    with listen('::', 0) as listener, socket.create_connection(('127.0.0.1', listener.getsockname()[1]), 2.0):
        pass


def test_loopback_and_every_address_are_known():
    assert all(map(is_loopback, ('127.0.0.1', '127.9.9.9', '::1', '[::1]', 'localhost')))
    assert not any(map(is_loopback, ('0.0.0.0', '::', '192.0.2.1', 'robot', '')))
    assert all(map(is_every_address, ('0.0.0.0', '::', '[::]')))
    assert not any(map(is_every_address, ('127.0.0.1', 'robot', '')))
