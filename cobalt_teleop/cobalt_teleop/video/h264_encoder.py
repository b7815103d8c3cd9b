"""One camera's H.264 encoder: x264 with no B-frames and no delay."""

from cobalt_teleop.video.encoder import BURST_S, EncodedFrame, encode_with, new_codec
from cobalt_teleop.workcell_host.plant import Picture


class H264Encoder:
    """Encodes pictures of one size; each call returns that picture's frame at once.

    Annex B; SPS and PPS come first in a key frame. Baseline profile, ultrafast and zerolatency, one thread: 0.9 ms for
    320x240. Key frames come when asked for, and at first.

    Args:
        width: [px], even.
        height: [px], even.
        rate_hz: Pictures a second, for the rate control alone [Hz].
        kbit_s: Upper bound of the bit rate [kbit/s]; a still picture needs less.
    """

    def __init__(self, width: int, height: int, rate_hz: float, kbit_s: int) -> None:
        self.width, self.height, self.rate_hz, self.kbit_s = width, height, rate_hz, kbit_s
        self._codec = new_codec('libx264', width, height, rate_hz)
        self._codec.options = {
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
                    f'vbv-bufsize={max(1, round(kbit_s * BURST_S))}',
                    'colormatrix=smpte170m',  # what cv2 converts by
                    'log-level=none',
                )
            ),
        }
        self._count = 0

    def encode(self, picture: Picture, key_frame: bool = False) -> EncodedFrame:
        """Encodes one (height, width, 3) RGB picture, as a key frame if that is asked for.

        Raises:
            PictureError: The picture has another size.
        """
        self._count += 1
        return encode_with(self._codec, picture, self._count, key_frame)
