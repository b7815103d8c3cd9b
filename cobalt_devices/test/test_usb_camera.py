"""The node of USB cameras, with a video file in the place of the device: none is plugged in here."""

import threading
import time

import cv2
import numpy as np
import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor

from cobalt_devices.usb_camera.calibration_file import read_calibration
from cobalt_devices.usb_camera.usb_camera_node import UsbCamera, _jpeg
from cobalt_teleop.core import topics
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.ros.endpoints import create_subscription
from cobalt_teleop.ros.process import Stop

CALIBRATION = """
image_width: 64
image_height: 48
distortion_model: plumb_bob
camera_matrix: {rows: 3, cols: 3, data: [50.0, 0, 32, 0, 50, 24, 0, 0, 1]}
distortion_coefficients: {rows: 1, cols: 5, data: [0.1, 0, 0, 0, 0]}
"""


@pytest.fixture
def video(tmp_path):
    path = tmp_path / 'video.avi'
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*'MJPG'), 30.0, (64, 48))
    for shade in (50, 100, 150):
        writer.write(np.full((48, 64, 3), shade, np.uint8))
    writer.release()
    return path


@pytest.fixture
def start():
    """Starts the node with parameters; returns what is heard of its pictures and intrinsics."""
    nodes, executors = [], []

    def started(**parameters):
        words = [word for name, value in parameters.items() for word in ('-p', f'{name}:={value}')]
        rclpy.init(args=['usb_camera', '--ros-args', *words])
        executors.append(SingleThreadedExecutor())
        node, listener, heard = UsbCamera(Stop()), rclpy.create_node('listener'), {'pictures': [], 'infos': []}
        create_subscription(listener, topics.image_compressed('front'), 'lab', heard['pictures'].append)
        create_subscription(listener, topics.camera_info('front'), 'lab', heard['infos'].append)
        for one in (node, listener):
            nodes.append(one)
            executors[0].add_node(one)
        threading.Thread(target=executors[0].spin, daemon=True).start()
        return heard

    yield started
    for executor in executors:
        executor.shutdown()
    for node in nodes:
        getattr(node, 'close', lambda: None)()
        node.destroy_node()
    rclpy.try_shutdown()


def test_its_pictures_and_intrinsics_are_published_again_and_again(start, video, tmp_path):
    (tmp_path / 'camera.yaml').write_text(CALIBRATION)
    heard = start(device=video, calibration=tmp_path / 'camera.yaml', rate_hz=60.0)
    end = time.monotonic() + 8.0
    while (len(heard['pictures']) < 8 or not heard['infos']) and time.monotonic() < end:
        time.sleep(0.05)
    assert len(heard['pictures']) >= 8
    picture = heard['pictures'][-1]
    assert picture.format == 'jpeg' and picture.header.frame_id == 'lab/front_optical_frame'
    assert cv2.imdecode(np.frombuffer(picture.data, np.uint8), cv2.IMREAD_COLOR).shape == (48, 64, 3)
    assert heard['infos'][0].k[0] == 50.0


def test_a_camera_that_is_not_there_is_named_with_what_to_look_at(start):
    with pytest.raises(CobaltError, match='cannot be opened: is it there'):
        start(device='/dev/video99')


def test_a_jpeg_of_the_camera_passes_as_it_is():
    _, data = cv2.imencode('.jpg', np.zeros((8, 8, 3), np.uint8))
    assert _jpeg(data.reshape(1, -1)) == data.tobytes()


@pytest.mark.parametrize(
    ('text', 'words'),
    [
        ('a: [', 'cannot be read'),
        ('3', 'must be a table'),
        ('image_width: 3', 'needs image_width and image_height'),
        ('image_width: 3\nimage_height: 4', "lacks 'camera_matrix'"),
        ('image_width: 3\nimage_height: 4\ncamera_matrix: {data: [1, 2]}', 'must have 9 numbers, not 2'),
        ('image_width: 3\nimage_height: 4\ncamera_matrix: 5', 'needs a list of numbers'),
    ],
)
def test_a_wrong_calibration_is_refused_with_what_is_wrong(tmp_path, text, words):
    path = tmp_path / 'camera.yaml'
    path.write_text(text)
    with pytest.raises(CobaltError, match=words):
        read_calibration(path)
