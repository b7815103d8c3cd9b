"""STUN and TURN by parameter: what both ends are given, and nothing that nobody named."""

import asyncio
import base64
import hashlib
import hmac
import time

import pytest
from aiortc import RTCPeerConnection

from cobalt_teleop.bridge.network.ice import FixedLogin, IceError, IceServers, SharedSecret, login_from

STUN = 'stun:stun.example.org:3478'
TURN = 'turn:turn.example.org:3478?transport=udp'


def test_without_parameters_neither_end_asks_anybody():
    servers = IceServers()
    assert servers.for_page('ada') == []
    assert servers.configuration().iceServers == []


def test_aiortc_gathers_from_nobody_that_was_not_named():
    async def gather():
        connection = RTCPeerConnection(IceServers().configuration())
        connection.createDataChannel('samples')
        await connection.setLocalDescription(await connection.createOffer())
        gatherer = connection.sctp.transport.transport.iceGatherer
        assert gatherer._connection.stun_server is None
        assert gatherer._connection.turn_server is None
        assert ' typ srflx' not in connection.localDescription.sdp
        await connection.close()

    asyncio.run(gather())


def test_credentials_are_those_that_coturn_computes():
    user, password = SharedSecret('a secret', 600.0).credentials('5f3e', now_s=1_700_000_000.4)
    assert user == '1700000600:5f3e'
    assert password == base64.b64encode(hmac.digest(b'a secret', user.encode(), hashlib.sha1)).decode()


def test_each_session_gets_its_own_credentials_made_at_that_moment():
    servers = IceServers([STUN], [TURN], SharedSecret('s', 60.0))
    stun, turn = servers.for_page('ada')
    assert stun == {'urls': [STUN]}
    assert turn['urls'] == [TURN]
    expiry, name = turn['username'].split(':')
    assert name == 'ada'
    assert time.time() < int(expiry) <= time.time() + 60
    assert servers.for_page('bob')[1]['credential'] != turn['credential']


def test_the_bridge_asks_the_same_servers_under_a_name_of_its_own():
    stun, turn = IceServers([STUN], [TURN], SharedSecret('s', 60.0)).configuration().iceServers
    assert (stun.urls, turn.urls) == (STUN, TURN)
    assert turn.username.endswith(':bridge')


def test_the_bridge_asks_the_first_that_serves_it_and_pages_try_all():
    servers = IceServers([STUN], [TURN, TURN.replace('udp', 'tcp')], SharedSecret('s', 60.0))
    servers.leave_out([STUN, TURN])
    assert [server.urls for server in servers.configuration().iceServers] == [TURN.replace('udp', 'tcp')]
    assert [server['urls'] for server in servers.for_page('ada')] == [[STUN], [TURN, TURN.replace('udp', 'tcp')]]
    servers.leave_out([])
    assert len(servers.configuration().iceServers) == 3


def test_the_login_comes_from_the_environment():
    assert login_from({}, 60.0) is None
    assert login_from({'COBALT_TURN_SECRET': 's'}, 60.0) == SharedSecret('s', 60.0)
    fixed = login_from({'COBALT_TURN_USER': 'u', 'COBALT_TURN_PASSWORD': 'p'}, 60.0)
    assert fixed == FixedLogin('u', 'p')
    assert fixed.credentials('ada', 0.0) == ('u', 'p')


@pytest.mark.parametrize(
    ('environment', 'named'),
    [
        ({'COBALT_TURN_SECRET': 's', 'COBALT_TURN_USER': 'u', 'COBALT_TURN_PASSWORD': 'p'}, 'unset the one'),
        ({'COBALT_TURN_USER': 'u'}, 'COBALT_TURN_PASSWORD is not set'),
        ({'COBALT_TURN_PASSWORD': 'p'}, 'COBALT_TURN_USER is not set'),
    ],
)
def test_a_login_by_halves_is_refused(environment, named):
    with pytest.raises(IceError, match=named):
        login_from(environment, 60.0)


@pytest.mark.parametrize(
    ('stun', 'turn', 'named'),
    [
        (['stun.example.org'], [], "'stun_urls' holds 'stun.example.org'"),
        ([TURN], [], "'stun_urls'"),
        ([], ['http://example.org'], "'turn_urls' holds 'http://example.org'"),
        ([], ['turn:a:b'], "'turn_urls'"),
    ],
)
def test_an_address_that_is_none_is_refused_with_an_example(stun, turn, named):
    with pytest.raises(IceError, match=named) as refused:
        IceServers(stun, turn, FixedLogin('u', 'p'))
    assert 'example.org:3478' in str(refused.value)


def test_a_turn_server_without_a_login_is_refused():
    with pytest.raises(IceError, match='COBALT_TURN_SECRET'):
        IceServers([], [TURN])


def test_secrets_are_not_shown():
    assert 'a secret' not in repr(SharedSecret('a secret', 1.0))
    assert 'hidden' not in repr(FixedLogin('u', 'hidden'))
