from array import array

import numpy as np
import pytest
from foxglove_msgs.msg import CompressedVideo
from rclpy.serialization import serialize_message

from cobalt_recorder.key_frames import is_key_frame
from cobalt_teleop.video.h264_encoder import H264Encoder


def serialized(data, codec='h264', frame_id='env_0/front_optical_frame'):
    return bytes(serialize_message(CompressedVideo(frame_id=frame_id, data=array('B', data), format=codec)))


@pytest.mark.parametrize('frame_id', ['', 'a', 'ab', 'abc', 'abcd'])
def test_agrees_with_the_encoder(frame_id):
    encoder = H264Encoder(64, 48, 20.0, 500)
    picture = np.random.default_rng(0).integers(0, 255, (48, 64, 3), dtype=np.uint8)
    for index in range(12):
        encoded = encoder.encode(np.roll(picture, index, 1), index % 5 == 0)
        assert is_key_frame(serialized(encoded.data, frame_id=frame_id)) == encoded.key_frame == (index % 5 == 0)


def test_nothing_is_no_key_frame_and_other_formats_are_taken_as_they_are():
    assert not is_key_frame(serialized(b''))
    assert is_key_frame(serialized(b'anything', codec='vp9'))


def test_too_short():
    with pytest.raises(ValueError, match='too short'):
        is_key_frame(bytes(9))
