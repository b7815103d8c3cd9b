"""How smooth a speed profile is: spectral arc length and log dimensionless jerk.

Source: S. Balasubramanian, A. Melendez-Calderon, A. Roby-Brami, E. Burdet, "On the analysis of movement smoothness",
Journal of NeuroEngineering and Rehabilitation 12:112, 2015. The authors publish reference values for the bump
exp(-5 t^2), -1 <= t < 1, sampled at 100 Hz: -1.41403 and -5.81636 (github.com/siva82kb/SPARC).

Both are without a unit and at most about 0: nearer to zero is smoother. They change neither with the unit of length,
nor with the start in time, nor with how fast the same movement is made. The sampling changes the arc length hardly, as
long as it follows the movement; the jerk of a noisy movement grows with it.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from cobalt_recorder.metrics.motion import Motion, Vector
from cobalt_recorder.metrics.quantity import Quantity, known, unknown, weighted_mean
from cobalt_recorder.metrics.speed import STILL_M_S

CUT_OFF_HZ = 10.0
"""Frequencies beyond this are noise; never more than half the sampling rate counts."""

_THRESHOLD = 0.05
_PADDING = 4
_LEAST_SPEEDS = 10
_SHORT = f'no run has {_LEAST_SPEEDS} samples in which it moves'


def spectral_arc_length(speeds: Vector, rate_hz: float) -> Quantity:
    """SPARC of one speed profile.

    Minus the length of the normalised amplitude spectrum's curve, from frequency zero to the last one, up to the
    cut-off, whose amplitude is at least 5 % of the largest.

    Args:
        speeds: (n,) evenly sampled.
        rate_hz: Samples a second [Hz].
    """
    speeds = np.asarray(speeds, dtype=float)
    if len(speeds) < 2 or not np.isfinite(speeds).all() or not np.any(speeds):
        return unknown(_SHORT)
    size = 2 ** (math.ceil(math.log2(len(speeds))) + _PADDING)
    spectrum = np.abs(np.fft.rfft(speeds, size))
    frequencies_hz = np.arange(len(spectrum)) * (rate_hz / size)
    amplitudes = spectrum[frequencies_hz <= min(CUT_OFF_HZ, rate_hz / 2)] / spectrum.max()
    strong = np.flatnonzero(amplitudes >= _THRESHOLD)
    if len(strong) < 2:
        return unknown('its spectrum has one frequency alone')
    amplitudes = amplitudes[strong[0] : strong[-1] + 1]
    step = 1.0 / (len(amplitudes) - 1)
    return known(-float(np.hypot(step, np.diff(amplitudes)).sum()))


def log_dimensionless_jerk(speeds: Vector, rate_hz: float) -> Quantity:
    """LDLJ of one speed profile.

    Minus the logarithm of the integral of the squared jerk, times duration^3 / peak speed^2.

    Args:
        speeds: (n,) evenly sampled.
        rate_hz: Samples a second [Hz].
    """
    speeds = np.asarray(speeds, dtype=float)
    if len(speeds) < 3 or not np.isfinite(speeds).all() or not np.any(speeds):
        return unknown(_SHORT)
    jerk = np.diff(speeds, 2) * rate_hz**2
    duration_s = len(speeds) / rate_hz
    dimensionless = duration_s**3 / np.max(np.abs(speeds)) ** 2 * float(jerk @ jerk) / rate_hz
    return known(-math.log(dimensionless)) if dimensionless > 0 else unknown('its speed never changes its slope')


def sparc(runs: Sequence[Motion], rate_hz: float) -> Quantity:
    """Spectral arc length, the mean over the runs by their duration, each at the control rate."""
    return _over_runs(spectral_arc_length, runs, rate_hz)


def ldlj(runs: Sequence[Motion], rate_hz: float) -> Quantity:
    """Log dimensionless jerk, the mean over the runs by their duration, each at the control rate."""
    return _over_runs(log_dimensionless_jerk, runs, rate_hz)


def _over_runs(measure: Callable[[Vector, float], Quantity], runs: Sequence[Motion], rate_hz: float) -> Quantity:
    found = []
    for run in runs:
        speeds = run.at_rate(rate_hz).speeds
        if len(speeds) >= _LEAST_SPEEDS and speeds.max() > STILL_M_S:
            found.append((measure(speeds, rate_hz), run.duration_s))
    return weighted_mean(found, _SHORT)
