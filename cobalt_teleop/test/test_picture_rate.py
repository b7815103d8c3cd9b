"""Rates of pictures, measured and limited."""

import pytest

from cobalt_teleop.video.picture_rate import RateEstimate, RateLimit


@pytest.mark.parametrize('rate', [1.0, 7.5, 30.0, 120.0])
def test_a_rate_is_measured_by_stamps(rate):
    estimate = RateEstimate(20.0)
    for index in range(40):
        estimate.note(int(index / rate * 1e9))
    assert estimate.hz == pytest.approx(rate, rel=0.01)


def test_the_guess_holds_until_enough_has_come_and_a_gap_is_no_rate():
    estimate = RateEstimate(20.0)
    for index in range(7):
        estimate.note(index * 10**8)
    assert estimate.hz == 20.0
    for index in range(7, 20):
        estimate.note(index * 10**8)
    estimate.note(10**11)
    assert estimate.hz == pytest.approx(10.0)


def test_equal_stamps_do_no_harm():
    estimate = RateEstimate(20.0)
    for _ in range(30):
        estimate.note(5)
    assert estimate.hz == 20.0


@pytest.mark.parametrize(('camera', 'limit', 'expected'), [(30, 30, 30), (60, 30, 30), (90, 20, 20), (10, 30, 10)])
def test_no_more_than_the_limit_passes_and_an_uneven_camera_loses_nothing_below_it(camera, limit, expected):
    gate = RateLimit(limit)
    jitter_s = (0.0, 0.002, -0.001, 0.003, -0.002)
    passed = sum(gate.passes(10.0 + index / camera + jitter_s[index % 5]) for index in range(camera * 10))
    assert passed == pytest.approx(expected * 10, rel=0.03)
