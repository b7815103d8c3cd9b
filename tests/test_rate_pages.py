"""Gamepad and SpaceMouse in the page, in a real Chromium, between a real bridge, their nodes and a real host.

The devices are doubles on the page's side: of navigator.getGamepads and of navigator.hid. No real one was tried. The
arm is an ideal one: it stands where its target is.
"""

import signal
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from chromium import DESKTOP, PHONE
from device_pages import new_page, running_chromium, running_stack
from page_browser import needs_chromium
from ros_operator import until

from cobalt_devices.gamepad_node import GamepadNode
from cobalt_devices.spacemouse_node import SpaceMouseNode
from cobalt_interfaces.msg import PartStep
from cobalt_teleop.core import topics
from cobalt_teleop.core.pose import angle_between, inverse, multiply, rotation_vector
from cobalt_teleop.ros.poses import pose_of
from cobalt_teleop.ros.process import Stop
from cobalt_teleop.workcell_host.ideal_plant import IdealPlant

pytestmark = needs_chromium

DOUBLES = Path(__file__).with_name('rate_doubles.js').read_text()
SPEED, TURN = 0.15, 0.8
SIDE_S = 0.6
BESIDE_M = 0.001
"""How far the tool may lie beside the straight line of a side."""
LOST_S = 0.1
"""How much of a push's time may be lost: a page's timers, samples and ticks each take theirs."""
STILL_M = 0.0005

LEFT_SHOULDER, LEFT_TRIGGER, RIGHT_TRIGGER = 4, 6, 7
REST = (0, 0, 0, 0)


class Arm:
    """What the host says of the arm."""

    def __init__(self, steps):
        self.steps = steps

    @property
    def part(self):
        return self.steps[-1].parts[0]

    @property
    def pose(self):
        return pose_of(self.part.pose)

    def until_it_follows(self):
        until(lambda: self.part.hold_reason == PartStep.HOLD_NONE, 'the arm to follow')

    def until_it_holds(self):
        until(lambda: self.part.hold_reason != PartStep.HOLD_NONE, 'the arm to hold')

    @contextmanager
    def standing_still(self):
        """Whatever happens meanwhile, the arm does not move."""
        count, before = len(self.steps), self.pose
        yield
        for step in self.steps[count:]:
            pose = pose_of(step.parts[0].pose)
            assert np.linalg.norm(pose.position - before.position) < STILL_M
            assert angle_between(pose.quat_xyzw, before.quat_xyzw) < 1e-3


@pytest.fixture(scope='module')
def stack():
    plants = {'env_0': IdealPlant(), 'env_1': IdealPlant(('left', 'right'))}
    with running_stack(plants, lambda: [GamepadNode(Stop()), SpaceMouseNode(Stop())]) as made:
        yield made


@pytest.fixture(scope='module')
def browser():
    with running_chromium() as made:
        yield made


@pytest.fixture
def arm(stack):
    made = Arm(stack.listener.heard[(topics.CONTROL_STEP.name, 'env_0')])
    until(lambda: made.steps, 'the first tick')
    return made


@pytest.fixture
def open_page(browser, stack):
    """Opens the page with doubles of the devices, and what scripts change of them."""
    opened = []

    def open_one(*scripts, screen=DESKTOP, workcell='env_0', **options):
        page = new_page(browser.new_context(viewport=screen, **options), (DOUBLES, *scripts))
        page.goto(f'{stack.url}?workcell={workcell}')
        opened.append(page)
        wait(page, "cobalt.connection.level === 'live'")
        return page

    yield open_one
    for page in opened:
        problems = page.problems
        if page.evaluate('cobalt.control.yours'):
            page.click('#take')
            wait(page, '!cobalt.control.yours')
        page.context.close()
        assert not problems


def wait(page, condition, timeout_s=12.0):
    until(lambda: page.evaluate(condition) or page.wait_for_timeout(20), condition, timeout_s)


def says(page, device):
    return page.inner_text(f'#{device} .rates-line')


def until_it_says(page, device, *words):
    until(
        lambda: all(word in says(page, device) for word in words) or page.wait_for_timeout(20),
        f'{words}, not {says(page, device)}',
    )


def move_along_the_base(page):
    page.click('#drive-settings-open')
    page.select_option('select[name=reference]', 'base')
    page.click('#drive-settings-open')


