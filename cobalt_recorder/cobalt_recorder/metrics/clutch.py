"""How the operator uses the clutch. Source: counts and shares of control_step's own fields."""

import numpy as np

from cobalt_recorder.metrics.part_record import PartRecord
from cobalt_recorder.metrics.quantity import Quantity, known, unknown

_NO_COMMAND = 'no command of a person came'


def clutch_count(part: PartRecord) -> Quantity:
    """How often the clutch was pressed; a press that was going on at the first row counts."""
    if not part.rows['has_human'].any():
        return unknown(_NO_COMMAND)
    pressed = part.rows['has_human'] & part.rows['human_engaged']
    epochs = part.rows['human_epoch'][pressed]
    return known(float(1 + np.count_nonzero(np.diff(epochs.astype(np.int64)))) if epochs.size else 0.0)


def disengaged_share(part: PartRecord) -> Quantity:
    """Share of the rows in which the clutch is released or the device is not tracked, 0 to 1."""
    if not part.rows['has_human'].any():
        return unknown(_NO_COMMAND)
    return known(float(np.mean(~part.engaged)))
