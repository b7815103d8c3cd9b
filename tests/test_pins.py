"""What an upgrade must not break (rows P3 and P5 of the pitfalls that users report)."""

import array
import re
from pathlib import Path

import mujoco
import numpy as np
import rclpy

from cobalt_teleop.core import topics
from cobalt_teleop.ros.endpoints import TakenSubscription
from cobalt_teleop.video.camera_stream import CameraStream
from cobalt_teleop.workcell_host.plant import CameraModel

ROOT = Path(__file__).parents[1]
_PINNED = r'[\w.-]+==[\w.]+(; python_version < "3\.\d+")?'


def test_mujoco_is_pinned_to_a_3_that_is_new_enough():
    assert re.search(r'^mujoco==3\.\d+\.\d+$', (ROOT / 'requirements.txt').read_text(), re.MULTILINE)
    assert "'mujoco>=3.17,<4'" in (ROOT / 'cobalt_sim' / 'setup.py').read_text()
    major, minor = (int(part) for part in mujoco.__version__.split('.')[:2])
    assert major == 3 and minor >= 17


def test_all_python_requirements_are_pinned_exactly():
    for file in ROOT.glob('requirements*.txt'):
        for line in file.read_text().splitlines():
            assert not line or line.startswith('#') or re.fullmatch(_PINNED, line), (file.name, line)


def test_pictures_travel_as_arrays_of_bytes_not_as_slow_sequences(monkeypatch):
    rclpy.init()
    node = rclpy.create_node('pictures')
    try:
        stream = CameraStream(
            node, 'p3', CameraModel(name='front', width=64, height=48, rate_hz=20.0, focal_px=50.0), 500
        )
        sent = {}
        for name in ('_image', '_info'):
            publisher = getattr(stream, name)
            monkeypatch.setattr(publisher, 'publish', lambda message, name=name: sent.setdefault(name, message))
        watchers = [TakenSubscription(node, topic('front'), 'p3') for topic in (topics.image_raw, topics.camera_info)]
        for _ in range(100):
            stream.publish(np.zeros((48, 64, 3), np.uint8), 1)
            if '_image' in sent:
                break
            rclpy.spin_once(node, timeout_sec=0.05)
        assert len(watchers) == 2
        assert isinstance(sent['_image'].data, array.array) and sent['_image'].data.typecode == 'B'
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
