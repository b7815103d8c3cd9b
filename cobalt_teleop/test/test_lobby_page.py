"""The lobby in a real browser: the line, a supervisor's panel, and a bridge that is killed under an open page."""

import time

import pytest
import rclpy
from bridge_process import BridgeProcess, free_port, long_leases, running_host
from page_browser import needs_chromium, running_browser
from ros_operator import until

pytestmark = needs_chromium


@pytest.fixture(scope='module')
def host(private_ros_domain):
    rclpy.init()
    with long_leases(), running_host('env_0') as node:
        yield node
    rclpy.try_shutdown()


@pytest.fixture(scope='module')
def bridge(host):
    made = BridgeProcess(grace_s=0.3).wait_until_served()
    yield made
    assert 'Traceback' not in made.stop()


@pytest.fixture(scope='module')
def browser():
    with running_browser() as made:
        yield made


class Pages:
    """Pages that end with the test, and must have thrown nothing."""

    def __init__(self, browser):
        self.browser = browser
        self.contexts = []
        self.errors = []

    def open(self, url, name='', **options):
        context = self.browser.new_context(**options)
        self.contexts.append(context)
        page = context.new_page()
        page.on('pageerror', lambda error: self.errors.append(str(error)))
        if name:
            page.add_init_script(f"localStorage.setItem('cobalt.name', '{name}')")
        page.goto(url)
        return page


@pytest.fixture
def pages(browser):
    made = Pages(browser)
    yield made
    for context in made.contexts:
        context.close()
    assert not made.errors


def wait(page, condition, timeout_s=15.0):
    until(lambda: page.evaluate(condition) or page.wait_for_timeout(20), condition, timeout_s)


def overlap(page, one, other):
    first, second = (page.locator(what).bounding_box() for what in (one, other))
    apart = (
        first['x'] + first['width'] <= second['x']
        or second['x'] + second['width'] <= first['x']
        or first['y'] + first['height'] <= second['y']
        or second['y'] + second['height'] <= first['y']
    )
    return not apart


@pytest.mark.parametrize('screen', [(1440, 900), (1024, 640), (390, 844), (844, 390)])
def test_a_notice_covers_neither_an_invitation_nor_the_stop_nor_the_state(pages, bridge, screen):
    size = {'width': screen[0], 'height': screen[1]}
    owner = pages.open(bridge.url, 'Ada', viewport=size)
    wait(owner, "cobalt.connection.level === 'live'")
    owner.click('#me')
    owner.click('#supervise summary')
    owner.click('#invite-form button')
    wait(owner, "document.getElementById('invite-url').value.includes('/?invite=')")
    owner.evaluate(
        "import('/view.js').then(({notice}) => { for (const word of ['A sentence', 'Another', 'A third one'])"
        ' notice(`${word} that somebody has to read, and that is long enough for two lines.`); })'
    )
    until(lambda: owner.locator('.notice').count() == 3, 'the notices')
    for number in range(3):
        if owner.locator('.notice').nth(number).is_visible():
            assert not overlap(owner, f'.notice >> nth={number}', '#invite-link')
    owner.click('#people-close')
    shown = [number for number in range(3) if owner.locator('.notice').nth(number).is_visible()]
    for what in ('#stop', '.bar', '#motion', '.cards' if screen[0] > 820 else '#stop'):
        assert not any(overlap(owner, f'.notice >> nth={number}', what) for number in shown), what


def take_control(page):
    wait(page, "cobalt.connection.level === 'live'")
    page.click('#take')
    wait(page, 'cobalt.control.yours')


def test_who_waits_sees_the_position_and_then_whose_turn_it_is(pages, bridge):
    first = pages.open(bridge.url, 'Ada')
    take_control(first)
    second = pages.open(bridge.url)
    wait(second, "document.getElementById('strip-title').innerText === 'You are first in line'")
    wait(second, "document.getElementById('strip-text').innerText.includes('You watch env_0')")
    second.keyboard.press('KeyW')
    assert second.evaluate("document.getElementById('take').innerText") == 'Ask for control'
    second.click('#me')
    second.keyboard.type('Grace w')  # at once, without a click into the field: no letter drives, or asks for control
    assert second.evaluate("document.getElementById('take').innerText") == 'Ask for control'
    second.keyboard.press('Enter')
    wait(second, "cobalt.you.name === 'Grace w'")
    assert second.evaluate("localStorage.getItem('cobalt.name')") == 'Grace w', 'kept for the next time'
    second.click('#people-close')
    wait(first, "cobalt.people.some((person) => person.name === 'Grace w')")
    first.click('#take')  # gives control back, and with it the place
    wait(second, "document.getElementById('strip').dataset.level === 'turn'")
    assert second.title().startswith('Your turn')
    assert not second.evaluate('cobalt.control.yours'), 'nothing moves without a press'
    second.click('#strip-act')
    wait(second, 'cobalt.control.yours')
    wait(second, "document.getElementById('strip').hidden")
    wait(first, "document.getElementById('holder').innerText === 'Grace w'")


