"""Smoothing: calm at rest, late by what it says, and never beyond where the hand has been."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cobalt_devices.pose_filters import FixedLag, OneEuro, filter_maker
from cobalt_teleop.core.pose import Pose, angle_between, quaternion, rotation_vector

PERIOD_S = 0.025
numbers = st.floats(-1.0, 1.0)
poses = st.tuples(numbers, numbers, numbers, numbers, numbers, numbers)


def pose(x=0.0, y=0.0, z=0.0, a=0.0, b=0.0, c=0.0):
    return Pose(np.array([x, y, z]), quaternion((a, b, c)))


def through(a_filter, path, period_s=PERIOD_S):
    return [a_filter.smooth(10.0 + number * period_s, each) for number, each in enumerate(path)]


@pytest.mark.parametrize('name', ['one_euro', 'fixed_lag'])
@settings(deadline=None)
@given(poses, st.integers(1, 30))
def test_a_hand_that_keeps_still_stays_where_it_is(name, place, count):
    make = filter_maker(name, lag_s=0.06, min_cutoff_hz=2.0)
    for smooth in through(make(), [pose(*place)] * count):
        assert np.allclose(smooth.position, place[:3])
        assert angle_between(smooth.quat_xyzw, quaternion(place[3:])) < 1e-9


@pytest.mark.parametrize('name', ['one_euro', 'fixed_lag'])
@settings(deadline=None)
@given(st.lists(st.tuples(poses, st.floats(0.0, 0.3)), min_size=1, max_size=40))
def test_nothing_leaves_the_space_in_which_the_hand_was(name, samples):
    a_filter, now_s = filter_maker(name, lag_s=0.06, min_cutoff_hz=2.0)(), 10.0
    lowest, highest = np.full(3, np.inf), np.full(3, -np.inf)
    for place, gap_s in samples:
        now_s += gap_s
        lowest, highest = np.minimum(lowest, place[:3]), np.maximum(highest, place[:3])
        smooth = a_filter.smooth(now_s, pose(*place))
        assert np.all(smooth.position >= lowest - 1e-9) and np.all(smooth.position <= highest + 1e-9)
        assert abs(np.linalg.norm(smooth.quat_xyzw) - 1.0) < 1e-9
        assert 0.0 <= a_filter.delay_s < 0.2


def test_the_one_euro_filter_calms_a_trembling_hand():
    tremble = [pose(x=0.001 * (-1) ** number) for number in range(200)]
    smooth = np.array([each.position[0] for each in through(OneEuro(beta_position=0.0), tremble)])
    assert np.ptp(smooth[100:]) < 0.2 * 0.002


@pytest.mark.parametrize('speed', [0.02, 0.3])
def test_the_one_euro_filter_is_late_by_about_what_it_says(speed):
    a_filter = OneEuro()
    path = [pose(x=speed * number * PERIOD_S) for number in range(200)]
    late_s = (path[-1].position[0] - through(a_filter, path)[-1].position[0]) / speed
    assert late_s == pytest.approx(a_filter.delay_s, abs=0.5 * PERIOD_S) or late_s < a_filter.delay_s


def test_the_one_euro_filter_is_less_late_the_faster_the_hand():
    delays = []
    for speed in (0.0, 0.1, 0.5):
        a_filter = OneEuro()
        through(a_filter, [pose(x=speed * number * PERIOD_S, a=speed * number * PERIOD_S) for number in range(100)])
        delays.append(a_filter.delay_s)
    assert delays[0] > delays[1] > delays[2]
    assert delays[0] == pytest.approx(1.0 / (2.0 * math.pi * 2.0))


def test_a_fixed_lag_plays_the_motion_back_late_by_just_that():
    a_filter = FixedLag(0.06)
    path = [pose(x=0.2 * number * PERIOD_S, c=0.5 * number * PERIOD_S) for number in range(40)]
    last = through(a_filter, path)[-1]
    assert a_filter.delay_s == pytest.approx(0.06)
    assert path[-1].position[0] - last.position[0] == pytest.approx(0.2 * 0.06)
    late = rotation_vector(path[-1].quat_xyzw) - rotation_vector(last.quat_xyzw)
    assert late == pytest.approx([0.0, 0.0, 0.5 * 0.06], abs=1e-9)


def test_a_fixed_lag_begins_where_the_press_began():
    a_filter = FixedLag(0.06)
    first, second = through(a_filter, [pose(x=0.0), pose(x=0.01)])
    assert first.position[0] == 0.0 and second.position[0] == 0.0
    assert a_filter.delay_s == pytest.approx(PERIOD_S)


def test_without_smoothing_there_is_no_filter():
    assert filter_maker('none', lag_s=0.06, min_cutoff_hz=2.0) is None
