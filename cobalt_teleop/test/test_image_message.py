"""Pictures out of Image messages."""

import array

import cv2
import numpy as np
import pytest
from sensor_msgs.msg import Image

from cobalt_teleop.video.image_message import ImageReader
from cobalt_teleop.video.picture_size import PictureError


def image(pixels, encoding, padding=0, **fields):
    rows = pixels.reshape(pixels.shape[0], -1).view(np.uint8)
    padded = np.pad(rows, ((0, 0), (0, padding)))
    message = Image(
        height=pixels.shape[0],
        width=pixels.shape[1],
        encoding=encoding,
        step=padded.shape[1],
        data=array.array('B', padded.tobytes()),
    )
    for name, value in fields.items():
        setattr(message, name, value)
    return message


def read(message):
    return ImageReader().read(message)


RGB = np.random.default_rng(0).integers(0, 256, (24, 32, 3), dtype=np.uint8)
ORANGE = np.full((24, 32, 3), (230, 120, 40), np.uint8)


def packed(picture, *, luma_first):
    """YUV 4:2:2 of a picture of one colour."""
    y, u, v = cv2.cvtColor(picture, cv2.COLOR_RGB2YUV_I420)[[0, 24, 30], 0].tolist()
    pair = (y, u, y, v) if luma_first else (u, y, v, y)
    return np.tile(np.array(pair, np.uint8), (24, 16)).reshape(24, 32, 2)


def mosaic(picture, order):
    made = np.empty(picture.shape[:2], np.uint8)
    for place, colour in enumerate(order):
        row, column = divmod(place, 2)
        made[row::2, column::2] = picture[row::2, column::2, 'rgb'.index(colour)]
    return made


@pytest.mark.parametrize(
    ('encoding', 'pixels'),
    [
        ('rgb8', RGB),
        ('bgr8', RGB[..., ::-1].copy()),
        ('8UC3', RGB[..., ::-1].copy()),
        ('rgba8', np.dstack([RGB, np.full((24, 32), 9, np.uint8)])),
        ('bgra8', np.dstack([RGB[..., ::-1], np.full((24, 32), 9, np.uint8)])),
    ],
)
@pytest.mark.parametrize('padding', [0, 5])
def test_colours_come_out_as_rgb(encoding, pixels, padding):
    assert (read(image(pixels, encoding, padding)) == RGB).all()


@pytest.mark.parametrize('encoding', ['yuv422_yuy2', 'yuyv', 'yuv422', 'uyvy'])
@pytest.mark.parametrize('padding', [0, 8])
def test_packed_yuv_keeps_its_colours(encoding, padding):
    pixels = packed(ORANGE, luma_first=encoding in ('yuv422_yuy2', 'yuyv'))
    assert np.abs(read(image(pixels, encoding, padding)).astype(int) - ORANGE).max() <= 4


@pytest.mark.parametrize('order', ['rggb', 'bggr', 'gbrg', 'grbg'])
@pytest.mark.parametrize('cut', [0, 1])
def test_each_bayer_mosaic_keeps_its_colours(order, cut):
    picture = read(image(mosaic(ORANGE, order)[: 24 - cut, : 32 - cut].copy(), f'bayer_{order}8'))
    assert np.abs(picture.astype(int) - ORANGE[: 24 - 2 * cut, : 32 - 2 * cut]).max() <= 1


def test_a_bayer_mosaic_of_16_bits_keeps_its_colours():
    picture = read(image(mosaic(ORANGE, 'rggb').astype('<u2') << 8, 'bayer_rggb16'))
    assert np.abs(picture.astype(int) - ORANGE).max() <= 1


def test_grey_comes_out_as_rgb():
    picture = read(image(RGB[..., 0].copy(), 'mono8'))
    assert picture.shape == (24, 32, 3)
    assert (picture == RGB[..., :1]).all()


@pytest.mark.parametrize('bits', [8, 10, 12, 16])
@pytest.mark.parametrize('order', ['<u2', '>u2'])
def test_grey_of_any_depth_fills_the_range_of_the_eye(bits, order):
    ramp = np.linspace(0, (1 << bits) - 1, 32).astype(np.uint16)
    message = image(np.tile(ramp, (24, 1)).astype(order), 'mono16', is_bigendian=int(order == '>u2'))
    row = read(message)[0, :, 0].astype(int)
    assert row[0] == 0 and row[-1] == 255 and (np.diff(row) > 0).all()


def test_grey_of_16_bits_does_not_flicker_when_the_scene_darkens():
    reader = ImageReader()
    reader.read(image(np.full((24, 32), 4000, '<u2'), '16UC1'))
    assert reader.read(image(np.full((24, 32), 1000, '<u2'), '16UC1')).max() == 1000 >> 4


def test_odd_sizes_are_cut_to_even_ones():
    assert read(image(RGB[:23, :31].copy(), 'rgb8')).shape == (22, 30, 3)
    assert read(image(packed(ORANGE, luma_first=True)[:23, :31].copy(), 'yuyv')).shape == (22, 30, 3)


def test_an_unknown_encoding_is_refused_with_the_known_ones():
    with pytest.raises(PictureError, match=r"'nv42'.*rgb8, bgr8"):
        read(image(RGB[..., 0].copy(), 'nv42'))


def test_too_little_data_is_refused():
    message = image(RGB, 'rgb8')
    message.data = message.data[:100]
    with pytest.raises(PictureError, match='2304 bytes, not 100'):
        read(message)


def test_a_row_shorter_than_its_pixels_is_refused():
    with pytest.raises(PictureError, match='step of at least 96'):
        read(image(RGB, 'rgb8', step=32))


@pytest.mark.parametrize(('width', 'height'), [(0, 0), (8, 100), (100_000, 100_000), (2**32 - 1, 2**32 - 1)])
def test_sizes_of_no_camera_are_refused(width, height):
    with pytest.raises(PictureError, match=f'{width}x{height}'):
        read(Image(width=width, height=height, encoding='mono8'))
