"""Pictures out of sensor_msgs/CompressedImage."""

from typing import Any

import av
import cv2
import numpy as np
from av.video.reformatter import VideoReformatter

from cobalt_teleop.core.picture_file import picture_format
from cobalt_teleop.video.picture_size import LARGEST_PIXELS, PictureError, check_size
from cobalt_teleop.video.sixteen_bits import SixteenBits
from cobalt_teleop.workcell_host.plant import Picture


class CompressedImageReader:
    """Reads the CompressedImage messages of one camera: JPEG and PNG, told by their first bytes.

    Drivers write many things into `format`, and some of them are wrong.
    """

    def __init__(self) -> None:
        self._decoders = {'jpeg': _decoder('mjpeg'), 'png': _decoder('png')}
        self._reformatter = VideoReformatter()
        self._sixteen_bits = SixteenBits()

    def read(self, message: Any) -> Picture:
        """Returns the (height, width, 3) RGB picture of a message, cut to an even width and height.

        Raises:
            PictureError: It is neither JPEG nor PNG, is broken, or its size is no camera's.
        """
        data = bytes(message.data)
        kind = picture_format(data)
        if kind:
            return self._decode(kind.upper(), self._decoders[kind], data)
        raise PictureError(
            f"a compressed picture of format '{message.format}' is neither JPEG nor PNG (it begins with "
            f"'{data[:4].hex()}'). Set the camera driver to one of them."
        )

    def _decode(self, name: str, decoder: Any, data: bytes) -> Picture:
        try:
            frames = decoder.decode(av.Packet(data))
        except (av.FFmpegError, ValueError) as error:
            raise PictureError(
                f'a {name} is broken, or has more than {LARGEST_PIXELS // 1_000_000} megapixels'
            ) from error
        if not frames:
            raise PictureError(f'a {name} holds no picture')
        frame = frames[0]
        check_size(frame.width, frame.height)
        if frame.format.name.startswith('gray16'):
            grey = self._sixteen_bits.to_8(frame.to_ndarray(format='gray16le'))
            picture = np.asarray(cv2.cvtColor(grey, cv2.COLOR_GRAY2RGB))
        else:
            picture = self._reformatter.reformat(frame, format='rgb24').to_ndarray()
        return np.ascontiguousarray(picture[: frame.height & ~1, : frame.width & ~1])


def _decoder(name: str) -> Any:
    """Returns a decoder that gives each picture at once, and refuses broken and huge ones instead of guessing."""
    decoder = av.CodecContext.create(name, 'r')
    decoder.thread_count = 1
    decoder.options = {'err_detect': 'explode', 'max_pixels': str(LARGEST_PIXELS)}
    return decoder
