"""Cuts, losses and changes of network between a real browser and a stack: the arm holds, and the page comes back."""

import time

import namespaces
import pytest
from chromium import wait_for
from namespaces import SmallInternet
from remote_stack import remote_page, remote_stack, take_control, wait_until_live
from ros_operator import until

pytestmark = pytest.mark.skipif(bool(namespaces.why_not()), reason=namespaces.why_not())

AUTHORITY_HUMAN = 1


@pytest.fixture(scope='module')
def internet():
    with SmallInternet() as made:
        yield made


@pytest.fixture(scope='module')
def stack(internet):
    with remote_stack(internet, grace_s=30.0) as made:
        yield made


@pytest.fixture(scope='module')
def shared_page(internet, stack, tmp_path_factory):
    with remote_page(internet, stack.address, tmp_path_factory.mktemp('browser')) as page:
        wait_until_live(page, 40.0)
        page.evaluate('window.loadedOnce = true')
        yield page
        assert page.evaluate('window.loadedOnce'), 'the page was loaded again'


@pytest.fixture
def page(internet, shared_page, stack):
    internet.open()
    wait_until_live(shared_page)
    if not shared_page.evaluate('cobalt.control.yours'):
        take_control(shared_page)
    until(lambda: not stack.moves, 'rest')
    yield shared_page
    shared_page.keyboard.up('KeyE')
    shared_page.keyboard.up('KeyQ')
    internet.open()


def drive(page, stack, key):
    """Presses a key, again if it must be, until the arm moves; it stays pressed."""
    height, end_s = stack.height, time.monotonic() + 20.0
    while abs(stack.height - height) < 0.01:
        assert time.monotonic() < end_s, f'no motion: {page.evaluate("cobalt.motion")}'
        page.keyboard.up(key)
        page.keyboard.down(key)
        # The page may just be making its link anew, and then lets go of every key.
        page.wait_for_timeout(1500)


def expect_no_motion(page, stack, seconds):
    """Watches the rows of the host: nobody is followed in any of them."""
    seen, height = stack.steps, stack.height
    page.wait_for_timeout(seconds * 1000)
    rows = stack.steps_since(seen)
    assert len(rows) > 10
    assert not [row.step for row in rows if row.parts[0].authority == AUTHORITY_HUMAN]
    assert abs(stack.height - height) < 1e-4


def is_back(page, timeout_s=30.0):
    wait_for(page, "cobalt.connection.level === 'live' && cobalt.cameras.front.age_ms < 1000", timeout_s)


def test_a_cut_of_two_seconds_holds_the_arm_and_nothing_moves_before_a_fresh_press(internet, page, stack):
    lease = stack.lease_id
    drive(page, stack, 'KeyE')
    internet.cut()
    cut_s = time.monotonic()
    until(lambda: not stack.moves, 'the hold', 2.0)
    wait_for(page, "cobalt.keys.away === 'nothing comes from the robot'", 4.0)
    assert page.evaluate('cobalt.motion.words') == 'nothing comes from the robot'
    page.keyboard.press('KeyU', delay=60)
    page.keyboard.press('Space', delay=60)
    page.wait_for_timeout(max(0.0, 2.0 - (time.monotonic() - cut_s)) * 1000)
    internet.open()
    is_back(page)
    expect_no_motion(page, stack, 1.0)
    assert stack.lease_id == lease
    page.keyboard.up('KeyE')
    drive(page, stack, 'KeyQ')


def test_after_a_long_cut_the_page_comes_back_into_its_session_and_keeps_control(internet, page, stack):
    lease, session = stack.lease_id, page.evaluate('cobalt.session')
    drive(page, stack, 'KeyE')
    internet.cut()
    until(lambda: not stack.moves, 'the hold', 2.0)
    wait_for(page, "cobalt.connection.level === 'lost'", 10.0)
    page.wait_for_timeout(4000)
    internet.open()
    is_back(page)
    expect_no_motion(page, stack, 1.0)
    assert (stack.lease_id, page.evaluate('cobalt.session')) == (lease, session)
    wait_for(page, 'cobalt.control.yours', 5.0)
    page.keyboard.up('KeyE')
    drive(page, stack, 'KeyQ')


def test_five_of_a_hundred_packets_lost_leave_the_picture_live_and_the_arm_drivable(internet, page, stack):
    internet.lose(5)
    page.wait_for_timeout(1500)
    for key in ('KeyE', 'KeyQ'):
        drive(page, stack, key)
        page.keyboard.up(key)
        until(lambda: not stack.moves, 'rest')
    assert page.evaluate('cobalt.connection.level') == 'live'
    assert page.evaluate('cobalt.road') == 'units'


def test_a_browser_that_was_offline_goes_on_without_a_new_session(page, stack):
    lease, session = stack.lease_id, page.evaluate('cobalt.session')
    page.context.set_offline(True)
    page.wait_for_timeout(1500)
    page.context.set_offline(False)
    is_back(page)
    wait_for(page, 'cobalt.control.yours', 10.0)
    drive(page, stack, 'KeyE')
    assert (stack.lease_id, page.evaluate('cobalt.session')) == (lease, session)


COUNT_GAPS = """() => {
  window.gaps = [];
  let shown = null, at = performance.now();
  setInterval(() => {
    const { frame } = cobalt.cameras.front, now = performance.now();
    if (frame === shown) return;
    if (shown !== null && now - at > 700) gaps.push(Math.round(now - at));
    shown = frame;
    at = now;
  }, 20);
}"""


def test_with_a_new_address_the_page_goes_on_in_the_same_session_with_its_control(internet, page, stack):
    lease, session = stack.lease_id, page.evaluate('cobalt.session')
    page.evaluate(COUNT_GAPS)
    address = internet.change_address()
    # The page's socket to the bridge is made anew; video and control go on over the new address, or are made anew with
    # it, but not later: a second gap would follow the first.
    until(lambda: f'{address}:' in internet.server.run('ss', '-tn'), 'a socket from the new address', 15.0)
    page.wait_for_timeout(7000)
    is_back(page)
    wait_for(page, 'cobalt.control.yours', 10.0)
    assert len(page.evaluate('gaps')) <= 1, page.evaluate('gaps')
    assert (stack.lease_id, page.evaluate('cobalt.session')) == (lease, session)
    drive(page, stack, 'KeyE')
