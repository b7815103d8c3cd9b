"""One camera's H.264 encoder: x264 with no B-frames and no delay."""

from dataclasses import dataclass
from fractions import Fraction

import av
import cv2
from av.video.frame import PictureType

from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.workcell_host.plant import Picture

_VBV_S = 0.25
"""How much of the bit rate a burst (a key frame) may use at once [s]."""


class PictureError(CobaltError):
    """A picture has a shape that cannot be encoded."""


@dataclass(frozen=True)
class EncodedFrame:
    """One access unit.

    Attributes:
        data: Annex B; SPS and PPS come first in a key frame.
        key_frame: It can be decoded without any frame before it.
    """

    data: bytes
    key_frame: bool


class H264Encoder:
    """Encodes pictures of one size; each call returns that picture's frame at once.

    Baseline profile, ultrafast and zerolatency, one thread: 0.9 ms for 320x240. Key frames come when asked for, and
    at first.

    Args:
        width: [px], even.
        height: [px], even.
        rate_hz: Pictures a second, for the rate control alone [Hz].
        kbit_s: Upper bound of the bit rate [kbit/s]; a still picture needs less.
    """

    def __init__(self, width: int, height: int, rate_hz: float, kbit_s: int) -> None:
        if width % 2 or height % 2 or width < 16 or height < 16:
            raise PictureError(f'H.264 needs an even width and height of at least 16 px, not {width}x{height}')
        self.width = width
        self.height = height
        rate = Fraction(rate_hz).limit_denominator(1000)
        codec = av.CodecContext.create('libx264', 'w')
        codec.width = width
        codec.height = height
        codec.pix_fmt = 'yuv420p'
        codec.framerate = rate
        codec.time_base = 1 / rate
        codec.max_b_frames = 0
        codec.thread_count = 1
        codec.options = {
            'preset': 'ultrafast',
            'tune': 'zerolatency',
            'profile': 'baseline',
            'crf': '23',
            'forced-idr': '1',
            'x264-params': ':'.join(
                (
                    'repeat-headers=1',
                    'annexb=1',
                    'keyint=infinite',
                    'scenecut=0',
                    'threads=1',
                    f'vbv-maxrate={kbit_s}',
                    f'vbv-bufsize={max(1, round(kbit_s * _VBV_S))}',
                    'colormatrix=smpte170m',  # what cv2 converts by
                    'log-level=none',
                )
            ),
        }
        self._codec = codec
        self._count = 0

    def encode(self, picture: Picture, key_frame: bool = False) -> EncodedFrame:
        """Encodes one picture.

        Args:
            picture: (height, width, 3) RGB.
            key_frame: Makes this one a key frame.

        Raises:
            PictureError: The picture has another size.
        """
        if picture.shape != (self.height, self.width, 3):
            raise PictureError(f'this encoder takes pictures of ({self.height}, {self.width}, 3), not {picture.shape}')
        frame = av.VideoFrame.from_ndarray(cv2.cvtColor(picture, cv2.COLOR_RGB2YUV_I420), format='yuv420p')
        frame.pts = self._count
        frame.pict_type = PictureType.I if key_frame else PictureType.NONE
        self._count += 1
        packets = self._codec.encode(frame)
        return EncodedFrame(b''.join(map(bytes, packets)), any(packet.is_keyframe for packet in packets))
