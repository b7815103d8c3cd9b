"""What never moves is drawn once: a fixed camera's pictures are put together of it and of what moves before it.

Measured for the lift task with Mesa's software rasteriser: a whole picture of 320x240 3.6 ms, put together 2.1 ms; of
480x360 6.1 ms and 3.1 ms. The pixels are the same, but for the rounding of shadows, and for one or two of them where a
thing sinks into the table by a hair.
"""

import cv2
import numpy as np
from numpy.typing import NDArray

from cobalt_teleop.workcell_host.plant import Picture

Depth = NDArray[np.float32]
"""(height, width) of OpenGL's depth buffer: 1 where nothing was drawn."""


class StillBackground:
    """The part of a picture that never moves.

    Args:
        picture: (height, width, 3) RGB of all that never moves.
        depth: (height, width) of the same.
        ground: (height, width) of 0 and 255: where a shadow may fall.
    """

    def __init__(self, picture: Picture, depth: Depth, ground: Picture) -> None:
        self._picture = picture
        self._depth = depth
        self._ground = ground
        self.canvas: tuple[Picture, Depth] = np.empty_like(picture), np.empty_like(depth)
        """Room for what moves, used again for each picture."""

    def behind(self, moving: Picture, depth: Depth) -> Picture:
        """Returns the whole picture, (height, width, 3) RGB.

        Args:
            moving: (height, width, 3) RGB of all that moves, on black, with shadows as white patches.
            depth: (height, width) of the same; patches leave no depth.
        """
        whole = self._picture.copy()
        shade = cv2.bitwise_and(cv2.extractChannel(moving, 0), self._ground)
        shade = cv2.bitwise_and(shade, cv2.compare(depth, 1.0, cv2.CMP_GE))
        left, top, width, height = cv2.boundingRect(shade)
        if width:
            part = np.s_[top : top + height, left : left + width]
            light = cv2.cvtColor(255 - shade[part], cv2.COLOR_GRAY2RGB)
            whole[part] = cv2.multiply(whole[part], light, scale=1.0 / 255.0)
        cv2.copyTo(moving, cv2.compare(depth, self._depth, cv2.CMP_LT), whole)
        return whole
