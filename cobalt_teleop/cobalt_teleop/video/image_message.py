"""Pictures out of sensor_msgs/Image."""

from typing import Any

import cv2
import numpy as np

from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.workcell_host.plant import Picture

_TO_RGB = {
    'rgb8': (3, None),
    'bgr8': (3, cv2.COLOR_BGR2RGB),
    'rgba8': (4, cv2.COLOR_RGBA2RGB),
    'bgra8': (4, cv2.COLOR_BGRA2RGB),
    'mono8': (1, cv2.COLOR_GRAY2RGB),
    '8UC1': (1, cv2.COLOR_GRAY2RGB),
    '8UC3': (3, cv2.COLOR_BGR2RGB),
}


class ImageError(CobaltError):
    """An Image message cannot be read as a picture."""


def to_picture(message: Any) -> Picture:
    """Returns the (height, width, 3) RGB picture of an Image, cut to even width and height as H.264 needs it.

    Raises:
        ImageError: Its encoding is unknown, or its data does not fit its size.
    """
    if message.encoding not in _TO_RGB:
        raise ImageError(
            f"encoding '{message.encoding}' is unknown; known are {', '.join(_TO_RGB)}. "
            'Set the camera driver to one of them.'
        )
    channels, conversion = _TO_RGB[message.encoding]
    height, width, step = message.height, message.width, message.step or message.width * channels
    data = np.frombuffer(memoryview(message.data), dtype=np.uint8)
    if min(height, width) < 16 or step < width * channels or data.size < height * step:
        raise ImageError(
            f'{width}x{height} {message.encoding} with step {step} needs at least 16x16 px and {height * step} bytes, '
            f'not {data.size}'
        )
    rows = data[: height * step].reshape(height, step)[:, : width * channels].reshape(height, width, channels)
    even = rows[: height & ~1, : width & ~1]
    if conversion is None:
        return np.ascontiguousarray(even)
    return np.asarray(cv2.cvtColor(np.ascontiguousarray(even), conversion))