def stick(page, *axes):
    page.evaluate(f'pad.push({", ".join(map(str, axes))})')


def hold(page, *buttons):
    page.evaluate(f'pad.press({", ".join(map(str, buttons))})')


def release(page, *buttons):
    page.evaluate(f'pad.release({", ".join(map(str, buttons))})')


@pytest.fixture
def gamepad(open_page):
    page = open_page()
    page.click('#drive-tab-gamepad')
    move_along_the_base(page)
    page.evaluate('pad.plug()')
    until_it_says(page, 'gamepad', 'Xbox Wireless Controller', 'Hold LB or RB')
    return page


@pytest.fixture
def mouse(open_page):
    page = open_page()
    connect(page)
    move_along_the_base(page)
    return page


def connect(page, options='{}'):
    page.click('#drive-tab-spacemouse')
    page.evaluate(f'window.mouse = cap.make({options}); cap.plug(mouse); cap.hid.offered = mouse')
    page.click('.rates-connect')
    until_it_says(page, 'spacemouse', 'Push the cap to drive')


def push(page, *axes):
    page.evaluate(f'mouse.axes = [{", ".join(map(str, axes))}]')


class TooBusyError(AssertionError):
    """The host held in the middle of a push, or much of its time was lost: this machine is too busy for a page."""


def push_for_a_while(page, arm, script, way):
    """Pushes for SIDE_S, timed by the page's own clock, and waits until the arm has followed.

    Returns:
        The ticks meanwhile.

    Raises:
        TooBusyError: The host held.
    """
    count = len(arm.steps)
    begin, end = script(way), script(None)
    page.evaluate(f'new Promise((done) => {{ {begin}; setTimeout(() => {{ {end}; done(); }}, {SIDE_S * 1e3}); }})')
    page.wait_for_timeout(250)
    steps = arm.steps[count:]
    reasons = [step.parts[0].hold_reason for step in steps]
    reasons = reasons[next((at for at, reason in enumerate(reasons) if reason == PartStep.HOLD_NONE), 0) :]
    if any(reason != PartStep.HOLD_NONE for reason in reasons):
        raise TooBusyError(f'held for {reasons}')
    return steps


def again_if_busy(action):
    """Returns what an action returns, in one of five attempts."""
    for _ in range(4):
        try:
            return action()
        except TooBusyError as error:
            print(error)
            time.sleep(1.0)
    return action()


def sides(page, arm, script, ways):
    """Pushes along each of some ways for a while, with rests between; returns how far each led."""
    found = []
    for way in ways:
        before = arm.pose.position
        steps = push_for_a_while(page, arm, script, way)
        led = arm.pose.position - before
        axis = int(np.argmax(np.abs(led)))
        for step in steps:
            beside = np.delete(pose_of(step.parts[0].pose).position - before, axis)
            assert np.linalg.norm(beside) < BESIDE_M
        found.append(led)
    return np.array(found)


def check_square(page, arm, script, ways, wanted):
    def square():
        led = sides(page, arm, script, ways)
        errors = np.linalg.norm(led - np.multiply(wanted, SPEED * SIDE_S), axis=1)
        print(f'sides {np.round(led * 1e3, 1).tolist()} mm, off by {np.round(errors * 1e3, 1).tolist()} mm')
        if (errors > SPEED * LOST_S).any():
            raise TooBusyError(f'off by {errors} m')
        return led

    led = again_if_busy(square)
    closing = np.linalg.norm(led.sum(axis=0))
    print(f'the square closes within {closing * 1e3:.1f} mm')
    assert closing < 2 * SPEED * LOST_S


def check_turn(page, arm, script, way, axis):
    def turn():
        before = arm.pose
        push_for_a_while(page, arm, script, way)
        assert np.linalg.norm(arm.pose.position - before.position) < BESIDE_M
        turned = rotation_vector(multiply(arm.pose.quat_xyzw, inverse(before.quat_xyzw)))
        print(f'turn {np.round(np.degrees(turned), 1).tolist()} deg, wanted {np.degrees(TURN * SIDE_S):.1f}')
        if np.linalg.norm(turned - np.multiply(axis, TURN * SIDE_S)) > TURN * LOST_S:
            raise TooBusyError(f'turned by {turned} rad')

    again_if_busy(turn)


AWAY, LEFT, CLOSER, RIGHT = (1, 0, 0), (0, 1, 0), (-1, 0, 0), (0, -1, 0)


