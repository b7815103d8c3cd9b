"""Small pictures of an episode, evenly over its time."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from cobalt_recorder.bag_reader import Bag, Decoder, read_messages
from cobalt_recorder.metrics.step_table import nanoseconds
from cobalt_recorder.video_decoder import VideoDecoder
from cobalt_teleop.core import topics

_EACH_CAMERA = 8
_WIDTH = 240
_QUALITY = 70


@dataclass(frozen=True)
class Thumbnail:
    """One picture.

    Attributes:
        camera: Its name.
        stamp_ns: When it was taken [ns].
        jpeg: The file.
    """

    camera: str
    stamp_ns: int
    jpeg: bytes

    def as_data_url(self) -> str:
        """Returns the picture as an address that holds it."""
        return 'data:image/jpeg;base64,' + base64.b64encode(self.jpeg).decode()


class _Camera:
    def __init__(self, codec: str, wanted: set[int]) -> None:
        self._decoder = VideoDecoder(codec)
        self._wanted = wanted
        self.found: list[tuple[int, bytes]] = []

    def decode(self, stamp_ns: int, data: bytes) -> None:
        self._take(self._decoder.decode(stamp_ns, data))

    def end(self) -> None:
        self._take(self._decoder.end())

    def _take(self, frames: Sequence[Any]) -> None:
        for frame in frames:
            if frame.pts in self._wanted:
                self.found.append((self._decoder.stamps_ns[frame.pts], _small_jpeg(frame.to_ndarray(format='bgr24'))))


def _small_jpeg(picture_bgr: Any) -> bytes:
    height = max(1, round(picture_bgr.shape[0] * _WIDTH / picture_bgr.shape[1]))
    small = cv2.resize(picture_bgr, (_WIDTH, height), interpolation=cv2.INTER_AREA)
    _, jpeg = cv2.imencode('.jpg', small, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])
    return bytes(jpeg)


def thumbnails(bag: Bag) -> list[Thumbnail]:
    """Returns pictures of each camera, in the order of time.

    Args:
        bag: Read once already, so that its counts are known; left as it is.
    """
    cameras: dict[str, _Camera] = {}
    decoder = Decoder()
    for summary, schema, message in read_messages(bag.unread()):
        if schema is None or schema.name != topics.video('any').type:
            continue
        frame = decoder.decode(schema, message)
        name = summary.name.split('/')[-2]
        if name not in cameras:
            count = bag.topics[summary.name].count
            cameras[name] = _Camera(frame.format, set(np.linspace(0, count - 1, _EACH_CAMERA).astype(int).tolist()))
        cameras[name].decode(nanoseconds(frame.timestamp), bytes(frame.data))
    for camera in cameras.values():
        camera.end()
    return [
        Thumbnail(name, stamp_ns, jpeg) for name, camera in sorted(cameras.items()) for stamp_ns, jpeg in camera.found
    ]
