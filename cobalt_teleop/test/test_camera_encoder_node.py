"""camera_encoder as a process: pictures of real drivers' kinds in, video out while somebody watches."""

import array
import itertools
import os
import signal
import subprocess
import sys
import threading
import time

import av
import cv2
import numpy as np
import pytest
import rclpy
from ros_operator import Operator, until
from sensor_msgs.msg import CompressedImage, Image
from std_msgs.msg import String

from cobalt_interfaces.msg import EpisodeState
from cobalt_teleop.core import topics
from cobalt_teleop.ros.endpoints import create_publisher
from cobalt_teleop.ros.stamps import now_ns, to_nanoseconds, to_stamp

CODE = 'import sys; from cobalt_teleop.video.camera_encoder_node import main; sys.exit(main())'
NAMED = ','.join(f'{name}=/usb/{name}' for name in ('jpeg', 'odd', 'fast', 'dead', 'words', 'late'))
CAMERAS = f'cameras:=[front,wrist,usb=/usb/pictures,{NAMED}]'
BLUE, RED = (20, 40, 240), (240, 40, 20)


class EncoderProcess:
    def __init__(self):
        self.lines = []
        self.process = subprocess.Popen(
            [sys.executable, '-c', CODE, '--ros-args', '-p', 'workcell:=lab', '-p', CAMERAS, '-p', 'max_width:=640'],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=os.environ | {'RCUTILS_LOGGING_USE_STDOUT': '1', 'RCUTILS_LOGGING_BUFFERED_STREAM': '0'},
        )
        self._reader = threading.Thread(target=lambda: self.lines.extend(self.process.stdout), daemon=True)
        self._reader.start()

    def said(self, camera):
        return [line for line in self.lines if f'camera {camera},' in line]

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(8.0)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self._reader.join(2.0)
        return self.process.wait()


@pytest.fixture(scope='module')
def encoder(private_ros_domain):
    made = EncoderProcess()
    yield made
    made.stop()


@pytest.fixture(scope='module')
def viewer(encoder):
    rclpy.init()
    made = Operator('viewer')
    # Their silence is told after a while: it passes during the other tests.
    made.node.create_publisher(String, '/usb/words', 1)
    for camera in ('dead', 'words'):
        made.listen(topics.video(camera), 'lab')
    yield made
    made.close()
    rclpy.try_shutdown()


