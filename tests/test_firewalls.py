"""Operators behind firewalls: ports that are opened, a relay (a real coturn), and words where nothing gets through."""

import coturn
import namespaces
import pytest
from chromium import wait_for
from coturn import Coturn
from namespaces import SERVER_ADDRESS, SERVER_GATEWAY, SmallInternet
from remote_stack import remote_page, remote_stack, take_control, wait_until_live
from ros_operator import until

SECRET = 'what-the-relay-and-the-bridge-know'
PORTS = (50400, 50431)

pytestmark = pytest.mark.skipif(bool(namespaces.why_not()), reason=namespaces.why_not())
needs_coturn = pytest.mark.skipif(bool(coturn.why_not()), reason=coturn.why_not())


@pytest.fixture
def internet():
    with SmallInternet() as made:
        yield made


@pytest.fixture
def relay(internet, tmp_path):
    internet.block_udp()
    with Coturn(internet.router, SERVER_GATEWAY, [SERVER_ADDRESS, SERVER_GATEWAY], SECRET, tmp_path) as made:
        yield made


def steps_of_check(internet, stack, folder):
    """Runs the connection test in a browser; returns its steps by title."""
    with remote_page(internet, f'{stack.address}check', folder) as page:
        wait_for(page, 'connectionTest.done', 60.0)
        assert not page.problems, page.problems
        return {step['title']: step for step in page.evaluate('connectionTest.steps')}


def drives(page, stack):
    take_control(page)
    until(lambda: not stack.moves, 'rest')
    height = stack.height
    page.keyboard.down('KeyE')
    until(lambda: stack.height > height + 0.02, 'motion upwards')
    page.keyboard.up('KeyE')


@needs_coturn
def test_where_udp_is_blocked_video_and_control_pass_through_the_relay(internet, relay, tmp_path, monkeypatch):
    monkeypatch.setenv('COBALT_TURN_SECRET', SECRET)
    with remote_stack(internet, turn_urls=relay.url) as stack:
        with remote_page(internet, stack.address, tmp_path) as page:
            wait_until_live(page, 40.0)
            drives(page, stack)
        steps = steps_of_check(internet, stack, tmp_path)
        assert 'through the relay (TURN)' in steps['Connection for live media']['text'], steps
        assert {step['state'] for step in steps.values()} == {'passed'}, steps


@needs_coturn
def test_a_wrong_secret_is_named_on_the_page_and_in_the_log(internet, relay, tmp_path, monkeypatch):
    monkeypatch.setenv('COBALT_TURN_SECRET', 'something else')
    with remote_stack(internet, turn_urls=relay.url) as stack:
        steps = steps_of_check(internet, stack, tmp_path)
        assert 'did not let this page in' in steps['Network addresses']['text'], steps
        found = steps['Connection for live media']
        assert found['state'] == 'failed'
        assert 'refused the login' in found['text']
        assert 'COBALT_TURN_SECRET must be its static-auth-secret' in found['advice']
        assert steps['Moving picture']['state'] == 'skipped'
        printed = stack.bridge.stop()
        assert 'it refused the login: COBALT_TURN_SECRET' in printed
        assert 'something else' not in printed


def test_ports_that_the_firewall_opens_are_enough_and_others_are_named(internet, tmp_path):
    internet.block_udp_but(*PORTS)
    with remote_stack(internet, ice_udp_ports='{}-{}'.format(*PORTS)) as stack:
        with remote_page(internet, stack.address, tmp_path) as page:
            wait_until_live(page, 40.0)
            drives(page, stack)
        internet.block_udp()
        found = steps_of_check(internet, stack, tmp_path)['Connection for live media']
        assert found['text'] == 'UDP is blocked between you and the server.'
        assert 'the UDP ports {}-{} of {}'.format(*PORTS, SERVER_ADDRESS) in found['advice']
