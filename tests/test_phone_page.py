"""The phone's page in a real Chromium, between a real bridge, the phone's node and a real host with ideal arms.

The phone is a double: WebXR by iwer, sensors and fingers by the browser's own overrides. No real phone was tried.
"""

import signal
import time

import device_pages
import numpy as np
import pytest
from device_pages import PatientPlant, new_page, running_chromium, running_stack
from measured_arm import STILL_RAD, MeasuredArm, check_path, check_turn
from page_browser import needs_chromium
from phone_doubles import IPHONE, Fingers, phone_with_webxr
from ros_operator import until

from cobalt_devices.pose_device import PoseDeviceNode
from cobalt_interfaces.msg import PartStep
from cobalt_teleop.bridge.door.guest import Role
from cobalt_teleop.core.pose import angle_between
from cobalt_teleop.ros.process import Stop
from cobalt_teleop.ros.stamps import to_nanoseconds
from cobalt_teleop.workcell_host.ideal_plant import IdealPlant

pytestmark = needs_chromium

PORTRAIT = {'width': 390, 'height': 844}
LANDSCAPE = {'width': 844, 'height': 390}
TRIES = 5
OTHER_NAME = 'robot.test'
OF_HTTP = 'Cross-Origin-Opener-Policy header has been ignored'
"""What Chromium says of any page that came by http."""
FLAGS = (*device_pages.FLAGS, f'--host-resolver-rules=MAP {OTHER_NAME} 127.0.0.1')


@pytest.fixture(scope='module')
def stack():
    plants = {
        'env_0': PatientPlant(watchdog_s=1.0),
        'env_1': PatientPlant(('left', 'right'), watchdog_s=1.0),
        'strict': IdealPlant(),
    }
    with running_stack(plants, lambda: [PoseDeviceNode('phone', Stop())], public_names=OTHER_NAME) as made:
        yield made


@pytest.fixture(scope='module')
def browser():
    with running_chromium(FLAGS) as made:
        yield made


@pytest.fixture
def arm(stack):
    made = MeasuredArm(stack.listener, 'env_0', 'arm')
    until(lambda: made.steps, 'the first tick')
    return made


@pytest.fixture
def open_phone(browser, stack):
    """Opens the page on a phone; each is a person of its own."""
    opened = []

    def open_page(*scripts, url=None, screen=PORTRAIT, workcell='env_0', **options):
        context = browser.new_context(viewport=screen, has_touch=True, is_mobile=True, **options)
        page = new_page(context, scripts)
        page.goto(f'{url or stack.link(Role.OPERATOR)}&workcell={workcell}')
        opened.append(page)
        wait(page, "cobalt.connection.level === 'live' && !cobalt.control.holder")
        move_along_the_base(page)
        page.fingers = Fingers(page)
        return page

    yield open_page
    for page in opened:
        page.evaluate("window.cobalt?.control.yours && document.getElementById('take').click()")
        page.context.close()
        assert not [problem for problem in page.problems if OF_HTTP not in problem]


def move_along_the_base(page):
    page.tap('#drive-settings-open')
    page.select_option('select[name=reference]', 'base')
    page.tap('#drive-settings-open')


def wait(page, condition, timeout_s=12.0):
    until(lambda: page.evaluate(condition) or page.wait_for_timeout(20), condition, timeout_s)


def drive(page, button='.phone-go'):
    page.tap(button)
    wait(page, "document.body.dataset.phone === 'driving'")
    # The first frame of WebXR, or of the sensors.
    wait(page, "document.querySelector('.phone-pad').dataset.state === 'rest'")


def engage(page, arm, surface='.phone-pad'):
    page.fingers.press(surface)
    arm.until_it_follows()
    wait(page, "document.querySelector('.phone-pad').dataset.state === 'moving'")


def let_go(page, arm):
    page.fingers.lift()
    arm.until_it_holds(PartStep.HOLD_NOT_ENGAGED)


