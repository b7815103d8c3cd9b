"""Attacks on a bridge that is open to the network, one each; docs/security.md has them as a table."""

import asyncio
import base64
import json
import time
import urllib.error
import urllib.request
from contextlib import asynccontextmanager

import aiohttp
import pytest
import rclpy
from bridge_process import BridgeProcess, running_host
from page_client import PageClient

from cobalt_interfaces.msg import RecordingState
from cobalt_teleop.bridge.door.arrival_pace import TOO_OFTEN
from cobalt_teleop.bridge.door.door import REFUSED, TOO_MANY
from cobalt_teleop.bridge.door.guest import Role
from cobalt_teleop.bridge.door.invitations import Invitations
from cobalt_teleop.bridge.door.limits import DoorLimits
from cobalt_teleop.bridge.door.state_folder import StateFolder
from cobalt_teleop.bridge.operators.capacity import SESSIONS_OF_INVITATION
from cobalt_teleop.bridge.signalling import REVOKED
from cobalt_teleop.core import topics
from cobalt_teleop.ros.endpoints import create_publisher

HELLO = {'type': 'hello', 'session': '', 'workcell': '', 'operator': 'Eve', 'codecs': ['h264'], 'road': 'track'}
HELLO |= {'live': [0, 0]}
HOUR_S = 3600.0


class OpenBridge(BridgeProcess):
    """A bridge on all addresses, and whoever runs it."""

    def __init__(self):
        super().__init__(host='0.0.0.0', grace_s=1.0)
        self.wait_until_served()
        folder = StateFolder(self.state_dir)
        self.invitations = Invitations(folder)
        self.past = Invitations(folder, lambda: time.time() - 2 * HOUR_S)
        self.strangers = 1

    def invite(self, role, **values):
        return self.invitations.issue(role, '', HOUR_S, **values)

    def id_of(self, token):
        return self.invitations.check(token, 'tester').invitation_id

    def page(self, token, operator='Ada', workcell='env_0', **values):
        return PageClient(
            self.port, token=token, operator=operator, workcell=workcell, tls=self.client_context(), **values
        )

    def client(self, source=None):
        """Returns a client; each has an address of its own, so that one stranger's failures count for no other."""
        self.strangers += 1
        address = source or f'127.0.1.{self.strangers}'
        return aiohttp.ClientSession(
            base_url=self.url, connector=aiohttp.TCPConnector(local_addr=(address, 0), ssl=self.client_context())
        )

    async def answer(self, token='', session='', source=None, **fields):
        """Returns all that a stranger hears who says hello."""
        async with self.client(source) as client, client.ws_connect('/ws') as stranger:
            await stranger.send_json(HELLO | {'token': token, 'session': session} | fields)
            return [json.loads(message.data) async for message in stranger]

    async def exchange(self, text):
        """Returns what comes back for bytes that no client would send."""
        reader, writer = await asyncio.open_connection('127.0.0.1', self.port, ssl=self.client_context())
        try:
            writer.write(text)
            return await asyncio.wait_for(reader.read(4096), 8.0)
        except ConnectionError:
            return b''
        finally:
            writer.close()


@pytest.fixture(scope='module')
def bridge(private_ros_domain):
    made = OpenBridge()
    tokens = [made.owner, *(made.invite(role) for role in Role)]
    yield made
    output = made.stop()
    assert made.process.returncode == 0, output
    assert 'Bo (session' in output and 'comes as operator by invitation' in output, output
    assert 'Traceback' not in output and 'never retrieved' not in output, output
    assert not any(token in output for token in tokens), 'a token is in the log'


@pytest.fixture
def host(private_ros_domain):
    rclpy.init()
    try:
        with running_host('env_0') as node:
            yield node
    finally:
        rclpy.try_shutdown()


def run(scenario):
    asyncio.run(asyncio.wait_for(scenario(), 40.0))


