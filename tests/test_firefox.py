"""The operator's page in Debian's Firefox, whose WebRTC has no H.264: it shows VP8, and an operator drives by it."""

import os

import firefox
import pytest
import rclpy
from ros_operator import Operator
from running_stack import RunningStack

from cobalt_teleop.core import topics

pytestmark = pytest.mark.skipif(firefox.firefox_path() is None, reason='no Firefox: apt-get install firefox-esr')


@pytest.fixture(scope='module')
def stack(tmp_path_factory):
    folder = tmp_path_factory.mktemp('firefox')
    arguments = {'dataset': folder / 'dataset', 'width': 320, 'height': 240}
    with RunningStack(folder / 'stack.log', arguments=arguments) as made:
        made.wait_until_live(1)
        yield made


@pytest.fixture(scope='module')
def onlooker(stack):
    os.environ['ROS_DOMAIN_ID'] = str(stack.domain)
    rclpy.init()
    made = Operator('onlooker', host_id='sim')
    yield made
    made.close()
    rclpy.try_shutdown()


def until_live(page):
    page.wait_for("cobalt.connection.level === 'live'", 40)
    page.wait_for('Object.values(cobalt.cameras).every((camera) => camera.fps > 5)', 30)


def test_an_operator_sees_and_drives_without_h264(stack, onlooker):
    def viewers(codec):
        return onlooker.node.count_subscribers(topics.video('front', codec).absolute('env_0'))

    with firefox.open_page(stack.address) as page:
        until_live(page)
        shown = "[...document.querySelectorAll('video')].map((video) => video.videoWidth / video.videoHeight)"
        assert page.evaluate(shown) == pytest.approx([4 / 3, 4 / 3], rel=0.02)
        codecs = page.evaluate("RTCRtpReceiver.getCapabilities('video').codecs.map((codec) => codec.mimeType)")
        if 'video/H264' not in codecs:
            assert (page.evaluate('cobalt.road'), viewers('vp8'), viewers('h264')) == ('track', 1, 0)
        page.press('e', 0.1)
        page.wait_for('cobalt.control.yours', 15)
        page.wait_for('!cobalt.keys.engaged', 5)  # the press that took control is over
        before = page.evaluate('cobalt.step.target')
        page.press('e', 1.0)
        page.wait_for(f'cobalt.step.target[2] > {before[2]} + 0.02', 10)
    assert 'Traceback' not in stack.printed()
