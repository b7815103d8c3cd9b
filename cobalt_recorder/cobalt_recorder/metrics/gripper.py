"""How often a gripper is opened or closed."""

import numpy as np
from numpy.typing import ArrayLike

from cobalt_recorder.metrics.quantity import Quantity, known, unknown

_CLOSED, _OPEN = 0.4, 0.6


def gripper_toggles(openings: ArrayLike) -> Quantity:
    """Changes between open and closed.

    Below 0.4 is closed, above 0.6 open; what lies between, or is not a number, leaves it as it was. So a trigger that
    trembles near the middle counts once.

    Args:
        openings: (n,) 0 closed to 1 open, NaN where nothing is asked.
    """
    values = np.asarray(openings, dtype=float)
    clear = values[(values < _CLOSED) | (values > _OPEN)] > 0.5
    if not clear.size:
        return unknown('nothing was asked of the gripper')
    return known(float(np.count_nonzero(clear[1:] != clear[:-1])))