def forged(token, **claims):
    payload, _, signature = token.partition('.')
    content = json.loads(base64.urlsafe_b64decode(payload + '=' * (-len(payload) % 4))) | claims
    return base64.urlsafe_b64encode(json.dumps(content).encode()).rstrip(b'=').decode() + '.' + signature


def test_whoever_has_no_valid_token_hears_one_sentence_and_nothing_of_the_robot(bridge):
    revoked = bridge.invite(Role.SUPERVISOR)
    bridge.invitations.revoke(bridge.id_of(revoked))
    tokens = {
        'none': '',
        'wrong': 'x' * 43,
        'expired': bridge.past.issue(Role.SUPERVISOR, '', HOUR_S),
        'revoked': revoked,
        'forged role': forged(bridge.invite(Role.SPECTATOR), role='supervisor'),
        'unsigned': forged(bridge.invite(Role.SPECTATOR)).partition('.')[0] + '.',
    }

    async def scenario():
        for attack, token in tokens.items():
            assert await bridge.answer(token) == [{'type': 'refused', 'text': REFUSED}], attack

    run(scenario)


def test_a_replayed_single_use_invitation_is_refused_and_its_owner_may_reload(bridge, host):
    token = bridge.invite(Role.OPERATOR, single_use=True)

    async def scenario():
        async with bridge.page(token) as first:
            await first.until_event('session')
            key, public = first.key, first.session
        assert await bridge.answer(token) == [{'type': 'refused', 'text': REFUSED}]
        assert await bridge.answer(token, session=public) == [{'type': 'refused', 'text': REFUSED}]
        async with bridge.page(token, session=key) as again:
            await again.until_event('session')
            assert again.session == public

    run(scenario)


def test_who_tries_many_tokens_must_wait_and_others_do_not(bridge):
    async def scenario():
        answers = []
        while TOO_MANY not in answers and len(answers) < 60:
            answers += [heard['text'] for heard in await bridge.answer(f'guess-{len(answers)}', source='127.0.2.1')]
        assert answers[:10] == [REFUSED] * 10 and answers[-1] == TOO_MANY
        async with bridge.page(bridge.owner) as page:
            await page.until_event('session')

    run(scenario)


def test_a_revoked_guest_is_sent_away_while_he_is_in(bridge, host):
    token = bridge.invite(Role.OPERATOR, name='Bo')

    async def scenario():
        async with bridge.page(token) as page:
            await page.until_event('you', name='Bo', role='operator')
            bridge.invitations.revoke(bridge.id_of(token))
            await page.until_event('refused', text=REVOKED)
            await page.until(lambda: page.socket.closed, 'the end of the connection')

    run(scenario)


def test_pages_of_another_origin_and_names_that_are_not_ours_are_refused(bridge):
    own = bridge.url.rstrip('/')

    async def scenario():
        async with bridge.client() as client:
            for origin in (
                'https://evil.example',
                'null',
                own.replace('https', 'http'),
                f'{own}0',
                f'{own}.evil.example',
            ):
                with pytest.raises(aiohttp.WSServerHandshakeError, match='403'):
                    await client.ws_connect('/ws', headers={'Origin': origin})
            for name in (
                'evil.example',
                f'evil.example:{bridge.port}',
                '198.51.100.7',
                '127.0.0.1.nip.io',
                'localhost.',
            ):
                answer = await client.get('/', headers={'Host': name})
                # A dot at the end names the same host.
                assert answer.status == (200 if name == 'localhost.' else 403), name
            async with client.ws_connect('/ws', headers={'Origin': own}) as socket:
                await socket.send_json(HELLO | {'token': bridge.owner})
                assert (await socket.receive_json())['type'] != 'refused'

    run(scenario)


def test_health_tells_strangers_nothing_but_that_it_runs(bridge):
    def health(**headers):
        request = urllib.request.Request(bridge.url + 'healthz', headers=headers)
        with urllib.request.urlopen(request, timeout=5.0, context=bridge.client_context()) as answer:
            return json.load(answer)

    assert health() == {'ok': True}
    assert health(Authorization='Bearer wrong') == {'ok': True}
    assert 'workcells' in health(Authorization=f'Bearer {bridge.owner}')


