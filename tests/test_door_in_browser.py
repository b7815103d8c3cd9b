"""The door as people meet it: a link in a real browser, off loopback."""

import re
import urllib.parse

import pytest
import rclpy
from bridge_process import BridgeProcess, running_host
from chromium import open_page, wait_for
from running_stack import free_domain

from cobalt_teleop.bridge.door.guest import Role
from cobalt_teleop.bridge.door.invitations import Invitations
from cobalt_teleop.bridge.door.state_folder import StateFolder

# A person goes on past the warning of a certificate that the browser does not know; a test cannot click there.
GO_ON = ('--ignore-certificate-errors',)


@pytest.fixture
def bridge(monkeypatch):
    monkeypatch.setenv('ROS_DOMAIN_ID', str(free_domain()))
    rclpy.init()
    made = BridgeProcess(host='0.0.0.0')
    try:
        with running_host('env_0'):
            yield made.wait_until_served()
    finally:
        output = made.stop()
        rclpy.try_shutdown()
    assert 'Traceback' not in output, output


def test_a_link_lets_in_vanishes_from_the_address_and_ends_when_it_is_revoked(bridge):
    invitations = Invitations(StateFolder(bridge.state_dir))
    token = invitations.issue(Role.OPERATOR, '', 3600.0, 'Ada')
    with open_page(f'{bridge.url}?workcell=env_0&invite={urllib.parse.quote(token)}', flags=GO_ON) as page:
        wait_for(page, "cobalt.connection.level === 'live'", 30)
        assert page.url == f'{bridge.url}?workcell=env_0'
        assert page.evaluate('isSecureContext')
        page.reload()
        wait_for(page, "cobalt.connection.level === 'live'", 30)
        with page.context.expect_page() as opened:
            page.click('#link-word')
        test = opened.value
        wait_for(test, 'window.connectionTest?.done', 30)
        assert all(step['state'] in ('passed', 'skipped') for step in test.evaluate('connectionTest.steps')), (
            test.evaluate('connectionTest.report')
        )
        with test.expect_event('close'):
            test.click('text=Back to the arm')
        assert page.evaluate("cobalt.connection.level === 'live'"), 'the session is still that of this tab'
        invitations.revoke(invitations.check(token).invitation_id)
        wait_for(page, "cobalt.connection.level === 'lost'", 10)
        assert 'taken back' in page.inner_text('#closed')
        page.wait_for_timeout(1000)
        assert 'taken back' in page.inner_text('#closed'), 'it does not knock again and again'


def test_without_a_link_the_page_says_what_is_needed_and_http_leads_to_https(bridge):
    with open_page(bridge.url.replace('https', 'http'), flags=GO_ON) as page:
        wait_for(page, "cobalt.connection.level === 'lost'", 15)
        assert page.url == bridge.url
        assert re.search('valid link is needed.*Ask whoever runs', page.inner_text('#closed'), re.DOTALL)
        assert not page.evaluate('cobalt.workcell')
        for what in ('.bar', '#stop', '#clock', '#cameras', '#take'):
            assert not page.is_visible(what), 'what would do nothing is not shown'
        assert page.is_visible('#closed-again')
