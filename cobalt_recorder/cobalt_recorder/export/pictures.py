"""The pictures of a camera that an export needs, one after the other, so that a long episode fits into memory."""

from collections.abc import Iterator, Sequence
from typing import Any

import av
import cv2
import numpy as np

from cobalt_recorder.bag_reader import Bag, Decoder, read_messages
from cobalt_recorder.metrics.step_table import Array, nanoseconds
from cobalt_recorder.plain_text import plain_text
from cobalt_recorder.video_decoder import VideoDecoder
from cobalt_teleop.core import topics
from cobalt_teleop.core.errors import CobaltError

_VIDEO_TYPE = topics.video('any').type


def pictures(bag: Bag, camera: str, stamps_ns: Array, size: tuple[int, int] | None) -> Iterator[Array]:
    """Yields one picture for each stamp: (height, width, 3) of uint8, RGB.

    A stamp of which there is no picture gets the newest one before it; before the first picture there is only that.

    Args:
        bag: Left as it is.
        camera: Its name.
        stamps_ns: (n,) Of the frames that are wanted, not falling [ns].
        size: Width and height; None for as recorded.

    Raises:
        CobaltError: No picture of the camera can be decoded.
    """
    newest: Array | None = None
    place = 0
    for stamp_ns, picture in _decoded(bag, camera):
        while newest is not None and place < len(stamps_ns) and stamps_ns[place] < stamp_ns:
            yield newest
            place += 1
        newest = _sized(picture, size)
        if place == len(stamps_ns):
            return
    if newest is None:
        raise CobaltError(f'{bag.file} has no picture of {camera} that can be decoded: leave it out with --cameras.')
    for _ in range(place, len(stamps_ns)):
        yield newest


def _decoded(bag: Bag, camera: str) -> Iterator[tuple[int, Array]]:
    messages, video = Decoder(), None
    for summary, schema, message in read_messages(bag.unread()):
        if schema is None or schema.name != _VIDEO_TYPE or summary.name.split('/')[-2] != camera:
            continue
        try:
            frame = messages.decode(schema, message)
            codec, stamp_ns, data = str(frame.format), nanoseconds(frame.timestamp), bytes(frame.data)
        except Exception:
            # Bytes of others may be anything, and so may be what they do to a decoder.
            continue
        if video is None:
            video = _video_decoder(bag, codec)
        yield from _stamped(video.decode(stamp_ns, data), video.stamps_ns)
    if video is not None:
        yield from _stamped(video.end(), video.stamps_ns)


def _video_decoder(bag: Bag, codec: str) -> VideoDecoder:
    try:
        return VideoDecoder(codec)
    except (ValueError, av.error.FFmpegError) as error:
        raise CobaltError(f'{bag.file} has video of a format that is not known here: {plain_text(codec)}') from error


def _stamped(frames: Sequence[Any], stamps: Sequence[int]) -> Iterator[tuple[int, Array]]:
    for frame in frames:
        if frame.pts is None or not 0 <= frame.pts < len(stamps):
            continue
        yield stamps[frame.pts], np.asarray(frame.to_ndarray(format='rgb24'))


def _sized(picture: Array, size: tuple[int, int] | None) -> Array:
    if size is None:
        height, width = picture.shape[:2]
        return picture[: height & ~1, : width & ~1]
    if (picture.shape[1], picture.shape[0]) == size:
        return picture
    return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA))
