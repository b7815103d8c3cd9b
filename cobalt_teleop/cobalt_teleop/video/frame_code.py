"""A number drawn into a picture as black and white blocks, so that a benchmark knows a frame again.

The code survives encoding and scaling: its blocks are shares of the picture's width, in one row in the upper left
corner.
"""

import numpy as np
from numpy.typing import NDArray

from cobalt_teleop.workcell_host.plant import Picture

VALUE_BITS = 24
_CHECK_BITS = 4
_COLUMNS = 40
"""Blocks that would fill the picture's width: a block is 8 px in a picture of 320 px."""

_MARK = (1, 0, 1)


def value_of_stamp(stamp_ns: int) -> int:
    """Returns the low bits of a stamp in milliseconds: unique within four and a half hours."""
    return (stamp_ns // 1_000_000) & ((1 << VALUE_BITS) - 1)


def _bits(value: int) -> list[int]:
    check = sum(value >> shift for shift in range(0, VALUE_BITS, _CHECK_BITS)) & ((1 << _CHECK_BITS) - 1)
    word = value << _CHECK_BITS | (check ^ 0b1010)
    return [*_MARK, *((word >> bit) & 1 for bit in reversed(range(VALUE_BITS + _CHECK_BITS)))]


def draw(picture: Picture, value: int) -> Picture:
    """Returns a copy of a (height, width, 3) picture with the low 24 bits of a number drawn into it."""
    marked = picture.copy()
    width = picture.shape[1]
    bits = _bits(value & ((1 << VALUE_BITS) - 1))
    edges = [round(column * width / _COLUMNS) for column in range(len(bits) + 1)]
    height = max(1, round(width / _COLUMNS))
    for bit, left, right in zip(bits, edges, edges[1:], strict=False):
        marked[:height, left:right] = 255 if bit else 0
    return marked


def read(picture: NDArray[np.uint8]) -> int | None:
    """Returns the number drawn into a picture, (height, width[, 3]) of any scale; None if there is none."""
    grey = picture if picture.ndim == 2 else picture[..., :3].mean(axis=2)
    block = grey.shape[1] / _COLUMNS
    row = int(block / 2)
    if row >= grey.shape[0]:
        return None
    reach = max(0, int(block / 4))
    count = len(_MARK) + VALUE_BITS + _CHECK_BITS
    bits = []
    for column in range(count):
        middle = int((column + 0.5) * block)
        patch = grey[max(0, row - reach) : row + reach + 1, max(0, middle - reach) : middle + reach + 1]
        bits.append(int(patch.mean() > 127))
    word = int(''.join(map(str, bits[len(_MARK) :])), 2)
    value = word >> _CHECK_BITS
    return value if bits == _bits(value) else None
