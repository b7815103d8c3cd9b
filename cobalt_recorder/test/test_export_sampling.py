"""Which rows an export takes, and what it makes of their poses."""

import numpy as np
import pytest
from transforms3d.axangles import axangle2mat
from transforms3d.quaternions import mat2quat

from cobalt_recorder.export.episode_rows import continuous
from cobalt_recorder.export.sampling import driven_stretches, every_row, on_grid
from cobalt_recorder.export.splits import valid_groups
from cobalt_recorder.export.vectors import rotation_between

MS = 1_000_000
RNG = np.random.default_rng(6)


def test_regular_rows_at_their_own_rate_are_taken_once_each():
    jitter_ns = RNG.uniform(-20 * MS, 20 * MS, 100).astype(np.int64)
    stamps = np.arange(100) * 50 * MS + jitter_ns
    stamps[0] = 0
    sampling = on_grid(stamps, 20.0)
    assert sampling.observed.tolist() == list(range(100))
    assert sampling.acted.tolist() == list(range(100))


def test_half_the_rate_takes_every_other_state_and_the_last_action_before_the_next():
    sampling = on_grid(np.arange(9) * 50 * MS, 10.0)
    assert sampling.observed.tolist() == [0, 2, 4, 6, 8]
    assert sampling.acted.tolist() == [1, 3, 5, 7, 8]


def test_a_slow_recording_keeps_its_true_duration():
    stamps = np.arange(40) * 100 * MS
    sampling = on_grid(stamps, 20.0)
    assert len(sampling.observed) == 39 * 2 + 1
    offsets_ms = (stamps[sampling.observed] - np.arange(len(sampling.observed)) * 50 * MS) / MS
    assert np.abs(offsets_ms).max() <= 50.0
    assert set(sampling.observed) == set(range(40))


def test_a_gap_is_filled_with_its_neighbours():
    sampling = on_grid(np.array([0, 50, 350, 400]) * MS, 20.0)
    assert sampling.observed.tolist() == [0, 1, 1, 1, 1, 2, 2, 2, 3]
    assert (sampling.acted >= sampling.observed).all()


def test_one_row_and_every_row():
    assert on_grid(np.array([7]), 20.0).observed.tolist() == [0]
    assert every_row(3).acted.tolist() == [0, 1, 2]


def test_stretches_are_the_long_runs():
    driven = np.array([0, 1, 1, 0, 1, 1, 1, 0, 1], dtype=bool)
    assert driven_stretches(driven, 2) == [(1, 3), (4, 7)]


def test_rotation_between_agrees_with_an_independent_library():
    for _ in range(50):
        axis, angle = RNG.normal(size=3), RNG.uniform(-3.1, 3.1)
        axis /= np.linalg.norm(axis)
        start = axangle2mat(RNG.normal(size=3), RNG.uniform(-3, 3))
        end = axangle2mat(axis, angle) @ start
        start_xyzw, end_xyzw = (np.roll(mat2quat(one), -1)[None] for one in (start, end))
        assert rotation_between(start_xyzw, -end_xyzw)[0] == pytest.approx(axis * angle, abs=1e-6)
    same = np.array([[0.0, 0.0, 0.0, 1.0]])
    assert rotation_between(same, same).tolist() == [[0.0, 0.0, 0.0]]


def test_quaternions_keep_their_hemisphere_over_rows_without_one():
    poses = np.array([[0, 0, 0, 0, 0, 0, 1.0], [np.nan] * 7, [1, 2, 3, 0, 0, -0.1, -0.995], [0, 0, 0, 0, 0, 0.2, 0.98]])
    assert continuous(poses)[2, 3:].tolist() == [0, 0, 0.1, 0.995]
    assert continuous(poses)[3, 3:].tolist() == [0, 0, 0.2, 0.98]


def test_a_split_keeps_groups_whole_and_stays_when_others_join():
    groups = [f'seed {index % 20}' for index in range(200)]
    valid = valid_groups(groups, 0.2)
    assert 0.1 <= sum(group in valid for group in groups) / 200 <= 0.3
    assert valid == valid_groups(list(reversed(groups)), 0.2)
    assert valid_groups(['one'] * 5, 0.5) == set() == valid_groups(groups, 0.0)
    assert len(valid_groups(['a', 'b'], 0.9)) == 1
