"""How often a gripper is opened or closed."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobalt_recorder.metrics.part_record import PartRecord
from cobalt_recorder.metrics.quantity import Quantity, known, unknown

_CLOSED, _OPEN = 0.4, 0.6


def command_gripper_toggles(part: PartRecord) -> Quantity:
    """Changes between open and closed that a person asked for, of how the gripper stood as the episode began."""
    stood = part.rows['gripper_target'][:1]
    asked = part.rows['human_gripper'][part.engaged]
    return gripper_toggles(asked, float(stood[0]) if stood.size else float('nan'))


def gripper_toggles(openings: ArrayLike, before: float = float('nan')) -> Quantity:
    """Changes between open and closed.

    Below 0.4 is closed, above 0.6 open; what lies between, or is not a number, leaves it as it was. So a trigger that
    trembles near the middle counts once.

    Args:
        openings: (n,) 0 closed to 1 open, NaN where nothing is asked.
        before: What held before them, of which the first may be a change; NaN if unknown.
    """
    values = np.asarray(openings, dtype=float)
    if not _is_clear(values).any():
        return unknown('nothing was asked of the gripper')
    values = np.append(before, values)
    clear = values[_is_clear(values)] > 0.5
    return known(float(np.count_nonzero(clear[1:] != clear[:-1])))


def _is_clear(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    return (values < _CLOSED) | (values > _OPEN)
