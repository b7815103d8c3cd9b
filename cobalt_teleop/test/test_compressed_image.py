"""Pictures out of CompressedImage messages, whole and broken."""

import array

import cv2
import numpy as np
import pytest
from sensor_msgs.msg import CompressedImage

from cobalt_teleop.video.compressed_image import CompressedImageReader
from cobalt_teleop.video.picture_size import PictureError

SMOOTH = cv2.resize(np.random.default_rng(0).integers(0, 256, (6, 8, 3), dtype=np.uint8), (64, 48))


def encoded(suffix, picture=SMOOTH):
    shown = picture[..., ::-1] if picture.ndim == 3 else picture
    return cv2.imencode(suffix, shown)[1].tobytes()


def message(data, encoding='jpeg'):
    return CompressedImage(format=encoding, data=array.array('B', data))


@pytest.mark.parametrize(
    ('suffix', 'encoding', 'error'),
    [('.jpg', 'jpeg', 9), ('.jpg', 'rgb8; jpeg compressed bgr8', 9), ('.png', 'png', 0), ('.png', 'jpeg', 0)],
)
def test_pictures_come_out_with_their_colours_whatever_the_format_is_called(suffix, encoding, error):
    picture = CompressedImageReader().read(message(encoded(suffix), encoding))
    assert picture.shape == (48, 64, 3)
    assert np.abs(picture.astype(int) - SMOOTH).mean() <= error


def test_grey_pictures_and_odd_sizes_come_out_as_even_rgb():
    for suffix in ('.jpg', '.png'):
        picture = CompressedImageReader().read(message(encoded(suffix, SMOOTH[:47, :63, 0])))
        assert picture.shape == (46, 62, 3)
        assert np.abs(picture.astype(int) - SMOOTH[:46, :62, :1]).mean() < 5


def test_depth_in_a_png_of_16_bits_can_be_seen():
    depth = np.tile(np.linspace(0, 4095, 64).astype(np.uint16), (48, 1))
    picture = CompressedImageReader().read(message(encoded('.png', depth), '16UC1; png compressed '))
    assert picture[0, 0, 0] == 0 and picture[0, -1, 0] == 255


def test_a_camera_may_change_its_size():
    reader = CompressedImageReader()
    large = cv2.resize(SMOOTH, (128, 96))
    shapes = [reader.read(message(encoded('.jpg', one))).shape for one in (SMOOTH, large, SMOOTH)]
    assert shapes == [(48, 64, 3), (96, 128, 3), (48, 64, 3)]


@pytest.mark.parametrize('suffix', ['.jpg', '.png'])
def test_a_broken_picture_is_refused_and_the_next_one_is_good(suffix, capfd):
    reader = CompressedImageReader()
    whole = encoded(suffix)
    for share in (0.1, 0.5, 0.9):
        with pytest.raises(PictureError, match='broken'):
            reader.read(message(whole[: int(len(whole) * share)]))
    assert reader.read(message(whole)).shape == (48, 64, 3)
    assert capfd.readouterr() == ('', ''), 'the library itself writes nothing'


def test_noise_never_does_more_than_to_be_refused():
    reader, noise = CompressedImageReader(), np.random.default_rng(1)
    for suffix in ('.jpg', '.png'):
        whole = encoded(suffix)
        for _ in range(200):
            broken = bytearray(whole)
            for place in noise.integers(4, len(broken), 6):
                broken[place] = noise.integers(256)
            try:
                reader.read(message(bytes(broken)))
            except PictureError:
                pass
        assert reader.read(message(whole)).shape == (48, 64, 3)


def test_a_size_that_would_fill_the_memory_is_refused_unread():
    huge = bytearray(encoded('.jpg'))
    place = huge.index(b'\xff\xc0')
    huge[place + 5 : place + 9] = b'\xff\xff\xff\xff'
    with pytest.raises(PictureError, match='40 megapixels'):
        CompressedImageReader().read(message(bytes(huge)))


@pytest.mark.parametrize('data', [b'', b'\0\0\0\1\x67', b'\xff\xd8'])
def test_other_formats_are_refused_with_the_known_ones(data):
    with pytest.raises(PictureError, match=r"'h264' is neither JPEG nor PNG"):
        CompressedImageReader().read(message(data, 'h264'))
