"""Operators behind firewalls: ports that are opened, a relay (a real coturn), and words where nothing gets through."""

import coturn
import namespaces
import pytest
from chromium import wait_for
from coturn import Coturn
from namespaces import CLIENT_GATEWAY, SERVER_ADDRESS, SERVER_GATEWAY, SmallInternet
from remote_stack import PORT, remote_page, remote_stack, take_control, wait_until_live
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
def test_where_no_udp_passes_at_all_video_and_control_take_the_relay_by_tcp(internet, relay, tmp_path, monkeypatch):
    internet.block_udp_of_client()
    monkeypatch.setenv('COBALT_TURN_SECRET', SECRET)
    with remote_stack(internet, turn_urls=f'{relay.url},{relay.tcp_url}') as stack:
        with remote_page(internet, stack.address, tmp_path) as page:
            wait_until_live(page, 40.0)
            drives(page, stack)
        steps = steps_of_check(internet, stack, tmp_path)
        assert 'through the relay (TURN)' in steps['Connection for live media']['text'], steps
        assert {step['state'] for step in steps.values()} == {'passed'}, steps


@needs_coturn
def test_where_nothing_passes_the_page_tests_the_way_by_itself_and_names_a_wrong_secret(
    internet, relay, tmp_path, monkeypatch
):
    monkeypatch.setenv('COBALT_TURN_SECRET', 'something else')
    with remote_stack(internet, turn_urls=relay.url) as stack:
        with remote_page(internet, stack.address, tmp_path) as page:
            wait_for(page, "document.getElementById('curtain-title').textContent.includes('refused the login')", 60.0)
            advice = page.inner_text('#curtain-text')
            assert 'COBALT_TURN_SECRET must be its static-auth-secret' in advice
            assert page.inner_text('#way li[data-state=failed] strong') == 'Connection for live media'
        printed = stack.bridge.stop()
        assert 'it refused the login: COBALT_TURN_SECRET' in printed
        assert 'something else' not in printed


def test_the_ports_that_a_firewall_opens_are_enough(internet, tmp_path):
    internet.block_udp_but(*PORTS)
    with (
        remote_stack(internet, ice_udp_ports='{}-{}'.format(*PORTS)) as stack,
        remote_page(internet, stack.address, tmp_path) as page,
    ):
        wait_until_live(page, 40.0)
        drives(page, stack)


def test_a_port_forward_and_the_announced_address_are_enough_and_nobody_else_is_asked(internet, tmp_path):
    internet.forward_ports(PORT, *PORTS)
    internet.count_strangers()
    outside = f'{CLIENT_GATEWAY}:{PORT}'
    ports = '{}-{}'.format(*PORTS)
    with (
        remote_stack(internet, ice_udp_ports=ports, announced_addresses=CLIENT_GATEWAY, public_names=outside) as stack,
        remote_page(internet, f'https://{outside}/', tmp_path) as page,
    ):
        wait_until_live(page, 40.0)
        drives(page, stack)
    assert internet.strangers == 0
