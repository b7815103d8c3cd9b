"""Paths, speeds, jitter and the cutting into runs, against what a hand computes."""

import math

import numpy as np
import pytest
from step_rows import HOLD, PERIOD_NS, START_NS, command, part, part_record, reach

from cobalt_recorder.metrics.jitter import jitter, largest_accelerations
from cobalt_recorder.metrics.motion import Motion, angles_between, cut
from cobalt_recorder.metrics.path import path_efficiency, path_length, rotation_length
from cobalt_recorder.metrics.speed import idle_share, mean_speed, peak_speed, time_to_first_motion

SQUARE = Motion(
    np.array([0.0, 1.0, 2.0, 4.0]),
    np.array([[0.0, 0.0, 0.0], [0.3, 0.0, 0.0], [0.3, 0.4, 0.0], [0.3, 0.4, 0.0]]),
    np.array([0.0, 0.1, 0.1, 0.5]),
)
STILL = Motion(np.arange(5.0), np.zeros((5, 3)), np.zeros(5))
ALL = [path_length, rotation_length, path_efficiency, mean_speed, peak_speed, idle_share, time_to_first_motion]


def test_a_path_by_hand():
    assert path_length([SQUARE]).value == pytest.approx(0.7)
    assert rotation_length([SQUARE]).value == pytest.approx(0.5)
    assert path_efficiency([SQUARE]).value == pytest.approx(0.5 / 0.7)
    assert mean_speed([SQUARE]).value == pytest.approx(0.7 / 4)
    assert peak_speed([SQUARE]).value == pytest.approx(0.4)


def test_runs_add_up():
    assert path_length([SQUARE, SQUARE, STILL]).value == pytest.approx(1.4)
    assert path_efficiency([SQUARE, SQUARE]).value == pytest.approx(0.5 / 0.7)
    assert mean_speed([SQUARE, STILL]).value == pytest.approx(0.7 / 8)


def test_turning_alone_is_no_idleness():
    assert idle_share([SQUARE]).value == 0.0
    assert idle_share([STILL]).value == 1.0
    assert idle_share([SQUARE, STILL]).value == pytest.approx(0.5)
    assert time_to_first_motion([STILL, Motion(SQUARE.times_s + 7, SQUARE.positions, SQUARE.turned_rad)]).value == 7.0


def test_unit_and_place_and_time():
    moved = Motion(SQUARE.times_s + 1e4, 1000 * SQUARE.positions + 5, SQUARE.turned_rad)
    assert path_length([moved]).value == pytest.approx(1000 * path_length([SQUARE]).value)
    assert path_efficiency([moved]).value == pytest.approx(path_efficiency([SQUARE]).value)
    assert mean_speed([moved]).value == pytest.approx(1000 * mean_speed([SQUARE]).value)


def test_sampling_changes_a_smooth_path_hardly():
    coarse = Motion(np.linspace(0, 3, 61), reach(61), np.zeros(61))
    fine = Motion(np.linspace(0, 3, 301), reach(301), np.zeros(301))
    for metric in (path_length, path_efficiency, mean_speed, peak_speed):
        assert metric([coarse]).value == pytest.approx(metric([fine]).value, rel=0.01)
    assert path_length([coarse.at_rate(33.0)]).value == pytest.approx(0.3, rel=0.01)


def test_even_times_from_uneven_ones():
    uneven = Motion(
        np.array([0.0, 0.03, 0.11, 0.2]), np.array([[t, 0, 0] for t in (0.0, 0.03, 0.11, 0.2)]), np.zeros(4)
    )
    even = uneven.at_rate(20.0)
    assert even.times_s == pytest.approx([0, 0.05, 0.1, 0.15, 0.2])
    assert even.speeds == pytest.approx([1.0] * 4)


def test_angles_whatever_the_sign_and_however_small():
    def about_z(angle, sign=1.0):
        return [0.0, 0.0, sign * math.sin(angle / 2), sign * math.cos(angle / 2)]

    quats = np.array([about_z(0.0), about_z(0.3, -1.0), about_z(0.3 + 1e-7), about_z(0.3 + 1e-7 + math.pi)])
    assert angles_between(quats) == pytest.approx([0.3, 1e-7, math.pi], rel=1e-6)


