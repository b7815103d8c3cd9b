"""What is usual among accepted episodes, by hand."""

import math

import pytest

from cobalt_recorder.accepted_episodes import AcceptedEpisodes


def episodes(*values, name='duration', part=''):
    return AcceptedEpisodes({(name, part): value} for value in values)


def test_median_and_robust_scale():
    spread = episodes(10.0, 12.0, 11.0, 14.0, 100.0).spread('duration', '')
    assert (spread.median, spread.episodes) == (12.0, 5)
    assert spread.scale == pytest.approx(1.4826 * 2.0)


def test_episodes_that_are_all_alike_still_leave_room():
    assert episodes(*[10.0] * 9).spread('duration', '').scale == pytest.approx(1.0)
    assert episodes(0.0, 0.0, 0.0).spread('duration', '') is None


def test_what_could_not_be_computed_does_not_count():
    assert episodes(10.0, math.nan, 12.0).spread('duration', '').episodes == 2
    assert episodes(math.nan).spread('duration', '') is None
    assert episodes().spread('duration', '') is None


def test_parts_are_told_apart():
    accepted = episodes(1.0, 2.0, part='left')
    assert accepted.spread('duration', 'left').median == 1.5
    assert accepted.spread('duration', 'right') is None
