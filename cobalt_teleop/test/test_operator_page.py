"""The operator's page in a real browser, between a real host and a real bridge."""

import pytest
import rclpy
from bridge_process import BridgeProcess, running_host
from goal_plant import GoalPlant
from page_browser import needs_chromium, running_browser
from ros_operator import Operator, until

from cobalt_teleop.bridge.door.guest import Role
from cobalt_teleop.core import topics
from cobalt_teleop.core.keyboard_actions import BITS

SAMPLES = topics.operator_sample('keyboard', 'arm')

pytestmark = needs_chromium


@pytest.fixture(scope='module')
def stack(private_ros_domain):
    rclpy.init()
    with running_host('env_0', 'env_1', plant=GoalPlant):
        bridge = BridgeProcess(grace_s=2.0).wait_until_served()
        listener = Operator('listener')
        listener.listen(SAMPLES)
        bridge.samples = listener.heard[(SAMPLES.name, 'env_0')]
        yield bridge
        listener.close()
        output = bridge.stop()
    rclpy.try_shutdown()
    assert 'Traceback' not in output, output


@pytest.fixture(scope='module')
def browser():
    with running_browser() as made:
        yield made


@pytest.fixture
def page(browser, stack):
    errors = []
    made = open_page(browser, stack.url + '?workcell=env_0', errors)
    yield made
    made.context.close()
    assert not errors


def open_page(browser, url, errors, **options):
    page = browser.new_context(**options).new_page()
    page.on('pageerror', lambda error: errors.append(str(error)))
    page.on('console', lambda message: message.type == 'error' and errors.append(message.text))
    page.goto(url)
    wait(page, "cobalt.connection.level === 'live'")
    return page


def wait(page, condition, timeout_s=12.0):
    """Polls from here: the page's policy forbids the evaluation that wait_for_function needs."""
    until(lambda: page.evaluate(condition) or page.wait_for_timeout(20), condition, timeout_s)


def take_control(page):
    page.click('#take')
    wait(page, 'cobalt.control.yours')


def newest(stack, condition, what):
    return until(lambda: stack.samples and condition(stack.samples[-1]) and stack.samples[-1], what)


def test_it_shows_live_video_and_knows_how_old_it_is(page):
    wait(page, 'Object.values(cobalt.cameras).some((camera) => camera.age_ms !== null)')
    # The first pictures of a machine that starts much at once are older than those that follow.
    wait(page, 'Object.values(cobalt.cameras).every(({ age_ms }) => 0 < age_ms && age_ms < 500)')
    assert page.evaluate('cobalt.clock.uncertainty_ms') < 50
    assert abs(page.evaluate('cobalt.clock.offset_ms')) < 50, 'both clocks are this machine’s'
    wait(page, "document.getElementById('connection-text').innerText === 'Live'")
    wait(page, "document.getElementById('frame-age').innerText.endsWith('ms')")
    wait(page, "document.getElementById('motion').innerText.includes('nobody has control')")


def test_the_first_key_takes_control_and_moves_at_once_and_letting_go_ends_it(page, stack):
    before = len(stack.samples)
    page.keyboard.down('KeyW')
    moving = newest(stack, lambda sample: sample.buttons == BITS['away'] and sample.engaged, 'the key')
    assert moving.clutch_epoch >= 1 and moving.press_counts[0] >= 1
    assert stack.samples[before].buttons == 0, 'a fresh press for the device node'
    assert newest(stack, lambda sample: sample.shown_frame_stamp.sec > 0, 'the shown frame')
    page.keyboard.up('KeyW')
    until(lambda: stack.samples[-1].buttons == 0, 'the release')
    newest(stack, lambda sample: not sample.engaged, 'the end of the epoch')


def test_a_page_that_loses_attention_releases_all_keys_and_says_so(page, stack):
    take_control(page)
    page.keyboard.down('KeyE')
    newest(stack, lambda sample: sample.buttons == BITS['up'] and sample.engaged, 'the key')
    page.evaluate(
        "Object.defineProperty(document, 'visibilityState', {value: 'hidden', configurable: true});"
        "document.dispatchEvent(new Event('visibilitychange'))"
    )
    newest(stack, lambda sample: sample.buttons == 0 and not sample.engaged, 'the release')
    wait(page, "document.getElementById('motion').innerText.includes('this page is hidden')")
    page.keyboard.down('KeyD')
    page.wait_for_timeout(300)
    assert stack.samples[-1].buttons == 0, 'no key counts while it is hidden'