def driven(page, arm, act, prepare=lambda: None, surface='.phone-pad'):
    """Has the hand do something; once more where this machine, busy with all this, stalled, and so the arm held.

    Returns the tick and the pose from which the arm went.
    """
    for _ in range(TRIES):
        count, before = len(arm.steps), arm.pose()
        act()
        arm.settle()
        if {arm.part(step).hold_reason for step in arm.steps[count:]} == {PartStep.HOLD_NONE}:
            return count, before
        page.fingers.lift()
        prepare()
        page.wait_for_timeout(300)
        engage(page, arm, surface)
    raise AssertionError(f'the arm has held in each of {TRIES} tries')


def check_way(page, arm, act, way, **options):
    """What the hand does leads the tool along a way, and turns nothing."""
    _, before = driven(page, arm, act, **options)
    assert arm.pose().position - before.position == pytest.approx(way, abs=2e-3)
    assert angle_between(arm.pose().quat_xyzw, before.quat_xyzw) < STILL_RAD


SIDE = 0.08
HIDE = """
  Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
  Object.defineProperty(document, 'hidden', { value: true, configurable: true });
  document.dispatchEvent(new Event('visibilitychange'));
"""
SHOW_AGAIN = """
  delete document.visibilityState;
  delete document.hidden;
  document.dispatchEvent(new Event('visibilitychange'));
"""


def test_a_hand_that_goes_a_square_and_turns_takes_the_tool_along(open_phone, arm, record_property):
    page = open_phone(phone_with_webxr())
    assert page.inner_text('.phone-go') == 'Drive by moving the phone'
    drive(page)
    assert page.evaluate('hand.asked.domOverlay.root === document.body')
    engage(page, arm)

    def go_a_square():
        # Forward, left, back, right for who holds the phone: -z, -x, z, x of WebXR; x, y, -x, -y of the base.
        for way in ([0, 0, -SIDE], [-SIDE, 0, 0], [0, 0, SIDE], [SIDE, 0, 0], [0, SIDE, 0]):
            page.evaluate('(way) => hand.move(way, 0.6)', way)
            arm.settle()

    count, start = driven(page, arm, go_a_square)
    sides = [(SIDE, 0, 0), (0, SIDE, 0), (-SIDE, 0, 0), (0, -SIDE, 0), (0, 0, SIDE)]
    record_property('path_error_mm', check_path(arm, count, start.position, sides) * 1e3)
    # About the upright: y of WebXR, z of the base. Then about forward.
    _, before = driven(page, arm, lambda: page.evaluate('hand.move([0, 0, 0], 0.8, [0, 1, 0], 0.6)'))
    check_turn(arm, before, (0, 0, 1), 0.6)
    _, before = driven(page, arm, lambda: page.evaluate('hand.move([0, 0, 0], 0.8, [0, 0, -1], 0.5)'))
    check_turn(arm, before, (1, 0, 0), 0.5)
    let_go(page, arm)
    with arm.standing_still():
        page.evaluate('hand.move([0.3, -0.2, 0.4], 0.3, [1, 0, 0], 1.0)')
        engage(page, arm)
        page.wait_for_timeout(400)
    # The scale is that of the press; forward is where the phone points when the person says so.
    let_go(page, arm)
    page.tap('.phone-scale')
    page.evaluate('hand.device.quaternion.set(0, Math.SQRT1_2, 0, Math.SQRT1_2)')
    wait(page, "document.querySelector('.phone-forward').innerText.includes('90° right')")
    page.tap('.phone-forward')
    wait(page, "document.querySelector('.phone-forward').innerText.includes('ahead')")
    engage(page, arm)
    check_way(page, arm, lambda: page.evaluate(f'hand.move([-{SIDE}, 0, 0], 0.5)'), (SIDE / 2, 0, 0))
    let_go(page, arm)