def push_sticks(axes):
    return f'pad.push({", ".join(map(str, axes or REST))})'


def push_cap(axes):
    return f'mouse.axes = [{", ".join(map(str, axes or (0,) * 6))}]'


def test_a_gamepad_drives_a_square_and_a_turn(gamepad, arm):
    hold(gamepad, LEFT_SHOULDER)
    until_it_says(gamepad, 'gamepad', 'You drive')
    wait(gamepad, 'cobalt.control.yours')
    check_square(
        gamepad,
        arm,
        push_sticks,
        [(0, -1, 0, 0), (-1, 0, 0, 0), (0, 1, 0, 0), (1, 0, 0, 0)],
        [AWAY, LEFT, CLOSER, RIGHT],
    )
    check_turn(gamepad, arm, push_sticks, (0, 0, -1, 0), (0, 0, 1))
    check_turn(gamepad, arm, push_sticks, (0, 0, 1, 0), (0, 0, -1))


def test_sticks_alone_move_nothing_and_letting_go_holds_at_once(gamepad, arm):
    with arm.standing_still():
        stick(gamepad, 0, -1, 0, 0)
        gamepad.wait_for_timeout(400)
        stick(gamepad, *REST)
    hold(gamepad, LEFT_SHOULDER)
    wait(gamepad, 'cobalt.control.yours')
    with arm.standing_still():
        gamepad.wait_for_timeout(300)
    stick(gamepad, 0, 0.6, 0, 0)
    arm.until_it_follows()
    release(gamepad, LEFT_SHOULDER)
    began_s = time.monotonic()
    arm.until_it_holds()
    assert time.monotonic() - began_s < 0.25
    gamepad.wait_for_timeout(100)
    with arm.standing_still():
        gamepad.wait_for_timeout(300)


def test_the_triggers_close_and_open_the_gripper(gamepad, arm):
    hold(gamepad, LEFT_SHOULDER)
    wait(gamepad, 'cobalt.control.yours')
    gamepad.evaluate(f'pad.press({RIGHT_TRIGGER}); setTimeout(() => pad.release({RIGHT_TRIGGER}), 60)')
    until(lambda: arm.part.gripper_target == 0.0, 'the gripper to close')
    gamepad.evaluate(f'pad.press({LEFT_TRIGGER}); setTimeout(() => pad.release({LEFT_TRIGGER}), 60)')
    until(lambda: arm.part.gripper_target == 1.0, 'the gripper to open')


HIDDEN = (
    "Object.defineProperty(document, 'visibilityState', { value: '%s', configurable: true });"
    "document.dispatchEvent(new Event('visibilitychange'))"
)


def lets_go_until_a_fresh_press(page, arm, stop, again, words):
    """After a stop the shoulder button that is still held moves nothing; pressed anew it does."""
    hold(page, LEFT_SHOULDER)
    wait(page, 'cobalt.control.yours')
    stick(page, 0, 0.5, 0, 0)
    arm.until_it_follows()
    stop()
    arm.until_it_holds()
    page.wait_for_timeout(150)
    with arm.standing_still():
        page.wait_for_timeout(200)
        again()
        if words:
            until_it_says(page, 'gamepad', words, 'Let go of LB or RB, then hold it again')
        page.wait_for_timeout(300)
        release(page, LEFT_SHOULDER)
        page.wait_for_timeout(100)
    stick(page, 0, -0.5, 0, 0)
    hold(page, LEFT_SHOULDER)
    arm.until_it_follows()
    release(page, LEFT_SHOULDER)
    stick(page, *REST)


def test_a_hidden_page_lets_go(gamepad, arm):
    lets_go_until_a_fresh_press(
        gamepad, arm, lambda: gamepad.evaluate(HIDDEN % 'hidden'), lambda: gamepad.evaluate(HIDDEN % 'visible'),
        'this page is hidden',
    )  # fmt: skip


def test_a_gamepad_that_is_unplugged_lets_go(gamepad, arm):
    lets_go_until_a_fresh_press(
        gamepad, arm, lambda: gamepad.evaluate('pad.unplug()'), lambda: gamepad.evaluate('pad.plug()'), 'Let go'
    )


def test_control_that_ends_lets_go(gamepad, arm):
    def give_control_back():
        gamepad.click('#take')
        wait(gamepad, '!cobalt.control.yours')

    lets_go_until_a_fresh_press(gamepad, arm, give_control_back, lambda: None, 'your control has ended')


