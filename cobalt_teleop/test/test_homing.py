import itertools
from dataclasses import replace

import numpy as np
import pytest
from guard_sequences import arm

from cobalt_teleop.core.homing import HomingPath
from cobalt_teleop.core.part_controller import Measured, PartController
from cobalt_teleop.core.pose import inverse, multiply, rotation_vector

PERIOD_S = 0.05
STARTS = np.random.default_rng(3).uniform(-1.0, 1.0, (12, 7))


def way_home(made, start, scale=1.0):
    options = {'limits': made.limits, 'kinematics': made.make_kinematics(), 'scale': scale, 'period_s': PERIOD_S}
    return HomingPath(start, made.home, **options)


def walked(path, start, home):
    joints = [start, start]
    while not path.done:
        joints.append(path.advance())
        assert len(joints) < 2000
    return np.array([*joints, home, home])


def start_of(made, shares, reach):
    shares = np.resize(shares, made.home.size)
    room = np.where(shares > 0.0, made.limits.joint_upper - made.home, made.home - made.limits.joint_lower)
    return made.home + reach * shares * np.minimum(room, 1.0)


@pytest.mark.parametrize('name', ['gantry', 'slow joints', 'panda'])
@pytest.mark.parametrize('reach', [0.0, 0.03, 0.9])
def test_it_arrives_at_rest_and_keeps_every_speed_and_acceleration(name, reach):
    made = arm(name)
    limits, kinematics = made.limits, made.make_kinematics()
    for shares in STARTS:
        joints = walked(way_home(made, start_of(made, shares, reach)), start_of(made, shares, reach), made.home)
        assert np.array_equal(joints[-3], made.home)
        velocities = np.diff(joints, axis=0) / PERIOD_S
        assert np.all(np.abs(velocities) <= limits.joint_speed + 1e-9)
        assert np.all(np.abs(np.diff(velocities, axis=0)) / PERIOD_S <= limits.joint_acceleration + 1e-9)
        poses = [kinematics.forward(row) for row in joints]
        moves = np.diff([pose.position for pose in poses], axis=0) / PERIOD_S
        turns = np.array(
            [
                rotation_vector(multiply(after.quat_xyzw, inverse(before.quat_xyzw))) / PERIOD_S
                for before, after in itertools.pairwise(poses)
            ]
        )
        assert np.linalg.norm(moves, axis=1).max() <= limits.linear_speed + 1e-6
        assert np.linalg.norm(turns, axis=1).max() <= limits.angular_speed + 1e-6
        assert np.linalg.norm(np.diff(moves, axis=0), axis=1).max() / PERIOD_S <= limits.linear_acceleration + 1e-4
        assert np.linalg.norm(np.diff(turns, axis=0), axis=1).max() / PERIOD_S <= limits.angular_acceleration + 1e-4


def test_a_share_of_the_speed_makes_it_longer():
    made = arm('slow joints')
    start = start_of(made, STARTS[0], 0.9)
    fast, slow = (len(walked(way_home(made, start, scale), start, made.home)) for scale in (1.0, 0.25))
    assert slow > 3 * fast


def test_a_way_that_would_leave_the_box_is_refused():
    made = arm('panda')
    kinematics = made.make_kinematics()
    for shares in np.random.default_rng(4).uniform(-1.0, 1.0, (200, 7)):
        start = start_of(made, shares, 0.5)
        places = np.array([kinematics.forward(row).position for row in walked(way_home(made, start), start, made.home)])
        lower, upper = places.min(axis=0), places.max(axis=0)
        bulge_m = upper[2] - max(places[0][2], places[-1][2])
        if bulge_m > 0.01:
            break
    around = replace(made.limits, workspace_min=lower - 0.01, workspace_max=upper + 0.01)
    flat = replace(around, workspace_max=upper - np.array([0.0, 0.0, 0.008]))
    assert way_home(replace(made, limits=around), start).leaves_box_by_m == 0.0
    assert way_home(replace(made, limits=flat), start).leaves_box_by_m == pytest.approx(0.008, abs=1e-4)
    measured = Measured(pose=kinematics.forward(start), joints=start, gripper=1.0)
    controller = PartController(limits=flat, kinematics=kinematics, home=made.home, period_s=PERIOD_S)
    controller.start_from(measured)
    assert controller.homing_objection(measured, 1.0) == 'the way home would lead 8 mm out of the workspace'
    controller.start_homing(measured, 1.0)
    assert not controller.homing


def test_from_outside_it_may_come_in():
    made = arm('gantry')
    home = made.make_kinematics().forward(made.home).position
    outside = replace(made, limits=replace(made.limits, workspace_min=home - 0.01, workspace_max=home + 0.01))
    assert way_home(outside, start_of(made, STARTS[1], 0.9)).leaves_box_by_m == 0.0