def test_a_page_goes_on_where_it_was_when_its_bridge_was_killed_without_a_reload(pages, host, tmp_path):
    port = free_port()
    first = BridgeProcess(port=port, state_dir=tmp_path).wait_until_served()
    page = pages.open(first.url, 'Ada')
    take_control(page)
    page.evaluate('window.never_reloaded = true')
    page.wait_for_timeout(1000)
    first.process.kill()
    first.process.communicate()
    wait(page, "cobalt.connection.level === 'lost'")
    started_s = time.monotonic()
    second = BridgeProcess(port=port, state_dir=tmp_path).wait_until_served()
    served_s = time.monotonic() - started_s
    wait(page, "cobalt.control.yours && cobalt.connection.level === 'live' && cobalt.place.workcell === 'env_0'")
    back_s = time.monotonic() - started_s
    print(f'served after {served_s:.1f} s, driving again after {back_s:.1f} s')
    assert page.evaluate('window.never_reloaded && cobalt.you.name') == 'Ada'
    assert 'Traceback' not in second.stop()


def test_a_supervisor_invites_a_spectator_stops_and_sends_him_away(pages, bridge):
    owner = pages.open(bridge.url, 'Ada')
    wait(owner, "cobalt.connection.level === 'live'")
    owner.click('#me')
    owner.click('#supervise summary')
    wait(owner, "document.querySelectorAll('#overview-workcells li').length === 1")
    owner.select_option('#invite-role', 'spectator')
    owner.fill('#invite-name', 'Mallory')
    owner.click('#invite-form button')
    wait(owner, "document.getElementById('invite-url').value.includes('/?invite=')")
    guest = pages.open(owner.input_value('#invite-url'))
    wait(guest, "cobalt.you?.role === 'spectator' && cobalt.connection.level === 'live'")
    assert 'invite' not in guest.url, 'the address bar keeps no token'
    wait(guest, "cobalt.you.name === 'Mallory'")
    assert guest.is_disabled('#take') and guest.is_disabled('#start')
    assert guest.evaluate("document.getElementById('supervise').hidden")
    guest.keyboard.press('KeyW')
    until(lambda: 'invited to watch' in guest.inner_text('#notices'), 'the reason')
    assert not owner.is_visible('#stop-all'), 'one workcell has its own stop'
    owner.click('#stop')
    wait(guest, 'cobalt.control.emergency_stop')
    wait(guest, "document.getElementById('stopped-by').innerText === 'Stopped by Ada'")
    assert 'A supervisor has to release it.' in guest.inner_text('#stopped') and not guest.is_visible('#release-stop')
    wait(owner, "!document.getElementById('release-all').hidden")
    owner.click('#release-all')
    assert guest.evaluate('cobalt.control.emergency_stop'), 'the first press asks'
    owner.click('#release-all')
    wait(guest, '!cobalt.control.emergency_stop')
    row = owner.locator('#overview-people li', has_text='Mallory')
    row.locator('button').click()
    row.locator('button', has_text='Sure?').click()
    until(lambda: 'sent you away' in guest.inner_text('#closed'), 'the sentence')
    guest.reload()
    until(lambda: 'link' in guest.inner_text('#closed'), 'the closed door')