def test_lost_tracking_a_hidden_page_and_the_end_of_ar_hold_until_a_fresh_press(open_phone, arm):
    page = open_phone(phone_with_webxr())
    drive(page)
    engage(page, arm)
    page.evaluate('hand.lost = true')
    arm.until_it_holds(PartStep.HOLD_NOT_TRACKED)
    wait(page, "document.querySelector('.phone-pad').dataset.state === 'lost'")
    assert 'lost its place' in page.inner_text('.phone-pad')
    with arm.standing_still():
        page.evaluate('hand.move([0.1, 0, 0], 0.1)')
        page.evaluate('hand.lost = false')
        page.wait_for_timeout(300)
    assert 'press again' in page.inner_text('.phone-pad')
    page.fingers.lift()
    engage(page, arm)
    page.evaluate(HIDE)
    arm.until_it_holds(PartStep.HOLD_NOT_ENGAGED)
    page.evaluate(SHOW_AGAIN)
    with arm.standing_still():
        page.evaluate('hand.move([0.1, 0, 0], 0.2)')
        wait(page, "document.querySelector('.phone-pad').innerText.includes('Let go, then press again')")
        assert 'this page is hidden' in page.inner_text('.phone-pad')
    page.fingers.lift()
    engage(page, arm)
    page.fingers.turn_screen(90, 844, 390)
    arm.until_it_holds(PartStep.HOLD_NOT_ENGAGED)
    page.fingers.lift()
    page.fingers.turn_screen(0, 390, 844)
    engage(page, arm)
    page.evaluate("hand.device.updateVisibilityState('visible-blurred')")
    arm.until_it_holds(PartStep.HOLD_NOT_ENGAGED)
    page.evaluate("hand.device.updateVisibilityState('visible')")
    page.fingers.lift()
    engage(page, arm)
    page.evaluate('hand.session.end()')
    arm.until_it_holds(PartStep.HOLD_NOT_ENGAGED)
    page.fingers.lift()
    wait(page, 'document.body.dataset.phone === undefined')
    assert page.is_visible('.phone-go')


def test_a_cut_link_holds_within_the_watchdog_and_a_reload_keeps_the_episode_and_control(
    open_phone, stack, record_property
):
    page, arm = open_phone(phone_with_webxr(), workcell='strict'), MeasuredArm(stack.listener, 'strict', 'arm')
    drive(page)
    engage(page, arm)
    page.fingers.press('#start', finger=2)
    page.fingers.lift(2)
    wait(page, "cobalt.episode?.phase === 'running'")
    page.fingers.lift()
    engage(page, arm)
    driven(page, arm, lambda: page.evaluate('hand.move([0.05, 0, 0], 0.3)'))
    page.evaluate('void hand.move([0.2, 0, 0], 2.0)')
    page.wait_for_timeout(300)
    arm.until_it_follows()
    cut_ns = time.time_ns()
    stack.process.send_signal(signal.SIGSTOP)
    try:
        until(lambda: arm.part().hold_reason == PartStep.HOLD_STALE, 'the hold', 2.0)
        later = (step for step in arm.steps if to_nanoseconds(step.header.stamp) > cut_ns)
        held = next(step for step in later if arm.part(step).hold_reason)
        after_ms = (to_nanoseconds(held.header.stamp) - cut_ns) / 1e6
        record_property('hold_after_ms', after_ms)
        assert after_ms < 200 + 50, 'the watchdog, and one tick'
        page.wait_for_timeout(200)
        with arm.standing_still():
            page.wait_for_timeout(300)
    finally:
        stack.process.send_signal(signal.SIGCONT)
    with arm.standing_still():
        page.wait_for_timeout(400)
    page.fingers.lift()
    session = page.evaluate('cobalt.session')
    page.reload()
    wait(page, "cobalt.connection.level === 'live' && cobalt.control.yours")
    assert page.evaluate('cobalt.session') == session
    assert page.evaluate('cobalt.episode.phase') == 'running'
    drive(page)
    engage(page, arm)
    check_way(page, arm, lambda: page.evaluate('hand.move([0, 0, -0.05], 0.4)'), (0.05, 0, 0))
    let_go(page, arm)
    assert page.is_visible('#instruction') and not page.is_visible('#verdict')
    page.tap('#discard')
    wait(page, "cobalt.episode.phase === 'ended'", 15.0)
    wait(page, "document.querySelector('#verdict').innerText.includes('Discarded')")
    assert page.is_visible('#verdict')


