"""The connection test names what is in the way, and who can do what about it."""

from page_module import evaluate

SERVER = [{'address': '203.0.113.7', 'port': 50000, 'kind': 'host'}]
FACTS = {
    'kinds': ['host'],
    'stun': False,
    'turn': False,
    'errors': [],
    'server': SERVER,
    'problems': [],
    'udpPorts': '50000-50199',
    'host': 'robot.example.org',
}
REFUSED = [{'url': 'turn:relay.example.org', 'code': 401}]


def advice(function, **changes):
    facts = FACTS | changes
    return evaluate(
        'connection_advice.js', f'return m.{function}({{ ...facts, kinds: new Set(facts.kinds) }});', facts=facts
    )


def test_a_browser_without_addresses_is_blocked_by_something_of_its_own():
    found = advice('gathered', kinds=[])
    assert found['state'] == 'failed'
    assert 'extension' in found['advice']


def test_what_was_gathered_is_named():
    assert advice('gathered', kinds=['relay', 'host', 'srflx'], turn=True) == {
        'state': 'passed',
        'text': 'Addresses: this device, its router (STUN), the relay (TURN).',
    }


def test_a_relay_that_refuses_is_told_from_one_that_is_silent():
    assert 'COBALT_TURN_SECRET' in advice('gathered', turn=True, errors=REFUSED)['advice']
    assert 'port 3478' in advice('gathered', turn=True)['advice']


def test_blocked_udp_names_the_ports_to_open():
    found = advice('notConnected')
    assert found['text'] == 'UDP is blocked between you and the server.'
    assert '50000-50199 of robot.example.org' in found['advice']
    assert 'TURN' in found['advice']


def test_a_server_behind_a_router_is_told_by_its_addresses():
    behind = [{'address': '192.168.1.5', 'port': 50000, 'kind': 'host'}]
    found = advice('notConnected', server=behind, host='198.51.100.4')
    assert '192.168.1.5' in found['text']
    assert 'announced_addresses' in found['advice']


def test_a_wrong_secret_is_named_by_the_server_s_own_finding():
    problems = [{'url': 'turn:relay', 'problem': 'it refused the login'}]
    found = advice('notConnected', turn=True, errors=REFUSED, problems=problems)
    assert 'turn:relay: it refused the login' in found['advice']


def test_a_relay_that_one_end_alone_reaches():
    assert 'server cannot be reached' in advice('notConnected', turn=True, kinds=['host', 'relay'])['text']
    relayed = [*SERVER, {'address': '198.51.100.9', 'port': 49152, 'kind': 'relay'}]
    both = advice('notConnected', turn=True, kinds=['host', 'relay'], server=relayed)
    assert 'allowed-peer-ip' in both['advice']


def test_addresses_are_read_from_an_offer():
    sdp = 'v=0\r\na=candidate:1 1 udp 2130706431 10.0.0.2 50001 typ host\r\n'
    found = evaluate('connection_advice.js', 'return m.addressesOf(sdp);', sdp=sdp)
    assert found == [{'address': '10.0.0.2', 'port': 50001, 'kind': 'host'}]


def test_round_trips_are_judged():
    def judged(trips, host='robot.example.org'):
        return evaluate('connection_advice.js', 'return m.trips(trips, 10, host);', trips=trips, host=host)

    assert judged([4.0] * 10)['state'] == 'passed'
    assert judged([])['state'] == 'failed'
    assert judged([4.0] * 7)['state'] == 'warning' and 'Wi-Fi' in judged([4.0] * 7)['advice']
    assert 'this computer is too busy' in judged([4.0] * 7, '127.0.0.1')['advice']
    assert 'late' in judged([400.0] * 10)['advice']
