"""SPARC and LDLJ against the values that their authors publish, and what must not change them."""

import math

import numpy as np
import pytest

from cobalt_recorder.metrics.motion import Motion
from cobalt_recorder.metrics.smoothness import ldlj, log_dimensionless_jerk, sparc, spectral_arc_length

TIMES_S = np.arange(-1, 1, 0.01)
BUMP = np.exp(-5 * TIMES_S**2)
MEASURES = [spectral_arc_length, log_dimensionless_jerk]


def motion(positions, rate_hz=20.0, start_s=0.0):
    positions = np.asarray(positions, dtype=float)
    return Motion(start_s + np.arange(len(positions)) / rate_hz, positions, np.zeros(len(positions)))


def along_x(x, **where):
    return motion(np.stack([x, np.zeros(len(x)), np.zeros(len(x))], axis=1), **where)


def minimum_jerk(count, length_m=0.3):
    share = np.linspace(0.0, 1.0, count)
    return length_m * (10 * share**3 - 15 * share**4 + 6 * share**5)


def test_reference_values_of_the_authors():
    assert spectral_arc_length(BUMP, 100.0).value == pytest.approx(-1.41403, abs=5e-6)
    assert log_dimensionless_jerk(BUMP, 100.0).value == pytest.approx(-5.81636, abs=5e-6)


@pytest.mark.parametrize('measure', MEASURES)
def test_neither_unit_nor_tempo_counts(measure):
    expected = measure(BUMP, 100.0).value
    assert measure(1000 * BUMP, 100.0).value == pytest.approx(expected, rel=1e-9)
    if measure is log_dimensionless_jerk:
        assert measure(BUMP, 50.0).value == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize('measure', MEASURES)
def test_a_tremor_makes_it_worse(measure):
    assert measure(BUMP + 0.05 * np.sin(2 * np.pi * 6 * TIMES_S) ** 2, 100.0).value < measure(BUMP, 100.0).value


def test_a_second_stroke_makes_it_worse():
    two = np.concatenate([BUMP, BUMP])
    assert spectral_arc_length(two, 100.0).value < spectral_arc_length(BUMP, 100.0).value - 0.2
    assert log_dimensionless_jerk(two, 100.0).value < log_dimensionless_jerk(BUMP, 100.0).value


def test_nothing_beyond_half_the_sampling_rate_counts():
    """At 10 Hz, what lies from 5 to 10 Hz is the mirror image of the rest."""
    speeds = np.exp(-5 * np.arange(-1, 1, 0.1) ** 2)
    size = 2 ** (math.ceil(math.log2(len(speeds))) + 4)
    amplitudes = np.abs(np.fft.fft(speeds, size))[: size // 2 + 1]
    amplitudes /= amplitudes.max()
    last = np.flatnonzero(amplitudes >= 0.05)[-1]
    arc = -np.hypot(1 / last, np.diff(amplitudes[: last + 1])).sum()
    assert spectral_arc_length(speeds, 10.0).value == pytest.approx(arc, rel=1e-12)


def test_resampling_changes_a_smooth_motion_hardly():
    fine = [along_x(minimum_jerk(301), rate_hz=100.0)]
    for rate_hz in (20.0, 40.0):
        coarse = [along_x(minimum_jerk(round(3 * rate_hz) + 1), rate_hz=rate_hz)]
        assert sparc(coarse, rate_hz).value == pytest.approx(sparc(fine, 100.0).value, abs=0.01)
        assert ldlj(coarse, rate_hz).value == pytest.approx(ldlj(fine, 100.0).value, abs=0.15)


def test_a_shift_in_time_changes_nothing():
    here, later = along_x(minimum_jerk(61)), along_x(minimum_jerk(61), start_s=1e5)
    assert sparc([later], 20.0).value == pytest.approx(sparc([here], 20.0).value, rel=1e-6)
    assert ldlj([later], 20.0).value == pytest.approx(ldlj([here], 20.0).value, rel=1e-6)


def test_runs_count_by_their_duration():
    long, short = along_x(minimum_jerk(61)), along_x(minimum_jerk(21))
    expected = (3.0 * sparc([long], 20.0).value + 1.0 * sparc([short], 20.0).value) / 4.0
    assert sparc([long, short], 20.0).value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize('measure', MEASURES)
@pytest.mark.parametrize('speeds', [[], [0.1], [0.0] * 30, [math.nan] * 30, [math.inf] * 30])
def test_no_profile_has_no_value_but_a_reason(measure, speeds):
    found = measure(np.array(speeds), 20.0)
    assert math.isnan(found.value)
    assert found.reason


@pytest.mark.parametrize('of_runs', [sparc, ldlj])
@pytest.mark.parametrize(
    'runs', [[], [along_x(np.zeros(0))], [along_x(np.zeros(1))], [along_x(np.zeros(40))], [along_x(minimum_jerk(5))]]
)
def test_runs_that_are_too_short_or_still_do_not_count(of_runs, runs):
    found = of_runs(runs, 20.0)
    assert math.isnan(found.value)
    assert 'no run has 10 samples' in found.reason
