"""What viewers ask of a camera's video, and how much of it is granted."""

from dataclasses import replace
from typing import Any

from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.video.readable import LEAST_WIDTH_PX, readable_kbit_s
from cobalt_teleop.video.video_stream import VideoLimits

WISHES_LAST_S = 5.0
"""What was asked for lasts so long after the last viewer has gone [s]."""


class VideoWishes:
    """Keeps what SetCamera asked for.

    A poor link may make video smaller, but not that of an episode: all frames of a bag have one size, and no fewer bits
    than a person can read.

    Args:
        camera: Its name, for messages.
        best: What there is without a wish.
        now_s: [s].
    """

    def __init__(self, camera: str, best: VideoLimits, now_s: float) -> None:
        self._camera = camera
        self._best = self._asked = best
        self._watched_s = now_s

    def ask(self, request: Any) -> None:
        """Takes the size and bit rate of a SetCamera request; 0 is as it was.

        Raises:
            CobaltError: The camera cannot have that size.
        """
        width, height = int(request.width), int(request.height)
        most_width, most_height = self._best.size_px
        if width > most_width or height > most_height or 0 < width < LEAST_WIDTH_PX:
            raise CobaltError(
                f'the size is {width}x{height}, but camera {self._camera} has {most_width}x{most_height} at most, and '
                f'{LEAST_WIDTH_PX} px of width at least'
            )
        if width or height:
            self._asked = replace(self._asked, size_px=(width or most_width, height or most_height))
        if request.kbit_s:
            self._asked = replace(self._asked, kbit_s=min(int(request.kbit_s), self._best.kbit_s))

    def forget_unless_watched(self, watched: bool, now_s: float) -> None:
        """Forgets what was asked for when nobody is left for whom video should be small."""
        if watched:
            self._watched_s = now_s
        elif now_s - self._watched_s > WISHES_LAST_S:
            self._asked = self._best

    def granted(self, rate_hz: float, *, full_size: bool) -> VideoLimits:
        """Returns what video may be now.

        Args:
            rate_hz: Pictures a second [Hz].
            full_size: It may belong to a recording.
        """
        size = self._best.size_px if full_size else self._asked.size_px
        least = min(readable_kbit_s(*size, rate_hz), self._best.kbit_s)
        return VideoLimits(max(self._asked.kbit_s, least), size)
