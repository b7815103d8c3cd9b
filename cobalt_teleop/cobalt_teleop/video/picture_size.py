"""Sizes of pictures: what can be encoded, and what is scaled down to fit."""

import cv2
import numpy as np

from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.workcell_host.plant import Picture

SMALLEST_PX = 16
"""A macroblock: no side of a picture is shorter [px]."""

LARGEST_PIXELS = 40_000_000
"""Pictures of more pixels are refused before they are unpacked: no camera of a robot makes them."""


class PictureError(CobaltError):
    """A picture cannot be read, or has a shape that cannot be encoded."""


def check_size(width: int, height: int) -> None:
    """Refuses sizes that are no camera's.

    Raises:
        PictureError: The size [px] is too small or far too large.
    """
    if min(width, height) < SMALLEST_PX:
        raise PictureError(f'a picture of {width}x{height} is too small; the least is {SMALLEST_PX}x{SMALLEST_PX} px')
    if width * height > LARGEST_PIXELS:
        raise PictureError(
            f'a picture of {width}x{height} is too large; the most is {LARGEST_PIXELS // 1_000_000} megapixels. '
            'Set the camera driver to a smaller one.'
        )


def size_within(width: int, height: int, most_width: int, most_height: int) -> tuple[int, int]:
    """Returns the largest even size of the same shape that fits into another; never larger than it is [px]."""
    share = min(1.0, most_width / width, most_height / height)
    return max(SMALLEST_PX, round(width * share) & ~1), max(SMALLEST_PX, round(height * share) & ~1)


def fit(picture: Picture, most_width: int, most_height: int) -> Picture:
    """Returns a picture scaled down to fit into a size, with even sides as encoders need them.

    Args:
        picture: (height, width, 3) RGB.
        most_width: [px].
        most_height: [px].
    """
    height, width = picture.shape[:2]
    if width <= most_width and height <= most_height:
        even = picture[: height & ~1, : width & ~1]
        return even if even.shape == picture.shape else np.ascontiguousarray(even)
    size = size_within(width, height, most_width, most_height)
    return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA))
