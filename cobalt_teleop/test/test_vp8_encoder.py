"""The VP8 encoder, checked by an independent decoder."""

import av
import cv2
import numpy as np
import pytest

from cobalt_teleop.video.picture_size import PictureError
from cobalt_teleop.video.vp8_encoder import Vp8Encoder


def picture(index, width=320, height=240):
    made = np.full((height, width, 3), (40, 90, 160), np.uint8)
    left = 10 + index * 3 % (width - 60)
    made[60:120, left : left + 40] = (220, 60, 30)
    return made


def decode(decoder, frame):
    return decoder.decode(av.Packet(frame.data))


def test_each_picture_comes_back_at_once_and_looks_the_same():
    encoder, decoder = Vp8Encoder(320, 240, 20.0, 2000), av.CodecContext.create('vp8', 'r')
    for index in range(30):
        (decoded,) = decode(decoder, encoder.encode(picture(index)))
        assert np.abs(decoded.to_ndarray(format='rgb24').astype(int) - picture(index)).mean() < 6.0


def test_key_frames_come_first_and_on_request_and_can_be_joined_at():
    encoder = Vp8Encoder(320, 240, 20.0, 2000)
    frames = [encoder.encode(picture(index * 40), key_frame=index == 70) for index in range(100)]
    assert [index for index, frame in enumerate(frames) if frame.key_frame] == [0, 70]
    assert [index for index, frame in enumerate(frames) if not frame.data[0] & 1] == [0, 70]
    late = av.CodecContext.create('vp8', 'r')
    assert sum(len(decode(late, frame)) for frame in frames[70:]) == 30


def test_the_bit_rate_stays_under_its_cap_and_a_still_picture_costs_little():
    noise = np.random.default_rng(0)
    encoder = Vp8Encoder(320, 240, 20.0, 500)
    moving = [
        len(encoder.encode(cv2.GaussianBlur(noise.integers(0, 256, (240, 320, 3), dtype=np.uint8), (0, 0), 1.5)).data)
        for _ in range(100)
    ]
    assert sum(moving[20:]) * 8 / 4.0 / 1000 < 600
    still = [len(encoder.encode(picture(0)).data) for _ in range(60)]
    assert sum(still[20:]) * 8 / 2.0 / 1000 < 50


def test_sizes_that_do_not_fit_are_refused():
    with pytest.raises(PictureError, match='321x240'):
        Vp8Encoder(321, 240, 20.0, 1000)
    with pytest.raises(PictureError, match=r'\(240, 320, 3\)'):
        Vp8Encoder(320, 240, 20.0, 1000).encode(picture(0, 640, 480))
