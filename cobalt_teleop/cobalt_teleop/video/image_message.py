"""Pictures out of sensor_msgs/Image."""

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from cobalt_teleop.video.picture_size import PictureError, check_size
from cobalt_teleop.video.sixteen_bits import SixteenBits
from cobalt_teleop.workcell_host.plant import Picture


@dataclass(frozen=True)
class _Encoding:
    """How pixels lie in memory: channels of one pixel, bytes of one channel, and cv2's conversion to RGB."""

    channels: int
    conversion: int | None
    depth: int = 1


_RGB = _Encoding(3, None)
_BGR = _Encoding(3, cv2.COLOR_BGR2RGB)
_GREY = _Encoding(1, cv2.COLOR_GRAY2RGB)
_GREY_16 = _Encoding(1, cv2.COLOR_GRAY2RGB, depth=2)
_UYVY = _Encoding(2, cv2.COLOR_YUV2RGB_UYVY)
_YUYV = _Encoding(2, cv2.COLOR_YUV2RGB_YUYV)

_MOSAICS = {
    'rggb': cv2.COLOR_BayerRGGB2RGB,
    'bggr': cv2.COLOR_BayerBGGR2RGB,
    'gbrg': cv2.COLOR_BayerGBRG2RGB,
    'grbg': cv2.COLOR_BayerGRBG2RGB,
}

ENCODINGS = {
    'rgb8': _RGB,
    'bgr8': _BGR,
    'rgba8': _Encoding(4, cv2.COLOR_RGBA2RGB),
    'bgra8': _Encoding(4, cv2.COLOR_BGRA2RGB),
    'mono8': _GREY,
    'mono16': _GREY_16,
    '8UC1': _GREY,
    '8UC3': _BGR,
    '8UC4': _Encoding(4, cv2.COLOR_BGRA2RGB),
    '16UC1': _GREY_16,
    'yuv422': _UYVY,
    'uyvy': _UYVY,
    'yuv422_yuy2': _YUYV,
    'yuyv': _YUYV,
    **{f'bayer_{order}8': _Encoding(1, conversion) for order, conversion in _MOSAICS.items()},
    **{f'bayer_{order}16': _Encoding(1, conversion, depth=2) for order, conversion in _MOSAICS.items()},
}
"""Of sensor_msgs/image_encodings.hpp, by name."""


class ImageReader:
    """Reads the Image messages of one camera."""

    def __init__(self) -> None:
        self._sixteen_bits = SixteenBits()

    def read(self, message: Any) -> Picture:
        """Returns the (height, width, 3) RGB picture of a message, cut to an even width and height.

        Raises:
            PictureError: Its encoding is unknown, its data does not fit its size, or its size is no camera's.
        """
        encoding = ENCODINGS.get(message.encoding)
        if encoding is None:
            raise PictureError(
                f"encoding '{message.encoding}' is unknown; known are {', '.join(ENCODINGS)}. "
                'Set the camera driver to one of them.'
            )
        height, width = int(message.height), int(message.width)
        check_size(width, height)
        row = width * encoding.channels * encoding.depth
        step = int(message.step) or row
        data = np.frombuffer(memoryview(message.data), dtype=np.uint8)
        if step < row or data.size < height * step:
            raise PictureError(
                f'{width}x{height} {message.encoding} with step {step} needs a step of at least {row} and '
                f'{height * step} bytes, not {data.size}'
            )
        width, height = width & ~1, height & ~1
        rows = data[: height * step].reshape(height, step)[:, : width * encoding.channels * encoding.depth]
        if encoding.depth == 2:
            wide = np.ascontiguousarray(rows).view('>u2' if message.is_bigendian else '<u2')
            rows = self._sixteen_bits.to_8(wide)
        pixels = np.ascontiguousarray(rows).reshape(height, width, encoding.channels)
        if encoding.conversion is None:
            return pixels
        return np.asarray(cv2.cvtColor(pixels, encoding.conversion))
