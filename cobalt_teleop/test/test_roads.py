"""Both roads of pictures to the screen of a real browser, and the way from one to the other."""

import pytest
import rclpy
from bridge_process import BridgeProcess, running_host
from page_browser import needs_chromium, running_browser
from ros_operator import Operator, until

from cobalt_teleop.core import topics

SAMPLES = topics.operator_sample('keyboard', 'arm')

# From the moment that a test says, the decoder gets nonsense.
BREAKABLE_DECODER = """
  const decode = VideoDecoder.prototype.decode;
  VideoDecoder.prototype.decode = function (chunk) {
    if (!window.decoderBreaks) return decode.call(this, chunk);
    const data = new Uint8Array([0, 0, 0, 1, 0x65, 0xff, 0xff, 0xff]);
    return decode.call(this, new EncodedVideoChunk({ type: chunk.type, timestamp: chunk.timestamp, data }));
  };
"""

pytestmark = needs_chromium


@pytest.fixture(scope='module')
def stack(private_ros_domain):
    rclpy.init()
    with running_host('env_0'):
        bridge = BridgeProcess(grace_s=1.0).wait_until_served()
        bridge.listener = Operator('listener')
        for topic in (SAMPLES, topics.LINK):
            bridge.listener.listen(topic)
        yield bridge
        bridge.listener.close()
        output = bridge.stop()
    rclpy.try_shutdown()
    assert 'Traceback' not in output, output


@pytest.fixture(scope='module')
def browser():
    with running_browser() as made:
        yield made


@pytest.fixture
def open_page(browser, stack):
    opened, errors = [], []

    def make(query='', script=''):
        page = browser.new_context(viewport={'width': 1440, 'height': 900}).new_page()
        opened.append(page)
        page.on('pageerror', lambda error: errors.append(str(error)))
        page.on('console', lambda message: message.type == 'error' and errors.append(message.text))
        page.add_init_script(script)
        page.goto(f'{stack.url}?workcell=env_0{query}')
        wait(page, "cobalt.connection.level === 'live'")
        page.evaluate('window.neverReloaded = true')
        return page

    yield make
    for page in opened:
        page.context.close()
    assert not errors


def wait(page, condition, timeout_s=20.0):
    until(lambda: page.evaluate(condition) or page.wait_for_timeout(20), condition, timeout_s)


def newest_sample(stack):
    samples = stack.listener.heard[(SAMPLES.name, 'env_0')]
    return samples[-1] if samples else None


def drive(page, stack, key='KeyW'):
    page.keyboard.down(key)
    until(lambda: page.wait_for_timeout(20) or (newest_sample(stack) and newest_sample(stack).engaged), 'the key')


def screen_of(page):
    return page.evaluate("document.querySelector('figure.main .screen:not(.coming)').tagName")


def road_gauge(page):
    return page.inner_text('#road'), page.evaluate("document.getElementById('road').parentElement.title")


def test_a_browser_that_can_takes_the_fast_road_and_knows_how_old_its_picture_is(open_page, stack):
    page = open_page()
    assert (page.evaluate('cobalt.road'), screen_of(page)) == ('units', 'CANVAS')
    wait(page, 'cobalt.cameras.front.age_ms !== null && cobalt.cameras.front.fps > 5')
    assert 0 < page.evaluate('cobalt.cameras.front.age_ms') < 1000
    assert road_gauge(page)[0] == 'direct'
    drive(page, stack)
    until(lambda: page.wait_for_timeout(20) or newest_sample(stack).shown_frame_stamp.sec > 0, 'the shown frame')
    page.keyboard.up('KeyW')
    links = stack.listener.heard[(topics.LINK.name, 'env_0')]
    until(lambda: page.wait_for_timeout(50) or (links and links[-1].road == 'units'), 'the road in LinkStats')