def test_jitter_by_hand():
    # Accelerations at 10 Hz are 1, 3, 2, 1, 5; the windows of four hold at most 3 and 5.
    speeds = np.array([0.0, 0.1, 0.4, 0.2, 0.3, 0.8])
    assert largest_accelerations(speeds, 10.0) == pytest.approx([3.0, 5.0])
    x = np.concatenate([[0.0], np.cumsum(speeds) / 10.0])
    run = Motion(np.arange(7) / 10.0, np.stack([x, 0 * x, 0 * x], axis=1), np.zeros(7))
    assert jitter([run], 10.0).value == pytest.approx(4.0)
    in_mm = Motion(run.times_s + 50, 1000 * run.positions, run.turned_rad)
    assert jitter([in_mm, run], 10.0).value == pytest.approx((4000 + 4) / 2)


@pytest.mark.parametrize('metric', [*ALL, lambda runs: jitter(runs, 20.0)])
@pytest.mark.parametrize(
    'runs',
    [
        [],
        [Motion(np.zeros(0), np.zeros((0, 3)), np.zeros(0))],
        [Motion(np.zeros(1), np.zeros((1, 3)), np.zeros(1))],
        [Motion(np.arange(9.0), np.full((9, 3), np.nan), np.full(9, np.nan))],
        [STILL],
    ],
)
def test_what_cannot_be_computed_has_a_reason(metric, runs):
    found = metric(runs)
    assert math.isnan(found.value) == bool(found.reason)


def test_runs_end_at_gaps_at_new_epochs_and_where_time_does_not_rise():
    times_s = np.array([0.0, 0.05, 0.10, 0.60, 0.65, 0.70, 0.75, 0.75, 0.80])
    usable = np.ones(9, bool)
    epochs = np.array([1, 1, 1, 1, 1, 2, 2, 2, 2])
    assert cut(times_s, usable, epochs) == [slice(0, 3), slice(3, 5), slice(5, 7), slice(7, 9)]
    usable[1] = False
    assert cut(times_s, usable, epochs)[0] == slice(3, 5)


def test_the_hand_that_goes_back_with_the_clutch_released_is_no_part_of_the_path():
    there = [part(i, (0.02 * i, 0, 0)) for i in range(11)]
    back = [
        part(11 + i, (0.2, 0, 0), authority=HOLD, human=command(11 + i, (0.2 - 0.04 * i, 0, 0), engaged=False))
        for i in range(6)
    ]
    again = [
        part(17 + i, (0.2 + 0.01 * i, 0, 0), human=command(17 + i, (0.01 * i, 0, 0), clutch_epoch=2)) for i in range(11)
    ]
    record = part_record([*there, *back, *again])
    assert len(record.command_runs) == len(record.robot_runs) == 2
    assert path_length(record.command_runs).value == pytest.approx(0.3)
    assert path_length(record.robot_runs).value == pytest.approx(0.3)


def test_the_state_after_the_last_action_belongs_to_the_run():
    driven = [part(i, (0.01 * i, 0, 0)) for i in range(5)]
    after = part(5, (0.05, 0, 0), authority=HOLD)
    (run,) = part_record([*driven, after]).robot_runs
    assert run.positions[-1, 0] == pytest.approx(0.05)


def test_commands_that_are_seen_twice_count_once_and_by_their_own_stamps():
    commands = [command(i, (0.01 * i, 0, 0), stamp_ns=START_NS + i * 40_000_000) for i in range(6)]
    record = part_record([part(i, human=commands[i // 2]) for i in range(12)])
    assert record.fresh.tolist() == [0, 2, 4, 6, 8, 10]
    (run,) = record.command_runs
    assert run.speeds == pytest.approx([0.25] * 5)


def test_speeds_that_are_asked_for_are_integrated():
    commands = [command(i, mode=1) for i in range(11)]
    for one in commands:
        one.twist.linear.x, one.twist.angular.z = 0.2, 0.5
    (run,) = part_record([part(i, human=commands[i]) for i in range(11)]).command_runs
    assert path_length([run]).value == pytest.approx(0.2 * 0.5)
    assert rotation_length([run]).value == pytest.approx(0.5 * 0.5)


def test_commands_in_joints_have_no_path():
    record = part_record([part(i, human=command(i, mode=2)) for i in range(11)])
    assert record.command_runs == []


def test_a_part_that_lacks_numbers_has_no_motion():
    record = part_record([part(i, (math.nan, 0, 0)) for i in range(11)])
    assert record.robot_runs == []
    assert idle_share([record.whole_motion]).reason


def test_stamps_that_go_back_do_not_count_in_the_whole_motion():
    stamps = [START_NS + i * PERIOD_NS for i in range(6)]
    stamps[3] = stamps[1]
    motion = part_record([part(i, (0.1 * i, 0, 0)) for i in range(6)], stamps).whole_motion
    assert (np.diff(motion.times_s) > 0).all()
