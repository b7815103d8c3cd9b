"""The encoder, checked by an independent decoder."""

import av
import numpy as np
import pytest

from cobalt_teleop.video.h264_encoder import H264Encoder
from cobalt_teleop.video.picture_size import PictureError

SPS, PPS, IDR, SLICE = 7, 8, 5, 1


def picture(index, width=320, height=240):
    made = np.full((height, width, 3), (40, 90, 160), np.uint8)
    left = 10 + index * 3 % (width - 60)
    made[60:120, left : left + 40] = (220, 60, 30)
    return made


def nal_types(data):
    starts = [at for at in range(len(data) - 3) if data[at : at + 3] == b'\0\0\1']
    return [data[at + 3] & 0x1F for at in starts]


def slice_types(data):
    """Returns slice_type of each slice, by the Exp-Golomb codes at the start of its header."""

    def read(bits, at):
        zeros = 0
        while bits[at + zeros] == '0':
            zeros += 1
        return int(bits[at + zeros : at + 2 * zeros + 1], 2) - 1, at + 2 * zeros + 1

    found = []
    for at in range(len(data) - 3):
        if data[at : at + 3] == b'\0\0\1' and data[at + 3] & 0x1F in (IDR, SLICE):
            bits = ''.join(f'{byte:08b}' for byte in data[at + 4 : at + 16])
            _, place = read(bits, 0)
            found.append(read(bits, place)[0] % 5)
    return found


def test_each_picture_comes_back_at_once_and_looks_the_same():
    encoder, decoder = H264Encoder(320, 240, 20.0, 2000), av.CodecContext.create('h264', 'r')
    for index in range(30):
        frame = encoder.encode(picture(index))
        decoded = decoder.decode(av.Packet(frame.data))
        assert len(decoded) == 1
        error = np.abs(decoded[0].to_ndarray(format='rgb24').astype(int) - picture(index)).mean()
        assert error < 6.0


def test_key_frames_come_first_and_on_request_and_at_no_other_time():
    encoder = H264Encoder(320, 240, 20.0, 2000)
    frames = [encoder.encode(picture(index * 40), key_frame=index == 70) for index in range(100)]
    assert [index for index, frame in enumerate(frames) if frame.key_frame] == [0, 70]
    assert [index for index, frame in enumerate(frames) if IDR in nal_types(frame.data)] == [0, 70]


def test_each_key_frame_starts_with_sps_and_pps_and_can_be_joined_at():
    encoder = H264Encoder(320, 240, 20.0, 2000)
    frames = [encoder.encode(picture(index), key_frame=index == 12) for index in range(20)]
    for key in (0, 12):
        assert nal_types(frames[key].data)[:2] == [SPS, PPS]
        assert frames[key].data.startswith(b'\0\0\0\1')
    late = av.CodecContext.create('h264', 'r')
    assert sum(len(late.decode(av.Packet(frame.data))) for frame in frames[12:]) == 8


def test_there_are_no_b_frames():
    encoder = H264Encoder(320, 240, 20.0, 2000)
    kinds = [kind for index in range(60) for kind in slice_types(encoder.encode(picture(index)).data)]
    assert set(kinds) <= {0, 2}, 'P is 0, B is 1, I is 2'


def test_the_bit_rate_stays_under_its_cap():
    noise = np.random.default_rng(0)
    encoder = H264Encoder(320, 240, 20.0, 500)
    sizes = [len(encoder.encode(noise.integers(0, 256, (240, 320, 3), dtype=np.uint8)).data) for _ in range(100)]
    assert sum(sizes[20:]) * 8 / 4.0 / 1000 < 550


@pytest.mark.parametrize(('width', 'height'), [(321, 240), (320, 241), (8, 8)])
def test_sizes_that_h264_cannot_have_are_refused(width, height):
    with pytest.raises(PictureError, match=f'{width}x{height}'):
        H264Encoder(width, height, 20.0, 1000)


def test_a_picture_of_another_size_is_refused():
    with pytest.raises(PictureError, match=r'\(240, 320, 3\)'):
        H264Encoder(320, 240, 20.0, 1000).encode(picture(0, 640, 480))