class Camera:
    """A driver, and who watches its video."""

    def __init__(self, viewer, name, topic, message=Image, codec='h264'):
        self.publisher = viewer.node.create_publisher(message, topic, 1)
        self.decoder = av.CodecContext.create(codec, 'r')
        video = topics.video(name, codec)
        viewer.listen(video, 'lab')
        self.heard = viewer.heard[(video.name, 'lab')]
        self.decoded = 0

    def shoot(self, width=320, height=240, colour=BLUE, encoding='bgr8', stamp_ns=None):
        picture = np.full((height, width, 3), colour, np.uint8)
        message = Image(height=height, width=width, encoding=encoding, step=width * 3)
        message.data = array.array('B', picture[..., ::-1].tobytes())
        self.send(message, stamp_ns)

    def send(self, message, stamp_ns=None):
        message.header.stamp = to_stamp(now_ns() if stamp_ns is None else stamp_ns)
        self.publisher.publish(message)

    def newest_picture(self):
        frames = []
        while self.decoded < len(self.heard):
            frames += self.decoder.decode(av.Packet(bytes(self.heard[self.decoded].data)))
            self.decoded += 1
        return frames[-1].to_ndarray(format='rgb24') if frames else None

    def until_shown(self, shoot, size, colour=BLUE):
        """Shoots until the video shows a size, (width, height), and a colour."""

        def shown():
            shoot()
            threading.Event().wait(0.02)
            picture = self.newest_picture()
            return (
                picture is not None
                and picture.shape == (size[1], size[0], 3)
                and np.abs(picture[size[1] // 2, size[0] // 2].astype(int) - colour).max() < 25
            )

        until(shown, f'video of {size} in {colour}', timeout_s=20.0)


def jpeg(colour=BLUE, width=320, height=240, whole=True):
    picture = np.full((height, width, 3), colour[::-1], np.uint8)
    picture[: height // 4 : 2, ::5] //= 2
    data = cv2.imencode('.jpg', picture)[1].tobytes()
    return CompressedImage(format='jpeg', data=array.array('B', data if whole else data[: len(data) // 2]))


def test_raw_pictures_come_out_as_video_with_their_stamps(encoder, viewer):
    camera = Camera(viewer, 'usb', '/usb/pictures')
    stamps = []

    def shoot():
        stamps.append(now_ns())
        camera.shoot(stamp_ns=stamps[-1])

    camera.until_shown(shoot, (320, 240))
    assert all(to_nanoseconds(message.timestamp) in stamps for message in camera.heard)
    assert camera.heard[0].format == 'h264' and camera.heard[0].frame_id == 'lab/usb_optical_frame'


def test_vp8_comes_beside_h264_for_who_wants_it(encoder, viewer):
    camera = Camera(viewer, 'usb', '/usb/pictures', codec='vp8')
    camera.until_shown(camera.shoot, (320, 240))
    assert camera.heard[0].format == 'vp8'


def test_jpegs_are_told_from_raw_pictures_by_their_type(encoder, viewer):
    camera = Camera(viewer, 'jpeg', '/usb/jpeg', CompressedImage)
    camera.until_shown(lambda: camera.send(jpeg()), (320, 240))


@pytest.mark.parametrize(
    ('name', 'topic', 'message'),
    [
        ('front', topics.image_raw('front'), Image),
        ('wrist', topics.image_compressed('wrist'), CompressedImage),
    ],
)
def test_a_camera_on_its_usual_topic_needs_no_name_of_it(encoder, viewer, name, topic, message):
    camera = Camera(viewer, name, topic.absolute('lab'), message)
    camera.until_shown(camera.shoot if message is Image else lambda: camera.send(jpeg()), (320, 240))


def test_sizes_may_change_and_odd_and_large_ones_are_made_to_fit(encoder, viewer):
    camera = Camera(viewer, 'usb', '/usb/pictures')
    for size, shown in (((320, 240), (320, 240)), ((161, 121), (160, 120)), ((1920, 1080), (640, 360))):
        camera.until_shown(lambda size=size: camera.shoot(*size, colour=RED), shown, RED)
    assert encoder.process.poll() is None


def test_a_camera_too_fast_for_the_encoder_loses_raw_pictures_and_never_an_encoded_one(encoder, viewer):
    camera = Camera(viewer, 'fast', '/usb/fast')
    camera.until_shown(camera.shoot, (320, 240))
    shot = 0
    end = time.monotonic() + 2.0
    while time.monotonic() < end:
        camera.shoot(colour=(shot % 250, 40, 240))
        shot += 1
        threading.Event().wait(0.004)
    until(lambda: len(camera.heard) > camera.decoded + 5, 'video')
    threading.Event().wait(0.3)
    sequence = [camera.decoder.decode(av.Packet(bytes(message.data))) for message in camera.heard[camera.decoded :]]
    assert len(sequence) < 0.75 * shot, 'at most 30 pictures a second are encoded'
    assert all(len(frames) == 1 and not frames[0].is_corrupt for frames in sequence)
    stamps = [to_nanoseconds(message.timestamp) for message in camera.heard]
    assert all(later > earlier for earlier, later in itertools.pairwise(stamps))


def test_viewers_may_ask_for_less_but_an_episode_keeps_its_size(encoder, viewer):
    camera = Camera(viewer, 'usb', '/usb/pictures')
    camera.until_shown(camera.shoot, (320, 240))
    viewer.host_id = 'camera_encoder'
    assert viewer.call('SetCamera', camera='usb', enabled=True, width=160, height=160).ok
    camera.until_shown(camera.shoot, (160, 120))
    episode = create_publisher(viewer.node, topics.EPISODE, 'lab')
    episode.publish(EpisodeState(phase=EpisodeState.PHASE_PREPARING))
    camera.until_shown(camera.shoot, (320, 240))
    episode.publish(EpisodeState(phase=EpisodeState.PHASE_ENDED))
    camera.until_shown(camera.shoot, (160, 120))
    assert viewer.call('SetCamera', camera='usb', enabled=True, width=640, height=480).ok
    assert 'there are front, wrist, usb' in viewer.call('SetCamera', camera='back').reason


def test_what_is_wrong_is_told_once_and_the_next_good_picture_is_shown(encoder, viewer):
    camera = Camera(viewer, 'odd', '/usb/odd')
    camera.until_shown(camera.shoot, (320, 240))
    before = len(camera.heard)
    for _ in range(40):
        camera.shoot(encoding='yuv_unknown', colour=RED)
        threading.Event().wait(0.02)
    until(lambda: encoder.said('odd'), 'a word on the encoding')
    assert len(camera.heard) - before <= 2, 'pictures that were on their way'
    camera.until_shown(lambda: camera.shoot(colour=RED), (320, 240), RED)
    until(lambda: camera.shoot(colour=RED) or 'good again' in encoder.said('odd')[-1], 'good news')
    *_, first, last = encoder.said('odd')
    assert "encoding 'yuv_unknown' is unknown" in first and '/usb/odd' in first
    assert 'pictures are good again' in last


def test_a_broken_jpeg_ends_nothing(encoder, viewer):
    camera = Camera(viewer, 'jpeg', '/usb/jpeg', CompressedImage)
    camera.until_shown(lambda: camera.send(jpeg()), (320, 240))
    for _ in range(20):
        camera.send(jpeg(RED, whole=False))
        threading.Event().wait(0.02)
    camera.until_shown(lambda: camera.send(jpeg(RED)), (320, 240), RED)
    assert sum('broken' in line for line in encoder.said('jpeg')) <= 1


def test_pictures_without_stamps_get_the_time_of_their_arrival(encoder, viewer):
    camera = Camera(viewer, 'front', topics.image_raw('front').absolute('lab'))
    camera.until_shown(camera.shoot, (320, 240))
    del camera.heard[:]
    camera.decoded = 0
    camera.until_shown(lambda: camera.shoot(stamp_ns=0, colour=RED), (320, 240), RED)
    assert abs(to_nanoseconds(camera.heard[-1].timestamp) - now_ns()) < 10 * 10**9
    assert sum('without stamps' in line for line in encoder.said('front')) == 1


def test_a_camera_that_is_not_there_is_told_and_found_when_it_comes(encoder, viewer):
    until(lambda: encoder.said('dead'), 'a word on the missing camera', timeout_s=15.0)
    assert 'nobody publishes on /usb/dead' in encoder.said('dead')[0]
    camera = Camera(viewer, 'dead', '/usb/dead')
    camera.until_shown(camera.shoot, (320, 240))


def test_a_topic_of_another_type_is_told_with_the_right_ones(encoder, viewer):
    until(lambda: encoder.said('words'), 'a word on the type', timeout_s=15.0)
    assert '/usb/words is a topic of std_msgs/msg/String' in encoder.said('words')[0]
    assert 'sensor_msgs/msg/CompressedImage' in encoder.said('words')[0]


def test_a_camera_that_nobody_publishes_is_told_of_before_anybody_watches(encoder, viewer):
    ready = 'ready: video of late on /lab/camera/late/video, from /usb/late, while somebody watches or records it'
    assert any(ready in line for line in encoder.lines)
    until(lambda: encoder.said('late'), 'its silence is told')
    assert 'nobody publishes on /usb/late. Start the camera driver, or name its topic' in encoder.said('late')[0]
    viewer.node.create_publisher(Image, '/usb/late', 1)
    until(lambda: len(encoder.said('late')) > 1, 'it is told that one came')
    assert encoder.said('late')[1].endswith('a camera publishes there now\n')


def test_it_ends_quietly(encoder, viewer):
    assert encoder.stop() == 0
    assert 'Traceback' not in ''.join(encoder.lines)
