"""A small moving picture, to see whether video arrives where there is no robot to look at."""

import asyncio
from fractions import Fraction

import numpy as np
from aiortc import MediaStreamTrack
from aiortc.mediastreams import MediaStreamError
from av import VideoFrame

WIDTH, HEIGHT, RATE_HZ = 160, 120, 15
_CLOCK_HZ = 90_000


class TrialPicture(MediaStreamTrack):
    """A bright bar that wanders over a blue ground."""

    kind = 'video'

    def __init__(self) -> None:
        super().__init__()
        self._number = 0

    async def recv(self) -> VideoFrame:
        """Returns the next picture, at 15 a second."""
        if self.readyState != 'live':
            raise MediaStreamError
        await asyncio.sleep(1 / RATE_HZ)
        self._number += 1
        picture = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
        picture[:] = (20, 38, 78)
        left = (self._number * 4) % (WIDTH - 16)
        picture[:, left : left + 16] = (98, 208, 234)
        frame = VideoFrame.from_ndarray(picture, format='rgb24')
        frame.pts = self._number * _CLOCK_HZ // RATE_HZ
        frame.time_base = Fraction(1, _CLOCK_HZ)
        return frame
