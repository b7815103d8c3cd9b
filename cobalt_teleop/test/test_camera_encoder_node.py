"""camera_encoder as a process: raw pictures in, video out while somebody watches."""

import array
import os
import signal
import subprocess
import sys

import av
import numpy as np
import pytest
import rclpy
from ros_operator import Operator, until
from sensor_msgs.msg import Image

from cobalt_teleop.core import topics
from cobalt_teleop.ros.stamps import now_ns, to_stamp


@pytest.fixture
def encoder(private_ros_domain):
    code = 'import sys; from cobalt_teleop.video.camera_encoder_node import main; sys.exit(main())'
    options = ['-p', 'workcell:=lab', '-p', 'cameras:=[front=/usb/pictures]']
    process = subprocess.Popen(
        [sys.executable, '-c', code, '--ros-args', *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {'RCUTILS_LOGGING_USE_STDOUT': '1'},
    )
    yield process
    if process.poll() is None:
        process.kill()
        process.wait()


def test_raw_pictures_come_out_as_video_with_their_stamps(encoder):
    rclpy.init()
    viewer = Operator('viewer')
    try:
        camera = viewer.node.create_publisher(Image, '/usb/pictures', 1)
        viewer.listen(topics.video('front'), 'lab')
        heard = viewer.heard[('camera/front/video', 'lab')]
        stamps = []

        def shoot(encoding='bgr8'):
            picture = np.zeros((241, 320, 3), np.uint8)
            picture[..., 0] = 255
            message = Image(height=241, width=320, encoding=encoding, step=960)
            message.header.stamp = to_stamp(now_ns())
            message.data = array.array('B', picture.tobytes())
            stamps.append(message.header.stamp)
            camera.publish(message)

        until(lambda: shoot() or len(heard) >= 3, 'video', timeout_s=15.0)
        assert all(message.timestamp in stamps for message in heard)
        (frame,) = av.CodecContext.create('h264', 'r').decode(av.Packet(bytes(heard[0].data)))
        assert (frame.width, frame.height) == (320, 240)
        red, _, blue = frame.to_ndarray(format='rgb24')[120, 160].tolist()
        assert blue > 220 and red < 40
        for _ in range(5):
            shoot('yuv_unknown')
        encoder.send_signal(signal.SIGINT)
        output, _ = encoder.communicate(timeout=8.0)
        assert encoder.returncode == 0
        assert 'Traceback' not in output
        assert output.count("encoding 'yuv_unknown' is unknown") <= 1
    finally:
        viewer.close()
        rclpy.try_shutdown()
