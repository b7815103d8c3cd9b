"""A camera's topics over real rclpy."""

import threading

import av
import numpy as np
import pytest
import rclpy
from ros_operator import Operator, until
from std_msgs.msg import Empty

from cobalt_teleop.core import topics
from cobalt_teleop.ros.endpoints import create_publisher
from cobalt_teleop.ros.stamps import now_ns, to_nanoseconds
from cobalt_teleop.video import frame_code
from cobalt_teleop.video.camera_stream import CameraStream
from cobalt_teleop.workcell_host.plant import CameraModel

FRONT = CameraModel(name='front', width=320, height=240, rate_hz=20.0, focal_px=310.0)
GREY = np.full((240, 320, 3), 100, np.uint8)


@pytest.fixture
def node(private_ros_domain):
    rclpy.init()
    made = rclpy.create_node('camera_host')
    yield made
    made.destroy_node()
    rclpy.try_shutdown()


@pytest.fixture
def stream(node):
    made = CameraStream(node, 'env_0', FRONT, 1500, draw_code=True)
    yield made
    made.close()


@pytest.fixture
def viewer(node):
    made = Operator('viewer')
    yield made
    made.close()


def play(stream, seconds, *, at_end=lambda: False):
    """Publishes at 50 Hz until `at_end`, and fails if that never comes."""
    pause = threading.Event()
    for _ in range(int(seconds * 50)):
        stream.publish(GREY, now_ns())
        pause.wait(0.02)
        if at_end():
            return
    assert not seconds or at_end(), 'it never came'


def is_key(message):
    return bytes(message.data[:5]) == b'\0\0\0\1\x67'


def test_nothing_is_made_while_nobody_subscribes(stream):
    assert not stream.wanted()
    assert stream.publish(GREY, now_ns()) is None
    assert stream.codecs() == []


def test_video_starts_with_a_key_frame_and_carries_stamp_frame_and_code(stream, viewer):
    viewer.listen(topics.video('front'))
    until(stream.wanted, 'the subscription')
    heard = viewer.heard[('camera/front/video', 'env_0')]
    refs = []
    until(lambda: refs.append(stream.publish(GREY, now_ns())) or heard, 'the first frame')
    first = heard[0]
    assert is_key(first) and first.format == 'h264' and first.frame_id == 'env_0/front_optical_frame'
    assert first.timestamp in [ref.stamp for ref in refs]
    (decoded,) = av.CodecContext.create('h264', 'r').decode(av.Packet(bytes(first.data)))
    code = frame_code.read(decoded.to_ndarray(format='rgb24'))
    assert code == frame_code.value_of_stamp(to_nanoseconds(first.timestamp))
    assert [ref.sequence for ref in refs if ref] == list(range(1, len(refs) + 1))


def test_a_key_frame_comes_on_request_but_no_faster_than_four_a_second(stream, viewer):
    viewer.listen(topics.video('front'))
    heard = viewer.heard[('camera/front/video', 'env_0')]
    requests = create_publisher(viewer.node, topics.request_key_frame('front'), 'env_0')
    until(stream.wanted, 'the subscription')
    until(lambda: requests.get_subscription_count(), 'the request topic')
    play(stream, 2.0, at_end=lambda: len(heard) > 5)
    keys_before = sum(map(is_key, heard))
    count_before = len(heard)
    for _ in range(25):
        requests.publish(Empty())
        play(stream, 0.02, at_end=lambda: True)
    play(stream, 1.0, at_end=lambda: len(heard) >= count_before + 25)
    asked = sum(map(is_key, heard)) - keys_before
    assert 1 <= asked <= 3, 'half a second of requests'


def test_raw_pictures_and_intrinsics_are_published_to_who_wants_them(stream, viewer):
    viewer.listen(topics.image_raw('front'))
    viewer.listen(topics.camera_info('front'))
    until(stream.wanted, 'the subscription')
    images, infos = (viewer.heard[(f'camera/front/{name}', 'env_0')] for name in ('image_raw', 'camera_info'))
    play(stream, 4.0, at_end=lambda: images and infos)
    image, info = images[-1], infos[-1]
    assert (image.height, image.width, image.encoding, image.step) == (240, 320, 'rgb8', 960)
    assert len(image.data) == 240 * 960
    assert list(info.k) == [310.0, 0.0, 160.0, 0.0, 310.0, 120.0, 0.0, 0.0, 1.0]
    assert stream.codecs() == [], 'raw alone costs no encoding'


def test_another_size_gets_a_new_encoder_and_a_key_frame(stream, viewer):
    viewer.listen(topics.video('front'))
    heard = viewer.heard[('camera/front/video', 'env_0')]
    until(stream.wanted, 'the subscription')
    play(stream, 2.0, at_end=lambda: len(heard) > 3)
    large = np.full((480, 640, 3), 30, np.uint8)
    before = len(heard)
    until(lambda: stream.publish(large, now_ns()) and len(heard) > before + 3, 'the new size')
    decoder = av.CodecContext.create('h264', 'r')
    sizes = {
        (frame.width, frame.height) for message in heard for frame in decoder.decode(av.Packet(bytes(message.data)))
    }
    assert sizes == {(320, 240), (640, 480)}


def test_each_codec_has_an_encoder_while_somebody_watches_it(stream, viewer):
    def listen(codec):
        viewer.listen(topics.video('front', codec))
        heard = viewer.heard[(topics.video('front', codec).name, 'env_0')]
        until(lambda: stream.publish(GREY, now_ns()) and heard, codec)
        return heard

    listen('h264')
    assert stream.codecs() == ['h264']
    assert listen('vp8')[0].format == 'vp8'
    assert stream.codecs() == ['h264', 'vp8']
    for subscription in list(viewer.node.subscriptions):
        if subscription.topic_name.endswith('/video'):
            viewer.node.destroy_subscription(subscription)
    until(lambda: stream.publish(GREY, now_ns()) and stream.codecs() == ['vp8'], 'the end of H.264')