def test_a_link_that_is_cut_holds_within_the_watchdog_s_time(gamepad, arm, stack):
    hold(gamepad, LEFT_SHOULDER)
    wait(gamepad, 'cobalt.control.yours')
    stick(gamepad, 0, 0.5, 0, 0)
    arm.until_it_follows()
    stack.process.send_signal(signal.SIGSTOP)
    try:
        began_s = time.monotonic()
        arm.until_it_holds()
        held_s = time.monotonic() - began_s
        print(f'held {held_s * 1e3:.0f} ms after the cut')
        assert held_s < 0.4
        time.sleep(0.2)
        with arm.standing_still():
            time.sleep(1.5)
    finally:
        stack.process.send_signal(signal.SIGCONT)
    with arm.standing_still():
        gamepad.wait_for_timeout(1500)
    release(gamepad, LEFT_SHOULDER)
    stick(gamepad, *REST)


def test_a_gamepad_in_hand_is_chosen_by_its_shoulder_button(open_page):
    page = open_page()
    page.evaluate('pad.plug()')
    assert page.get_attribute('#drive-tab-keys', 'aria-selected') == 'true'
    page.wait_for_timeout(700)
    hold(page, LEFT_SHOULDER)
    wait(page, "document.getElementById('drive-tab-gamepad').getAttribute('aria-selected') === 'true'")
    until_it_says(page, 'gamepad', 'You drive')
    page.click('#drive-tab-keys')
    page.wait_for_timeout(100)
    page.click('#drive-tab-gamepad')
    until_it_says(page, 'gamepad', 'another way to drive was chosen')


@pytest.mark.parametrize(
    ('script', 'words'),
    [
        ("Object.defineProperty(navigator, 'getGamepads', { value: undefined });", ('reads no gamepads', 'Keys')),
        ("pad.gamepad.mapping = ''; pad.plug();", ('does not know its layout', 'Keys')),
        ('', ('No gamepad yet', 'press one of its buttons')),
    ],
)
def test_the_page_says_what_is_missing_of_a_gamepad(open_page, script, words):
    page = open_page(script)
    page.click('#drive-tab-gamepad')
    until_it_says(page, 'gamepad', *words)


def test_each_maker_s_names_are_used(open_page):
    page = open_page(
        "pad.gamepad.id = 'DualSense Wireless Controller (STANDARD GAMEPAD Vendor: 054c Product: 0ce6)'; pad.plug();"
    )
    page.click('#drive-tab-gamepad')
    until_it_says(page, 'gamepad', 'DualSense Wireless Controller', 'Hold L1 or R1')
    assert 'R2 closes' in page.evaluate("document.querySelector('#gamepad svg').textContent")


def test_of_two_arms_the_chosen_one_moves(open_page, stack):
    page = open_page(workcell='env_1')
    page.click('#drive-tab-gamepad')
    move_along_the_base(page)
    page.evaluate('pad.plug()')
    until_it_says(page, 'gamepad', 'Hold LB or RB')
    assert page.inner_text('#gamepad .rates-arms').split('\n') == ['Left arm', 'Right arm']
    steps = stack.listener.heard[(topics.CONTROL_STEP.name, 'env_1')]
    for chosen, other in (('left', 'right'), ('right', 'left')):
        page.click(f'#gamepad .rates-arms >> text="{chosen.capitalize()} arm"')
        before = {part.part: part.pose.position.x for part in steps[-1].parts}
        hold(page, LEFT_SHOULDER)
        wait(page, 'cobalt.control.yours')
        stick(page, 0, -0.7, 0, 0)
        until(lambda name=chosen, x=before[chosen]: place(steps, name) - x > 0.02, f'the {chosen} arm to move')
        release(page, LEFT_SHOULDER)
        stick(page, *REST)
        page.wait_for_timeout(200)
        assert place(steps, other) == pytest.approx(before[other], abs=STILL_M)


def place(steps, name):
    return next(part.pose.position.x for part in steps[-1].parts if part.part == name)


