"""How much a motion trembles."""

from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from cobalt_recorder.metrics.motion import Motion, Vector
from cobalt_recorder.metrics.quantity import Quantity, known, unknown

_SPEEDS = 5


def largest_accelerations(speeds: Vector, rate_hz: float) -> Vector:
    """Returns the largest acceleration in each window of five neighbouring speeds.

    Args:
        speeds: (n,) evenly sampled [m/s].
        rate_hz: Samples a second [Hz].

    Returns:
        (n - 4,) [m/s^2]; empty if there are fewer than five speeds.
    """
    if len(speeds) < _SPEEDS:
        return np.zeros(0)
    accelerations = np.abs(np.diff(speeds)) * rate_hz
    return np.asarray(sliding_window_view(accelerations, _SPEEDS - 1).max(axis=1))


def jitter(runs: Sequence[Motion], rate_hz: float) -> Quantity:
    """Mean, over all windows of five neighbouring speeds, of the largest acceleration in the window [m/s^2].

    Source: the jitter of COBALT (arXiv 2605.19138); windows overlap, and none reaches over the end of a run. Grows with
    the unit of length, and with the square of the tempo.
    """
    found = [largest_accelerations(run.at_rate(rate_hz).speeds, rate_hz) for run in runs]
    windows = np.concatenate(found) if found else np.zeros(0)
    return known(float(windows.mean())) if windows.size else unknown('no run has five speeds')