def test_the_picture_of_the_goal_is_for_pages_that_are_in(bridge, host):
    async def scenario():
        async with bridge.page(bridge.invite(Role.SPECTATOR)) as page, bridge.client() as client:
            await page.until_event('workcell')

            async def status(token, path='/goal/env_0'):
                async with client.get(path, headers={'Authorization': f'Bearer {token}'} if token else {}) as answer:
                    return answer.status

            for stranger in ('', 'wrong', bridge.owner, page.hello['token'], page.session):
                assert await status(stranger) == 401
                assert await status(stranger, '/goal/nowhere') == 401
            assert await status(page.key) == 404, 'this workcell has none'
            for path in ('/goal/', '/goal/nowhere', '/goal/..%2fowner_token', '/goal/%2e%2e/%2e%2e/etc/passwd'):
                assert await status(page.key, path) == 404
            bridge.invitations.revoke(bridge.id_of(page.hello['token']))
            assert await status(page.key) == 401

    run(scenario)


def test_pages_come_with_all_their_locks(bridge):
    with urllib.request.urlopen(bridge.url, timeout=5.0, context=bridge.client_context()) as page:
        policy = page.headers['Content-Security-Policy']
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and 'unsafe' not in policy
        assert page.headers['Strict-Transport-Security'].startswith('max-age=')
        assert page.headers['X-Content-Type-Options'] == 'nosniff'
        assert page.headers['Referrer-Policy'] == 'no-referrer'
        assert b'<script>' not in page.read()


@pytest.mark.parametrize(
    'path',
    [
        '/../door/door.py', '/../../../../etc/passwd', '/%2e%2e/door/door.py', '/..%2f..%2f..%2fetc%2fpasswd',
        '//etc/passwd', '/web/../bridge_node.py', '/..\\bridge_node.py', '/main.js/../../bridge_node.py', '/.',
        '/main.js%00.html', '/index.html', '/door', '/owner_token', 'https://127.0.0.1/etc/passwd',
        '/ws/../owner_token',
    ],
)  # fmt: skip
def test_no_path_leads_out_of_the_pages(bridge, path):
    async def scenario():
        text = f'GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n'
        answer = await bridge.exchange(text.encode())
        assert answer.split(b' ')[1] in (b'400', b'404'), answer[:200]
        assert b'root:' not in answer and b'import' not in answer

    run(scenario)


def test_what_is_too_large_is_refused(bridge):
    async def scenario():
        head = b'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ' + b'y' * 20_000 + b'\r\n\r\n'
        assert (await bridge.exchange(head)).split(b' ')[1] == b'400'
        many = b'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n' + b'X: y\r\n' * 5_000 + b'\r\n'
        assert (await bridge.exchange(many)).split(b' ')[1] == b'400'
        body = b'POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9000000000\r\nConnection: close\r\n\r\n'
        assert (await bridge.exchange(body)).split(b' ')[1] in (b'405', b'413')
        async with bridge.client() as client, client.ws_connect('/ws') as stranger:
            await stranger.send_str('x' * 200_000)
            assert (await stranger.receive()).type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED)
        async with bridge.client() as client, client.ws_connect('/ws', compress=15) as stranger:
            assert not stranger.compress, 'a small message that unpacks to a large one'

    run(scenario)


def test_a_flood_of_messages_ends_its_page_and_no_other(bridge, host):
    async def scenario():
        async with bridge.page(bridge.owner) as good, bridge.page(bridge.invite(Role.SPECTATOR), 'Eve') as flood:
            await good.until_event('step')
            await flood.until_event('session')
            try:
                for _ in range(2000):
                    await flood.say('here')
            except ConnectionError:
                pass
            await flood.until(lambda: flood.socket.closed, 'the end of the connection')
            before = len(good.events)
            await good.until(lambda: len(good.events) > before + 5, 'news for the others')

    run(scenario)