def test_the_speed_of_the_page_slows_it_down(gamepad, arm):
    gamepad.click('#drive-settings-open')
    gamepad.select_option('select[name=speed]', '0.5')
    hold(gamepad, LEFT_SHOULDER)
    wait(gamepad, 'cobalt.control.yours')
    led = again_if_busy(lambda: sides(gamepad, arm, push_sticks, [(0, -1, 0, 0), (0, 1, 0, 0)]))
    assert np.abs(led[:, 0]) == pytest.approx(SPEED * SIDE_S / 2, abs=SPEED * LOST_S)
    gamepad.select_option('select[name=speed]', '1')


@pytest.mark.parametrize('whole', ['false', 'true'])
def test_a_spacemouse_drives_a_square_and_a_turn(open_page, arm, whole):
    page = open_page()
    connect(page, f'{{ whole: {whole} }}')
    move_along_the_base(page)
    taking_control(page, arm)

    check_square(
        page, arm, push_cap,
        [(0, -1, 0, 0, 0, 0), (-1, 0, 0, 0, 0, 0), (0, 1, 0, 0, 0, 0), (1, 0, 0, 0, 0, 0)], [AWAY, LEFT, CLOSER, RIGHT],
    )  # fmt: skip
    check_turn(page, arm, push_cap, (0, 0, 0, 0, 0, -1), (0, 0, 1))
    check_turn(page, arm, push_cap, (0, 0, 0, 0, 0, 1), (0, 0, -1))
    check_turn(page, arm, push_cap, (0, 0, 0, 0, -1, 0), (1, 0, 0))
    check_turn(page, arm, push_cap, (0, 0, 0, 0, 1, 0), (-1, 0, 0))


def taking_control(page, arm):
    push(page, 0, 0, -0.3, 0, 0, 0)
    wait(page, 'cobalt.control.yours')
    arm.until_it_follows()
    push(page, 0, 0, 0, 0, 0, 0)
    arm.until_it_holds()


def test_a_cap_at_rest_stops_the_arm_and_then_ends_the_epoch(mouse, arm):
    taking_control(mouse, arm)
    push(mouse, 0, 0.5, 0, 0, 0, 0)
    arm.until_it_follows()
    mouse.wait_for_timeout(300)
    push(mouse, 0, 0, 0, 0, 0, 0)
    mouse.wait_for_timeout(180)
    with arm.standing_still():
        mouse.wait_for_timeout(150)
        assert arm.part.hold_reason == PartStep.HOLD_NONE, 'it waits for another push'
        arm.until_it_holds()
    until_it_says(mouse, 'spacemouse', 'Push the cap to drive')


def test_its_buttons_close_and_open_the_gripper(mouse, arm):
    taking_control(mouse, arm)
    mouse.evaluate('mouse.press(1); mouse.press(0)')
    until(lambda: arm.part.gripper_target == 0.0, 'the gripper to close')
    mouse.evaluate('mouse.press(2); mouse.press(0)')
    until(lambda: arm.part.gripper_target == 1.0, 'the gripper to open')


def stops_until_it_was_at_rest(page, arm, stop, again, words):
    taking_control(page, arm)
    push(page, 0, 0.4, 0, 0, 0, 0)
    arm.until_it_follows()
    page.wait_for_timeout(200)
    stop()
    arm.until_it_holds()
    page.wait_for_timeout(150)
    with arm.standing_still():
        again()
        until_it_says(page, 'spacemouse', words)
        page.wait_for_timeout(500)
        push(page, 0, 0, 0, 0, 0, 0)
        page.wait_for_timeout(200)
    push(page, 0, -0.4, 0, 0, 0, 0)
    arm.until_it_follows()
    push(page, 0, 0, 0, 0, 0, 0)
    arm.until_it_holds()


def test_one_that_is_unplugged_while_it_moves_holds_and_goes_on_once_it_is_back(mouse, arm):
    def unplug():
        mouse.evaluate('cap.unplug(mouse)')
        until_it_says(mouse, 'spacemouse', 'was unplugged')

    stops_until_it_was_at_rest(
        mouse, arm, unplug, lambda: mouse.evaluate('cap.plug(mouse)'), 'Let go of the cap, then push it again'
    )


def test_one_that_falls_silent_while_it_is_pushed_holds(mouse, arm):
    def fall_silent():
        mouse.evaluate('mouse.reaches = false')
        until_it_says(mouse, 'spacemouse', 'the SpaceMouse is silent')

    stops_until_it_was_at_rest(
        mouse, arm, fall_silent, lambda: mouse.evaluate('mouse.reaches = true'), 'the SpaceMouse is silent'
    )