def test_a_poor_link_is_told_with_a_way_to_the_connection_test(page):
    page.evaluate(
        'window.hog = setInterval(() => { const end = performance.now() + 580; while (performance.now() < end); }, 600)'
    )
    wait(page, 'document.querySelector(\'.notice a[href="/check"]\') !== null', 20.0)
    page.evaluate('clearInterval(window.hog)')


def test_escape_stops_and_the_stop_is_released_by_its_button(page):
    page.keyboard.press('Escape')
    wait(page, 'cobalt.control.emergency_stop')
    wait(page, "!document.getElementById('stopped').hidden")
    wait(page, "document.getElementById('motion').innerText.includes('Emergency stop')")
    page.click('#release-stop')
    wait(page, '!cobalt.control.emergency_stop')


def test_the_goal_is_shown_large_when_pressed_and_never_between_a_person_and_the_arm(page):
    wait(page, "document.getElementById('goal-small').naturalWidth === 320")
    large, small = page.locator('#goal-large'), page.locator('#goal')
    assert small.is_visible() and not large.is_visible()
    small.click()
    assert large.is_visible()
    page.keyboard.press('Enter')
    assert not large.is_visible()
    small.focus()
    page.keyboard.press('Enter')
    assert large.is_visible()
    page.keyboard.press('Enter')
    assert not large.is_visible() and page.evaluate('document.activeElement.id') == 'goal'
    small.click()
    large.click(position={'x': 5, 'y': 5})
    assert not large.is_visible()
    small.click()
    page.keyboard.press('KeyE')
    assert not large.is_visible(), 'who drives sees where'
    small.click()
    page.click('#stop')
    wait(page, 'cobalt.control.emergency_stop')
    page.click('#release-stop')
    wait(page, '!cobalt.control.emergency_stop')
    small.click()
    page.keyboard.press('Escape')
    wait(page, 'cobalt.control.emergency_stop')
    page.click('#release-stop')
    wait(page, '!cobalt.control.emergency_stop')


@pytest.mark.parametrize('screen', [(1440, 900), (1024, 640), (390, 844), (844, 390)])
def test_a_supervisor_stops_all_workcells_with_one_press(browser, stack, screen):
    errors = []
    size = {'width': screen[0], 'height': screen[1]}
    owner = open_page(browser, f'{stack.url}?token={stack.owner}', errors, viewport=size)
    driver = open_page(browser, f'{stack.link(Role.OPERATOR)}&workcell=env_1', errors)
    assert not driver.is_visible('#stop-all')
    for button in ('#stop', '#stop-all'):
        box = owner.locator(button).bounding_box()
        assert box['height'] >= 40 and box['x'] >= 0 and box['x'] + box['width'] <= screen[0]
    owner.click('#stop-all')
    wait(driver, 'cobalt.control.emergency_stop')
    wait(owner, 'cobalt.control.emergency_stop')
    until(lambda: 'All workcells are stopped' in owner.inner_text('#notices'), 'that they are')
    if not owner.is_visible('#people'):
        owner.click('#me')
    if not owner.evaluate("document.getElementById('supervise').open"):
        owner.click('#supervise summary')
    wait(owner, "!document.getElementById('release-all').hidden")
    owner.click('#release-all')
    assert driver.evaluate('cobalt.control.emergency_stop'), 'to release takes a second press'
    owner.click('#release-all')
    wait(driver, '!cobalt.control.emergency_stop')
    owner.context.close()
    driver.context.close()
    assert not errors


def test_an_episode_runs_and_a_reload_keeps_session_and_control(page):
    page.click('#start')
    wait(page, "cobalt.episode.phase === 'running'")
    wait(page, "document.getElementById('goal-small').alt === 'Bring the tool 40 cm up.'")
    session = page.evaluate('cobalt.session')
    page.reload()
    wait(page, "cobalt.connection.level === 'live' && cobalt.control.yours")
    assert page.evaluate('cobalt.session') == session
    page.click('#discard')
    wait(page, "cobalt.episode.phase === 'ended'", 15.0)
    assert page.evaluate('cobalt.episode.outcome') == 'discarded'


def test_a_workcell_is_chosen_by_address_and_by_the_chooser(browser, stack):
    errors = []
    page = open_page(browser, stack.url + '?workcell=env_1', errors)
    assert page.evaluate('cobalt.workcell') == 'env_1'
    page.select_option('#workcell', 'env_0')
    page.wait_for_url('**workcell=env_0')
    wait(page, "cobalt.workcell === 'env_0' && cobalt.connection.level === 'live'")
    page.context.close()
    assert not errors


