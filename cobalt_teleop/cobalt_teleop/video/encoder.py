"""What every encoder of a camera's pictures does, whatever its codec."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import av
import cv2
from av.video.frame import PictureType

from cobalt_teleop.video.picture_size import SMALLEST_PX, PictureError
from cobalt_teleop.workcell_host.plant import Picture

BURST_S = 0.25
"""How much of the bit rate a burst (a key frame) may use at once [s]."""


@dataclass(frozen=True)
class EncodedFrame:
    """One access unit.

    Attributes:
        data: As CompressedVideo carries it.
        key_frame: It can be decoded without any frame before it.
    """

    data: bytes
    key_frame: bool


class Encoder(Protocol):
    """Encodes pictures of one size at one rate; each call returns that picture's frame at once.

    Key frames come when asked for, and at first.
    """

    width: int
    height: int
    rate_hz: float
    kbit_s: int

    def encode(self, picture: Picture, key_frame: bool = False) -> EncodedFrame:
        """Encodes one picture.

        Args:
            picture: (height, width, 3) RGB.
            key_frame: Makes this one a key frame.

        Raises:
            PictureError: The picture has another size.
        """
        ...


def new_codec(name: str, width: int, height: int, rate_hz: float) -> Any:
    """Returns a PyAV codec context for pictures of one size, not yet opened.

    Raises:
        PictureError: The size [px] is odd or too small.
    """
    if width % 2 or height % 2 or min(width, height) < SMALLEST_PX:
        raise PictureError(f'video needs an even width and height of at least {SMALLEST_PX} px, not {width}x{height}')
    rate = Fraction(rate_hz).limit_denominator(1000)
    codec: Any = av.CodecContext.create(name, 'w')
    codec.width = width
    codec.height = height
    codec.pix_fmt = 'yuv420p'
    codec.framerate = rate
    codec.time_base = 1 / rate
    codec.max_b_frames = 0
    codec.thread_count = 1
    return codec


def encode_with(codec: Any, picture: Picture, count: int, key_frame: bool) -> EncodedFrame:
    """Encodes the picture of a number with a codec context of `new_codec`.

    Raises:
        PictureError: The picture has another size.
    """
    if picture.shape != (codec.height, codec.width, 3):
        raise PictureError(f'this encoder takes pictures of ({codec.height}, {codec.width}, 3), not {picture.shape}')
    frame = av.VideoFrame.from_ndarray(cv2.cvtColor(picture, cv2.COLOR_RGB2YUV_I420), format='yuv420p')
    frame.pts = count
    frame.pict_type = PictureType.I if key_frame else PictureType.NONE
    packets = codec.encode(frame)
    return EncodedFrame(b''.join(map(bytes, packets)), any(packet.is_keyframe for packet in packets))