def test_a_hidden_page_lets_go_of_the_cap(mouse, arm):
    stops_until_it_was_at_rest(
        mouse, arm, lambda: mouse.evaluate(HIDDEN % 'hidden'), lambda: mouse.evaluate(HIDDEN % 'visible'),
        'this page is hidden',
    )  # fmt: skip


def test_a_bump_moves_nothing_while_another_way_to_drive_is_chosen(mouse, arm):
    mouse.click('#drive-tab-keys')
    with arm.standing_still():
        push(mouse, 0, 0.8, 0, 0, 0, 0)
        mouse.wait_for_timeout(400)
        mouse.click('#drive-tab-spacemouse')
        mouse.wait_for_timeout(300)
        assert not mouse.evaluate('cobalt.control.yours')
        push(mouse, 0, 0, 0, 0, 0, 0)
        mouse.wait_for_timeout(150)
    taking_control(mouse, arm)


def test_the_browser_is_asked_once_for_six_axes_alone(open_page):
    page = open_page()
    connect(page)
    filters = page.evaluate('cap.hid.filters')
    assert all((one['usagePage'], one['usage']) == (1, 8) for one in filters)
    assert {one['vendorId'] for one in filters} == {0x256F, 0x046D}
    assert not page.is_visible('.rates-connect')


def test_one_that_was_allowed_before_is_there_without_asking(open_page):
    page = open_page('window.mouse = cap.make(); cap.plug(mouse); cap.hid.granted.push(mouse);')
    page.click('#drive-tab-spacemouse')
    until_it_says(page, 'spacemouse', 'SpaceMouse Compact', 'Push the cap')


def test_nobody_who_picks_none_is_troubled(open_page):
    page = open_page()
    page.click('#drive-tab-spacemouse')
    page.click('.rates-connect')
    page.wait_for_timeout(200)
    assert 'No SpaceMouse yet' in says(page, 'spacemouse')


def test_one_that_cannot_be_opened_names_what_may_be_in_the_way(open_page):
    page = open_page()
    page.click('#drive-tab-spacemouse')
    page.evaluate('window.mouse = cap.make({ refuses: true }); cap.plug(mouse); cap.hid.offered = mouse')
    page.click('.rates-connect')
    until_it_says(page, 'spacemouse', 'could not be opened', '3DxWare', 'udev rule')


def test_without_webhid_the_page_says_what_is_missing_and_what_is_left(open_page):
    page = open_page("Object.defineProperty(navigator, 'hid', { value: undefined });")
    page.click('#drive-tab-spacemouse')
    until_it_says(page, 'spacemouse', 'no WebHID', 'Chrome, Edge or Opera', 'own computer', 'Keys')
    assert not page.is_visible('.rates-connect')


def test_a_phone_lists_a_gamepad_once_it_is_there_and_no_spacemouse(open_page):
    page = open_page(
        "delete navigator.hid; Object.defineProperty(navigator, 'hid', { value: undefined });",
        screen=PHONE, has_touch=True, is_mobile=True,
    )  # fmt: skip
    assert not page.query_selector('#drive-tab-gamepad') and not page.query_selector('#drive-tab-spacemouse')
    assert not page.is_visible('#gamepad')
    page.evaluate('pad.plug()')
    wait(page, "document.getElementById('drive-tab-gamepad') !== null")


@pytest.mark.parametrize('screen', [DESKTOP, PHONE], ids=['desktop', 'phone'])
@pytest.mark.parametrize('device', ['gamepad', 'spacemouse'])
def test_all_of_it_fits_the_screen_beside_the_emergency_stop(open_page, screen, device):
    page = open_page(screen=screen)
    page.evaluate('pad.plug()')
    page.click(f'#drive-tab-{device}')
    assert page.evaluate('document.documentElement.scrollWidth') == screen['width']
    box = page.locator(f'#{device} svg').bounding_box()
    assert box['x'] >= 0 and box['x'] + box['width'] <= screen['width']
    card = page.locator(f'#{device}').bounding_box()
    for text in page.locator(f'#{device} text').all():
        words = text.bounding_box()
        assert words['x'] >= card['x'] - 1 and words['x'] + words['width'] <= card['x'] + card['width'] + 1
    stop = page.locator('#stop').bounding_box()
    assert stop['y'] + stop['height'] <= screen['height']
