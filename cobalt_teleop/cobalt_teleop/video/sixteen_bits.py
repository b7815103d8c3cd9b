"""Grey values of up to 16 bits as 8 bits that a person can see."""

import numpy as np
from numpy.typing import NDArray


class SixteenBits:
    """Shows the 8 highest bits that a camera uses.

    Cameras of 10 or 12 bits leave the highest ones empty, and depth pictures use what the room needs. The brightest
    value ever seen decides, so that the picture doesn't flicker.
    """

    def __init__(self) -> None:
        self._bits = 8

    def to_8(self, values: NDArray[np.uint16]) -> NDArray[np.uint8]:
        """Returns values of the same shape, 0 to 255."""
        self._bits = max(self._bits, int(values.max(initial=0)).bit_length())
        return np.right_shift(values, self._bits - 8).astype(np.uint8)
