"""Pictures out of Image messages."""

import array

import numpy as np
import pytest
from sensor_msgs.msg import Image

from cobalt_teleop.video.image_message import ImageError, to_picture


def image(pixels, encoding, padding=0):
    rows = pixels.reshape(pixels.shape[0], -1)
    padded = np.pad(rows, ((0, 0), (0, padding)))
    return Image(
        height=pixels.shape[0],
        width=pixels.shape[1],
        encoding=encoding,
        step=padded.shape[1],
        data=array.array('B', padded.tobytes()),
    )


RGB = np.random.default_rng(0).integers(0, 256, (24, 32, 3), dtype=np.uint8)


@pytest.mark.parametrize(
    ('encoding', 'pixels'),
    [
        ('rgb8', RGB),
        ('bgr8', RGB[..., ::-1].copy()),
        ('rgba8', np.dstack([RGB, np.full((24, 32), 9, np.uint8)])),
        ('bgra8', np.dstack([RGB[..., ::-1], np.full((24, 32), 9, np.uint8)])),
    ],
)
@pytest.mark.parametrize('padding', [0, 5])
def test_colours_come_out_as_rgb(encoding, pixels, padding):
    assert (to_picture(image(pixels, encoding, padding)) == RGB).all()


def test_grey_comes_out_as_rgb():
    picture = to_picture(image(RGB[..., 0].copy(), 'mono8'))
    assert picture.shape == (24, 32, 3)
    assert (picture == RGB[..., :1]).all()


def test_odd_sizes_are_cut_to_even_ones():
    assert to_picture(image(RGB[:23, :31].copy(), 'rgb8')).shape == (22, 30, 3)


def test_an_unknown_encoding_is_refused_with_the_known_ones():
    with pytest.raises(ImageError, match=r'bayer_rggb8.*rgb8, bgr8'):
        to_picture(image(RGB[..., 0].copy(), 'bayer_rggb8'))


def test_too_little_data_is_refused():
    message = image(RGB, 'rgb8')
    message.data = message.data[:100]
    with pytest.raises(ImageError, match='2304 bytes, not 100'):
        to_picture(message)
