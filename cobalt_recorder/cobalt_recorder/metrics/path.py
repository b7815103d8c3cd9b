"""How far: lengths of paths, and how straight they are. Source: elementary geometry."""

from collections.abc import Sequence

import numpy as np

from cobalt_recorder.metrics.motion import Motion
from cobalt_recorder.metrics.quantity import Quantity, known, unknown

_NO_RUN = 'nothing was driven'
_SHORT_M = 1e-3


def path_length(runs: Sequence[Motion]) -> Quantity:
    """Length of the path, over all runs [m].

    Does not change with the place, the orientation or the start in time; nor with the sampling, as long as that
    follows the path.
    """
    return known(sum(float(run.steps_m.sum()) for run in runs)) if runs else unknown(_NO_RUN)


def rotation_length(runs: Sequence[Motion]) -> Quantity:
    """Angle turned to and fro, over all runs [rad]."""
    return known(sum(float(np.diff(run.turned_rad).sum()) for run in runs)) if runs else unknown(_NO_RUN)


def path_efficiency(runs: Sequence[Motion]) -> Quantity:
    """Straight way from start to end of each run, as a share of the path: 1 is a straight line.

    Does not change with the unit of length.
    """
    length_m = sum(float(run.steps_m.sum()) for run in runs)
    if length_m < _SHORT_M:
        return unknown('nothing moved as far as a millimetre' if runs else _NO_RUN)
    return known(sum(float(np.linalg.norm(np.diff(run.positions, axis=0).sum(axis=0))) for run in runs) / length_m)