def test_the_canvas_shows_what_the_camera_sees(open_page):
    page = open_page()
    colours = page.evaluate("""() => {
      const { width, height } = document.querySelector('canvas.screen');
      const copy = new OffscreenCanvas(width, height).getContext('2d');
      copy.drawImage(document.querySelector('canvas.screen'), 0, 0);
      return [width, height, new Set(copy.getImageData(0, 0, width, height).data).size];
    }""")
    assert colours[:2] == [320, 240] and colours[2] > 2


@pytest.mark.parametrize(
    ('query', 'script'),
    [
        ('&road=track', ''),
        ('', 'delete window.VideoDecoder'),
        ('', 'VideoDecoder.isConfigSupported = () => new Promise(() => {})'),
    ],
)
def test_the_video_element_is_there_for_who_asks_and_for_browsers_without_a_decoder(open_page, query, script):
    page = open_page(query, script)
    assert (page.evaluate('cobalt.road'), screen_of(page)) == ('track', 'VIDEO')
    wait(page, 'cobalt.cameras.front.age_ms !== null')
    assert road_gauge(page)[0] == 'video element'


def test_a_decoder_that_fails_means_the_other_road_without_a_reload_and_beside_control(open_page, stack):
    page = open_page(script=BREAKABLE_DECODER)
    drive(page, stack)
    session = page.evaluate('cobalt.session')
    page.evaluate('window.decoderBreaks = true')
    page.evaluate("""window.controlLost = false; window.controlWatch = setInterval(() => {
      if (cobalt.connection.control !== 'connected' || !cobalt.control.yours) window.controlLost = true; }, 20)""")
    wait(page, "cobalt.road === 'track' && document.querySelector('video.screen:not(.coming)') !== null")
    wait(page, "cobalt.connection.level === 'live' && cobalt.cameras.front.age_ms < 1000")
    assert page.evaluate('window.neverReloaded') and not page.evaluate('window.controlLost')
    assert page.evaluate('cobalt.session') == session
    name, title = road_gauge(page)
    assert name == 'video element' and 'was left: the decoder stopped' in title
    page.keyboard.up('KeyW')


DEAD_CONNECTION = """import('/unit_assembler.js').then(({ UnitAssembler }) => {
  const { take } = UnitAssembler.prototype;
  let dead = null;
  UnitAssembler.prototype.take = function (...unit) {
    dead ??= this;
    return this === dead ? undefined : take.apply(this, unit);
  };
  window.whichOneIsDead = () => dead !== null;
})"""


def test_a_dead_connection_is_made_anew_on_the_same_road(open_page):
    page = open_page()
    page.evaluate(DEAD_CONNECTION)
    wait(page, 'window.whichOneIsDead && window.whichOneIsDead()')
    wait(page, "cobalt.connection.level !== 'live'")
    wait(page, "cobalt.connection.level === 'live' && cobalt.cameras.front.age_ms < 500")
    assert page.evaluate('cobalt.road') == 'units'
    assert page.evaluate('window.neverReloaded')


def test_units_that_stop_coming_hold_the_arm_and_mean_the_other_road_and_a_fresh_press(open_page, stack):
    page = open_page()
    drive(page, stack, 'KeyE')
    page.evaluate("import('/unit_assembler.js').then((m) => { m.UnitAssembler.prototype.take = () => {}; })")
    until(lambda: page.wait_for_timeout(20) or not newest_sample(stack).engaged, 'the hold', 4.0)
    assert page.evaluate("cobalt.connection.control === 'connected' && cobalt.control.yours")
    wait(page, "cobalt.road === 'track' && cobalt.connection.level === 'live' && cobalt.cameras.front.age_ms < 500")
    assert page.evaluate('window.neverReloaded')
    page.wait_for_timeout(400)
    assert not newest_sample(stack).engaged, 'the key that is still down moves nothing'
    page.keyboard.up('KeyE')
    drive(page, stack, 'KeyE')
    page.keyboard.up('KeyE')