def test_the_gripper_slides_alone_and_while_the_arm_moves(open_phone, arm):
    page = open_phone(phone_with_webxr())
    drive(page)
    with arm.standing_still():
        page.fingers.press('.phone-gripper', at=(0.5, 0.2))
        page.fingers.move(0, 60, 0.3)
        until(lambda: 0.1 < arm.part().gripper_target < 0.9, 'the gripper between')
        page.fingers.move(0, 300, 0.3)
        until(lambda: arm.part().gripper_target == 0.0, 'the gripper to close')
        page.fingers.lift()
        arm.until_it_holds(PartStep.HOLD_NOT_ENGAGED)
    engage(page, arm)

    def move_and_open():
        page.fingers.press('.phone-gripper', finger=2, at=(0.5, 0.8))
        page.evaluate('void hand.move([0, 0, -0.05], 0.4)')
        page.fingers.move(0, -300, 0.4, finger=2)
        page.fingers.lift(2)

    check_way(page, arm, move_and_open, (0.05, 0, 0))
    assert arm.part().gripper_target == 1.0
    let_go(page, arm)


def test_a_phone_without_webxr_drives_by_touch_and_turns_by_its_sensors(open_phone, arm, record_property):
    page = open_phone('delete Navigator.prototype.xr', user_agent=IPHONE)
    assert 'have no WebXR' in page.inner_text('.phone-missing') and 'XR Browser' in page.inner_text('.phone-missing')
    page.fingers.hold_phone(0, 90, 0)
    drive(page)
    engage(page, arm)
    pixels = SIDE / 0.0005

    def go_a_square():
        for right, down in ((0, -pixels), (-pixels, 0), (0, pixels), (pixels, 0)):
            page.fingers.move(right, down, 0.6)
            arm.settle()
        page.fingers.press('.phone-pad', finger=2, at=(0.8, 0.8))
        page.fingers.move(0, -pixels, 0.6, finger=2)
        page.fingers.lift(2)

    count, start = driven(page, arm, go_a_square)
    sides = [(SIDE, 0, 0), (0, SIDE, 0), (-SIDE, 0, 0), (0, -SIDE, 0), (0, 0, SIDE)]
    record_property('path_error_mm', check_path(arm, count, start.position, sides) * 1e3)
    _, before = driven(
        page,
        arm,
        lambda: page.fingers.turn_phone((0, 90, 0), (30, 90, 0), 0.6),
        prepare=lambda: page.fingers.hold_phone(0, 90, 0),
    )
    record_property('turn_error_rad', check_turn(arm, before, (0, 0, 1), np.radians(30)))
    let_go(page, arm)
    # Forward is where the phone pointed at the start: it lies 30 degrees to the right of where it points now.
    wait(page, "document.querySelector('.phone-forward').innerText.includes('30° right')")
    with arm.standing_still():
        page.fingers.turn_phone((30, 90, 0), (0, 60, 0), 0.3)
        page.fingers.press('.phone-strip .rail')
        arm.until_it_follows()
        page.wait_for_timeout(300)
    check_way(page, arm, lambda: page.fingers.move(0, 100, 0.5), (0, 0, -0.05), surface='.phone-strip .rail')
    let_go(page, arm)
    page.tap('.phone-turning')
    engage(page, arm)
    with arm.standing_still():
        page.fingers.turn_phone((0, 60, 0), (40, 90, 0), 0.4)
        page.wait_for_timeout(200)
    let_go(page, arm)


NO_XR = 'delete Navigator.prototype.xr;'
NO_SENSORS = 'delete window.DeviceOrientationEvent;'
DENIED = "DeviceOrientationEvent.requestPermission = () => Promise.resolve('denied');"


@pytest.mark.parametrize(
    ('script', 'options', 'before', 'after'),
    [
        (NO_XR + NO_SENSORS, {}, ('no WebXR', 'motion sensors'), ()),
        (NO_XR + DENIED, {'user_agent': IPHONE}, ('XR Browser',), ('not allowed the motion sensors',)),
        (NO_XR, {}, ('no WebXR', 'Chrome'), ('tells no motion',)),
    ],
    ids=['nothing', 'denied', 'silent sensors'],
)  # fmt: skip
def test_what_is_missing_is_said_and_touch_is_left(open_phone, arm, script, options, before, after):
    page = open_phone(script, **options)
    told = page.inner_text('.phone-missing')
    assert all(words in told for words in before), told
    drive(page)
    told = page.inner_text('#notices')
    assert all(words in told for words in after), told
    assert not page.is_visible('.phone-forward') and not page.is_visible('.phone-turning')
    engage(page, arm)
    check_way(page, arm, lambda: page.fingers.move(0, -60, 0.3), (0.03, 0, 0))
    let_go(page, arm)
    page.tap('.phone-done')
    assert all(words in page.inner_text('.phone-missing') for words in after)