def test_many_pages_from_one_address_leave_room_for_others(bridge):
    async def scenario():
        sockets = []
        async with bridge.client('127.0.3.1') as client:
            with pytest.raises(aiohttp.WSServerHandshakeError, match='503'):
                for _ in range(300):  # those that say nothing leave after some seconds
                    sockets.append(await client.ws_connect('/ws'))
            assert len(sockets) >= DoorLimits().pages_of_address
            async with bridge.page(bridge.owner) as page:
                await page.until_event('session')

    run(scenario)


def test_one_link_takes_its_share_of_the_room_and_no_more(bridge):
    spy = bridge.invite(Role.SPECTATOR)

    async def first_words(client, pages):
        """Returns what a page hears that stays open."""
        pages.append(await client.ws_connect('/ws'))
        await pages[-1].send_json(HELLO | {'token': spy})
        return await pages[-1].receive_json(timeout=10.0)

    async def scenario():
        pages = []
        async with bridge.page(bridge.invite(Role.OPERATOR), 'Bo') as operator, bridge.client() as client:
            await operator.until_event('session')
            heard = [await first_words(client, pages) for _ in range(SESSIONS_OF_INVITATION)]
            assert {event['type'] for event in heard} == {'session'}
            refused = await first_words(client, pages)
            assert refused['type'] == 'refused' and 'pages are open by this link' in refused['text']
            key = operator.key
            await operator.socket.close()
            assert (await first_words(client, pages))['type'] == 'refused', 'he who reloads keeps his session'
            async with (
                bridge.page(bridge.owner) as page,
                bridge.page(bridge.invite(Role.OPERATOR), 'Bo', session=key) as again,
            ):
                await page.until_event('session')
                await again.until_event('session', session=operator.session)

    run(scenario)


def test_who_comes_and_goes_all_the_time_is_let_in_at_a_pace_and_others_come_in_meanwhile(bridge):
    spy = bridge.invite(Role.SPECTATOR)
    heard = []

    async def come_and_go(client):
        while True:
            async with client.ws_connect('/ws') as page:
                await page.send_json(HELLO | {'token': spy})
                heard.append(await page.receive_json(timeout=10.0))

    async def scenario():
        async with bridge.client() as client:
            loops = [asyncio.ensure_future(come_and_go(client)) for _ in range(8)]
            since_s = time.monotonic()
            while time.monotonic() < since_s + 30.0 and not any(event.get('text') == TOO_OFTEN for event in heard):
                await asyncio.sleep(0.05)
            async with bridge.page(bridge.invite(Role.OPERATOR)) as page:
                await page.until_event('session')
            for loop in loops:
                loop.cancel()
            took_s = time.monotonic() - since_s
            await asyncio.gather(*loops, return_exceptions=True)
        burst, rate_per_s = DoorLimits().arrivals_of_invitation
        assert any(event.get('text') == TOO_OFTEN for event in heard)
        assert sum(event['type'] == 'session' for event in heard) <= burst + rate_per_s * (took_s + 1.0)

    run(scenario)


@asynccontextmanager
async def spectator_and_holder(bridge):
    async with bridge.page(bridge.owner) as holder, bridge.page(bridge.invite(Role.SPECTATOR), 'Eve') as spectator:
        await holder.until_event('step')
        await holder.say('acquire', ask=False)
        await holder.until_event('control', yours=True)
        await spectator.until_event('control', yours=False)
        yield spectator, holder