def test_a_phone_drives_by_touch_and_every_control_fits_its_screen(browser, stack):
    errors = []
    screen = {'width': 390, 'height': 844}
    page = open_page(browser, stack.url + '?workcell=env_0', errors, viewport=screen, has_touch=True, is_mobile=True)
    assert page.evaluate('document.documentElement.scrollWidth') == 390
    take_control(page)
    assert page.inner_text('#drive-tabs [aria-selected=true]') == 'Phone'
    page.tap('#drive-tab-keys')
    box = page.locator('[data-action=left]').bounding_box()
    stop = page.locator('#stop').bounding_box()
    assert box['width'] >= 44 and box['height'] >= 44 and box['y'] + box['height'] < stop['y']
    touch = page.context.new_cdp_session(page)
    point = {'x': box['x'] + 20, 'y': box['y'] + 20}
    touch.send('Input.dispatchTouchEvent', {'type': 'touchStart', 'touchPoints': [point]})
    newest(stack, lambda sample: sample.buttons == BITS['left'] and sample.engaged, 'the touch')
    touch.send('Input.dispatchTouchEvent', {'type': 'touchCancel', 'touchPoints': []})
    newest(stack, lambda sample: sample.buttons == 0, 'the end of the touch')
    page.context.close()
    assert not errors


def large_and_small(page):
    return page.evaluate("['main', 'inset'].map((place) => document.querySelector(`figure.${place}`)?.dataset.camera)")


@pytest.mark.parametrize('screen', [{'width': 1440, 'height': 900}, {'width': 390, 'height': 844}])
def test_the_small_picture_and_the_large_one_change_places_and_back(browser, stack, screen):
    errors = []
    page = open_page(browser, stack.url + '?workcell=env_0', errors, viewport=screen)
    # The ideal plant has one camera.
    cameras = "[{name: 'front', width: 320, height: 240}, {name: 'wrist', width: 320, height: 240}]"
    page.evaluate(
        "import('/cameras.js').then(({Cameras}) => { const root = document.getElementById('cameras');"
        f' root.replaceChildren(); new Cameras(root, {{now: () => 0}}).setCameras({cameras}); }})'
    )
    assert large_and_small(page) == ['front', 'wrist']
    for expected in (['wrist', 'front'], ['front', 'wrist']):
        page.click('figure.inset button.swap')
        assert large_and_small(page) == expected
    page.context.close()
    assert not errors


@pytest.mark.parametrize(('width', 'height'), [(1440, 900), (1024, 640), (390, 844), (844, 390)])
def test_nothing_lies_over_the_picture_and_the_movement_keys_are_in_reach(browser, stack, width, height):
    errors = []
    page = open_page(browser, stack.url + '?workcell=env_0', errors, viewport={'width': width, 'height': height})
    picture, motion, stop = (page.locator(what).bounding_box() for what in ('figure.main', '#motion', '#stop'))
    assert picture['y'] + picture['height'] <= motion['y'] + 1
    for key in page.locator('.key').all():
        box = key.bounding_box()
        assert box['y'] + box['height'] <= stop['y'] and box['y'] >= 0
    page.context.close()
    assert not errors


def test_a_workcell_that_is_not_there_is_told_with_a_way_to_those_that_are(browser, stack):
    page = browser.new_context().new_page()
    page.goto(stack.url + '?workcell=env_9')
    until(lambda: 'Waiting for env_9' in page.inner_text('#curtain'), 'the sentence')
    page.keyboard.press('KeyW')
    until(lambda: 'Waiting for env_9' in page.inner_text('#notices'), 'the same in a notice')
    assert page.is_disabled('#start') and page.is_disabled('#take')
    page.click('text=Open env_1')
    page.wait_for_url('**workcell=env_1')
    wait(page, "cobalt.workcell === 'env_1' && cobalt.connection.level === 'live'")
    page.goto(stack.url)
    wait(page, "cobalt.workcell !== null && cobalt.connection.level === 'live'")
    page.context.close()


def test_success_that_a_person_says_is_shown_as_that(page):
    page.click('#start')
    wait(page, "cobalt.episode.phase === 'running'")
    page.click('#success')
    wait(page, "document.getElementById('flash').innerText === 'Marked as success'")
    assert page.get_attribute('#flash', 'data-kind') == 'marked'
    wait(page, "cobalt.episode.phase === 'ended'", 15.0)
    wait(page, "document.getElementById('discard').innerText === 'Discard episode'")
    assert page.is_disabled('#reset')


def test_a_browser_without_webrtc_reads_why(browser, stack):
    page = browser.new_context().new_page()
    page.add_init_script('delete window.RTCPeerConnection')
    page.goto(stack.url)
    until(lambda: 'no WebRTC' in page.inner_text('#curtain'), 'the sentence')
    page.context.close()
