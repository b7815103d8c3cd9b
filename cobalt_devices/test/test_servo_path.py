"""Set points between ticks: bounded whatever the targets do, and at rest when they fail to come."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cobalt_devices.arm_driver.servo_path import ServoPath
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.kinematics.robot_description import load_robot

PERIOD_S, TICK_S = 0.002, 0.05
STEPS = round(TICK_S / PERIOD_S)
ROBOT = load_robot('franka_panda')
LIMITS = ROBOT.limits
# Differences of the third order of what has 1e-12 of rounding.
JERK_SLACK = 1e-11 / PERIOD_S**3


def made(joints=ROBOT.home):
    path = ServoPath(LIMITS, period_s=PERIOD_S, tick_s=TICK_S)
    path.start_from(joints)
    return path


def run(path, steps):
    return np.array([path.next().joints for _ in range(steps)])


def derivatives(joints):
    speeds = np.diff(joints, axis=0) / PERIOD_S
    accelerations = np.diff(speeds, axis=0) / PERIOD_S
    return speeds, accelerations, np.diff(accelerations, axis=0) / PERIOD_S


def test_it_stands_until_there_is_a_target():
    assert np.all(run(made(), 100) == ROBOT.home)


def test_a_target_that_stands_is_reached_and_stays_reached():
    path = made()
    goal = ROBOT.home + 0.01
    for _ in range(20):
        path.aim(goal, np.zeros(7))
        run(path, STEPS)
    assert run(path, 1)[-1] == pytest.approx(goal, abs=1e-9)


def test_it_follows_a_steady_motion_without_a_stop_at_each_tick():
    path, speed = made(), np.full(7, 0.2)
    joints = []
    for tick in range(1, 31):
        path.aim(ROBOT.home + speed * TICK_S * tick, speed)
        joints.append(run(path, STEPS))
    speeds, _, _ = derivatives(np.concatenate(joints[15:]))
    assert np.abs(speeds - 0.2).max() < 0.01


def test_missing_targets_slow_it_down_and_a_late_one_is_taken():
    path, speed = made(), np.full(7, 0.3)
    for tick in range(1, 11):
        path.aim(ROBOT.home + speed * TICK_S * tick, speed)
        run(path, STEPS)
    silent = run(path, 8 * STEPS)
    speeds, _, _ = derivatives(silent)
    assert path.at_rest
    assert np.abs(speeds[-1]).max() == 0.0
    # Half a tick of patience, and the way to brake.
    assert np.all(silent[-1] - silent[0] < 0.3 * TICK_S + 0.3**2 / LIMITS.joint_acceleration + 0.3 * 0.0125)
    path.aim(ROBOT.home + speed * TICK_S * 12, speed)
    assert np.all(run(path, STEPS)[-1] > silent[-1])


TARGETS = st.lists(st.binary(min_size=8, max_size=8), min_size=1, max_size=12)


@settings(max_examples=60, deadline=None, database=None)
@given(TARGETS)
def test_whatever_the_targets_do_speed_acceleration_and_jerk_are_bounded(drawn):
    path, joints = made(), [ROBOT.home[None]]
    for data in drawn:
        shares = np.frombuffer(data, np.int8)[:7] / 128.0
        if data[7] % 4:
            away = 2.0 if data[7] % 3 == 0 else 0.05
            path.aim(ROBOT.home + away * shares, 3.0 * LIMITS.joint_speed * np.roll(shares, 1))
        joints.append(run(path, STEPS))
    joints.append(run(path, 40 * STEPS))
    speeds, accelerations, jerks = derivatives(np.concatenate(joints))
    assert np.all(np.abs(speeds) <= LIMITS.joint_speed * (1.0 + 1e-6))
    assert np.all(np.abs(accelerations) <= LIMITS.joint_acceleration * (1.0 + 1e-6) + 1e-5)
    assert np.all(np.abs(jerks) <= LIMITS.joint_acceleration / 0.0125 * (1.0 + 1e-6) + JERK_SLACK)
    assert path.at_rest


def test_servos_slower_than_the_ticks_are_refused():
    with pytest.raises(CobaltError, match='fewer than 20 ticks'):
        ServoPath(LIMITS, period_s=0.1, tick_s=0.05)