@pytest.mark.parametrize(
    ('kind', 'fields'),
    [
        ('acquire', {'ask': False}),
        ('acquire', {'ask': True}),
        ('release', {}),
        ('hand_over', {}),
        ('start', {}),
        ('reset', {}),
        ('end', {'outcome': 'success'}),
        ('home', {}),
        ('clear_emergency_stop', {}),
        ('join_line', {}),
    ],
)
def test_a_spectator_is_refused_what_takes_more(bridge, host, kind, fields):
    async def scenario():
        async with bridge.page(bridge.invite(Role.SPECTATOR), 'Eve') as spectator:
            await spectator.until_event('step')
            await spectator.say(kind, **fields)
            await spectator.until(
                lambda: 'you are here as spectator' in (spectator.newest('notice') or {}).get('text', '').lower(),
                'the refusal',
            )
            assert not spectator.newest('control')['yours']
            assert spectator.newest('done') is None

    run(scenario)


def test_a_spectator_who_sends_samples_moves_nothing(bridge, host):
    async def scenario():
        async with spectator_and_holder(bridge) as (spectator, holder):
            await spectator.until(lambda: spectator.samples and spectator.samples.readyState == 'open', 'its channel')
            before = holder.newest('step')
            for _ in range(20):
                spectator.keys(1)
                await asyncio.sleep(0.02)
            await holder.until(lambda: holder.newest('step') is not before, 'a step')
            assert holder.newest('step')['target'] == before['target']
            assert holder.newest('control')['yours']

    run(scenario)


def test_a_second_one_gets_no_lease_and_the_holder_keeps_his(bridge, host):
    async def scenario():
        async with bridge.page(bridge.owner) as holder, bridge.page(bridge.invite(Role.OPERATOR), 'Bo') as second:
            await holder.until_event('step')
            await holder.say('acquire', ask=False)
            await holder.until_event('control', yours=True)
            await second.until_event('control', yours=False)
            for kind, fields in (('acquire', {'ask': False}), ('start', {}), ('end', {'outcome': 'success'})):
                before = len(second.events)
                await second.say(kind, **fields)
                await second.until(
                    lambda before=before: any(e['type'] == 'notice' for e in second.events[before:]), 'the refusal'
                )
            assert not second.newest('control')['yours'] and holder.newest('control')['yours']

    run(scenario)


def test_who_comes_back_as_less_has_control_no_more(bridge, host):
    """A session's key with a lesser invitation brings the session back, but not what it was allowed."""

    async def scenario():
        async with bridge.page(bridge.invite(Role.OPERATOR)) as page:
            await page.until_event('step')
            await page.say('acquire', ask=False)
            await page.until_event('control', yours=True)
            key = page.key
        async with bridge.page(bridge.invite(Role.SPECTATOR), session=key) as page:
            await page.until_event('you', role='spectator')
            await page.until_event('control', yours=False, holder='')

    run(scenario)


def test_where_recordings_lie_is_told_to_nobody_but_supervisors(bridge, host):
    recorder = create_publisher(host, topics.RECORDING, 'env_0')
    folder = '/srv/lab/datasets/lift/01JABC'

    async def scenario():
        async with bridge.page(bridge.owner) as owner, bridge.page(bridge.invite(Role.OPERATOR), 'Bo') as operator:
            await owner.until_event('step')
            await operator.until_event('step')
            recorder.publish(
                RecordingState(
                    workcell_id='env_0',
                    state=RecordingState.STATE_FAILED,
                    reason=f'the disk of {folder} is full',
                    uri=folder,
                )
            )
            told = await owner.until_event('recording', state='failed')
            assert told['uri'] == folder and folder in told['reason']
            told = await operator.until_event('recording', state='failed')
            assert (told['uri'], told['reason']) == ('lift/01JABC', 'the disk of lift/01JABC is full')
            assert '/srv' not in json.dumps(operator.events)

    run(scenario)
    host.destroy_publisher(recorder)


def test_the_public_id_of_a_session_does_not_open_it(bridge, host):
    async def scenario():
        async with bridge.page(bridge.owner) as page:
            await page.until_event('session')
            async with bridge.page(bridge.invite(Role.SPECTATOR), 'Eve', session=page.session) as stranger:
                await stranger.until_event('session')
                assert stranger.session != page.session and stranger.key != page.key
                assert page.newest('replaced') is None

    run(scenario)