def test_a_supervisors_panel_is_open_where_there_is_room_until_he_closes_it(pages, bridge):
    owners = f'{bridge.url}?token={bridge.owner}'
    desk = pages.open(owners, 'Sue')
    wait(desk, "document.querySelectorAll('#overview-workcells li').length === 1")
    assert desk.is_visible('#invite-form') and desk.is_visible('figure.main')
    wait(desk, "cobalt.place.workcell === '' && cobalt.workcell === 'env_0'")
    assert 'watches env_0' in desk.inner_text('#overview-people')
    desk.click('#people-close')
    desk.reload()
    wait(desk, "cobalt.you?.role === 'supervisor' && cobalt.connection.level === 'live'")
    assert not desk.is_visible('#people')
    phone = pages.open(owners, 'Sal', viewport={'width': 390, 'height': 844}, has_touch=True, is_mobile=True)
    wait(phone, "cobalt.you?.role === 'supervisor' && cobalt.connection.level === 'live'")
    assert not phone.is_visible('#people')


def test_an_episode_whose_driver_has_left_says_so_and_how_it_ends_and_others_can_end_it(pages, bridge, capfd):
    watcher = pages.open(f'{bridge.url}?token={bridge.owner}', 'Sue', viewport={'width': 390, 'height': 844})

    def leave_an_episode(name):
        driver = pages.open(bridge.url + '?workcell=env_0', name)
        take_control(driver)
        driver.click('#start')
        wait(watcher, "cobalt.episode?.phase === 'running'")
        driver.close()
        wait(watcher, "document.getElementById('phase').innerText === 'Ends at 1:00: nobody drives'")
        until(lambda: f'{name} has no control any more' in watcher.inner_text('#notices'), 'a notice')

    leave_an_episode('Ada')
    watcher.click('#me')
    watcher.wait_for_timeout(1200)
    if not watcher.is_visible('#overview-workcells'):
        watcher.click('#supervise summary')
    row = watcher.locator('#overview-workcells li', has_text='env_0')
    row.get_by_text('End episode').click()
    row.get_by_text('Press again').click()
    wait(watcher, "cobalt.episode.phase === 'ended' && cobalt.episode.outcome === 'aborted'")
    wait(watcher, "cobalt.control.holder === ''")
    assert not watcher.evaluate('cobalt.control.yours')
    assert 'Sue ended it' in watcher.evaluate("document.getElementById('verdict-text').innerText")
    watcher.click('#people-close')
    leave_an_episode('Bo')
    watcher.click('#take')
    wait(watcher, 'cobalt.control.yours')
    watcher.click('#discard')
    wait(watcher, "cobalt.episode.phase === 'ended' && cobalt.episode.outcome === 'discarded'")
    assert 'env_0: nobody drives, and the episode' in capfd.readouterr().err


def test_a_busy_device_is_named_and_the_panel_says_what_its_page_says(pages, bridge):
    owner = pages.open(f'{bridge.url}?token={bridge.owner}', 'Sue')
    driver = pages.open(bridge.url, 'Kim')
    wait(driver, "cobalt.link.level === 'good'")
    row = owner.locator('#overview-people li', has_text='Kim')
    until(lambda: 'link good' in row.inner_text(), 'the word of his page')
    driver.evaluate(
        'window.hog = setInterval(() => { const end = performance.now() + 380; while (performance.now() < end); }, 400)'
    )
    wait(driver, "cobalt.link.cause === 'device_ms'")
    assert 'its processor is busy' in driver.evaluate('cobalt.link.text')
    until(lambda: 'that device is busy' in row.inner_text(), 'the same word')
    driver.evaluate('clearInterval(window.hog)')


@pytest.mark.parametrize('screen', [{'width': 844, 'height': 390}, {'width': 740, 'height': 360}])
def test_all_keys_are_in_reach_on_a_phone_that_lies_on_its_side(pages, bridge, screen):
    page = pages.open(bridge.url + '?workcell=env_0', 'Ada', viewport=screen, has_touch=True, is_mobile=True)
    wait(page, "cobalt.connection.level === 'live'")
    page.tap('#drive-tab-keys')
    stop = page.locator('#stop').bounding_box()
    for key in page.locator('.key').all():
        box = key.bounding_box()
        assert box['height'] >= 44 and box['width'] >= 40 and box['y'] + box['height'] <= stop['y']


def test_a_page_whose_modules_fail_says_so(pages, bridge):
    page = pages.browser.new_context().new_page()
    page.route('**/clock.js', lambda route: route.abort())
    page.goto(bridge.url)
    until(lambda: 'did not start' in page.inner_text('#curtain'), 'the sentence')
    page.context.close()
