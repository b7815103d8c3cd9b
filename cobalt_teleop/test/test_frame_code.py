"""The number drawn into a picture survives what happens to pictures."""

import av
import cv2
import numpy as np
import pytest

from cobalt_teleop.video import frame_code
from cobalt_teleop.video.h264_encoder import H264Encoder

VALUES = (0, 1, 0xABCDEF, (1 << frame_code.VALUE_BITS) - 1)


def busy_picture(seed, width=320, height=240):
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


@pytest.mark.parametrize('size', [(320, 240), (640, 480), (256, 192)])
def test_what_is_drawn_is_read_after_h264(size):
    encoder, decoder = H264Encoder(*size, 20.0, 3000), av.CodecContext.create('h264', 'r')
    for value in VALUES:
        marked = frame_code.draw(busy_picture(value, *size), value)
        (frame,) = decoder.decode(av.Packet(encoder.encode(marked).data))
        assert frame_code.read(frame.to_ndarray(format='rgb24')) == value


@pytest.mark.parametrize('factor', [0.6, 1.37, 3.0])
def test_what_is_drawn_is_read_at_another_scale(factor):
    for value in VALUES:
        marked = frame_code.draw(busy_picture(value), value)
        assert frame_code.read(cv2.resize(marked, None, fx=factor, fy=factor, interpolation=cv2.INTER_LINEAR)) == value


def test_a_picture_without_a_code_gives_none():
    assert all(frame_code.read(busy_picture(seed)) is None for seed in range(50))
    assert frame_code.read(np.zeros((240, 320, 3), np.uint8)) is None
    assert frame_code.read(np.zeros((2, 320), np.uint8)) is None


def test_the_picture_itself_is_left_alone():
    picture = busy_picture(1)
    before = picture.copy()
    frame_code.draw(picture, 5)
    assert (picture == before).all()


def test_stamps_a_millisecond_apart_have_other_values():
    stamp_ns = 1_796_036_310_370_874_300
    assert frame_code.value_of_stamp(stamp_ns + 1_000_000) == frame_code.value_of_stamp(stamp_ns) + 1