def test_ar_that_is_refused_is_said_and_touch_is_offered(open_phone, arm):
    page = open_phone(phone_with_webxr())
    page.evaluate('hand.refused = true')
    page.tap('.phone-go')
    wait(page, "document.querySelector('.phone-missing').innerText.includes('not allowed to use AR')")
    page.fingers.hold_phone(0, 90, 0)
    drive(page, '.phone-other')
    engage(page, arm)
    let_go(page, arm)


def test_a_page_that_came_by_http_from_afar_says_so_and_what_to_do(open_phone, stack, arm):
    url = stack.link(Role.OPERATOR).replace('127.0.0.1', OTHER_NAME)
    page = open_phone(url=url)
    assert not page.evaluate('isSecureContext')
    told = page.inner_text('.phone-missing')
    assert 'http' in told and 'https link' in told
    drive(page)
    engage(page, arm)
    let_go(page, arm)


def test_a_phone_chooses_its_arm(open_phone, stack):
    page = open_phone(phone_with_webxr(), workcell='env_1')
    wait(page, "document.querySelectorAll('.phone-arm button').length === 2")
    page.tap('.phone-arm button:has-text("Right arm")')
    drive(page)
    left, right = (MeasuredArm(stack.listener, 'env_1', name) for name in ('left', 'right'))
    engage(page, right)
    with left.standing_still():
        check_way(page, right, lambda: page.evaluate('hand.move([0, 0, -0.05], 0.4)'), (0.05, 0, 0))
    let_go(page, right)


CONTROLS = (
    '#stop', '.phone-pad', '.phone-gripper', '.phone-strip', '.phone-forward', '.phone-turning', '.phone-scale',
    '.phone-done',
)  # fmt: skip


@pytest.mark.parametrize('screen', [PORTRAIT, LANDSCAPE], ids=['portrait', 'landscape'])
def test_every_control_is_on_the_screen_and_large_and_on_the_side_of_the_hand(open_phone, screen):
    page = open_phone(NO_XR, screen=screen)
    page.fingers.hold_phone(0, 90, 0)
    drive(page)
    stop = page.locator('#stop').bounding_box()
    assert page.evaluate('[document.documentElement.scrollWidth, document.documentElement.scrollHeight]') == [
        screen['width'], screen['height'],
    ]  # fmt: skip
    places = {}
    for control in CONTROLS:
        box = places[control] = page.locator(control).bounding_box()
        assert box['width'] >= 44 and box['height'] >= 44, control
        assert box['x'] >= 0 and box['x'] + box['width'] <= screen['width'], control
        lowest = screen['height'] if control == '#stop' else stop['y']
        assert box['y'] >= 0 and box['y'] + box['height'] <= lowest, control
    assert places['.phone-pad']['width'] >= 190 and places['.phone-pad']['height'] >= 130
    assert places['.phone-gripper']['x'] < places['.phone-pad']['x']
    page.tap('.phone-done')
    page.tap('#drive-settings-open')
    page.select_option('select[name=hand]', 'left')
    page.tap('#drive-settings-open')
    drive(page)
    assert page.locator('.phone-gripper').bounding_box()['x'] > page.locator('.phone-pad').bounding_box()['x']
    page.fingers.press('.phone-pad')
    page.fingers.press('#stop', finger=2)
    wait(page, 'cobalt.control.emergency_stop')
    wait(page, "document.querySelector('.phone-pad').dataset.state === 'stopped'")
    page.fingers.lift(2)
    page.fingers.lift()
    page.tap('#release-stop')
    wait(page, '!cobalt.control.emergency_stop')
