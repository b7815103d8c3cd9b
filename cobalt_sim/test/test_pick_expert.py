import itertools

import numpy as np
import pytest

from cobalt_sim.experts.pick import PickExpert, grasp_yaw
from cobalt_sim.in_process import run_expert
from cobalt_teleop.core.pose import Pose, multiply, quaternion

_DOWN = np.array([1.0, 0.0, 0.0, 0.0])


def test_lifts_at_least_11_of_12_cubes_within_the_robots_limits(make_plants):
    (plant,) = make_plants([0])
    limits = plant.capabilities.parts[0].limits
    times = []
    for seed in range(12):

        def within(guarded):
            part = guarded.plant.observe().parts['arm']
            assert np.linalg.norm(part.twist[:3]) < 1.3 * limits.linear_speed
            assert (np.abs(part.joint_velocities) < 1.1 * limits.joint_speed).all()

        times.append(run_expert(plant, seed, after_tick=within))
    assert sum(time is not None for time in times) >= 11
    assert max(time for time in times if time is not None) < 20.0


@pytest.mark.parametrize('degrees', [-170, -91, -46, -10, 0, 30, 44, 90, 135])
def test_the_grasp_turns_by_45_degrees_at_most_and_meets_a_face(degrees):
    yaw = grasp_yaw(Pose(np.zeros(3), quaternion([0.0, 0.0, np.deg2rad(degrees)])))
    assert abs(yaw) <= np.pi / 4 + 1e-9
    assert (np.rad2deg(yaw) - degrees) % 90 == pytest.approx(0.0, abs=1e-6) or (
        np.rad2deg(yaw) - degrees
    ) % 90 == pytest.approx(90.0, abs=1e-6)


def test_a_cube_on_its_side_is_grasped_by_its_level_faces():
    on_side = multiply(quaternion([0.0, 0.0, 0.3]), quaternion([np.pi / 2, 0.0, 0.0]))
    assert grasp_yaw(Pose(np.zeros(3), on_side)) == pytest.approx(0.3)


def test_the_first_engaged_command_is_the_measured_pose_and_later_ones_never_jump():
    tool, cube = Pose(np.array([0.5, 0.0, 0.3]), _DOWN), Pose(np.array([0.55, 0.1, 0.02]))
    expert = PickExpert('cube')
    commands = [expert.step(tool=tool, objects={'cube': cube}, gripper=1.0) for _ in range(10)]
    engaged = [command for command in commands if command.engaged]
    assert not commands[0].engaged
    assert np.array_equal(engaged[0].pose.position, tool.position)
    steps = [np.linalg.norm(b.pose.position - a.pose.position) for a, b in itertools.pairwise(engaged)]
    assert max(steps) <= 0.22 * 0.05 + 1e-9


def test_an_arm_that_does_not_follow_makes_it_release_and_press_again():
    tool, cube = Pose(np.array([0.5, 0.0, 0.3]), _DOWN), Pose(np.array([0.55, 0.15, 0.02]))
    expert = PickExpert('cube')
    engaged = [expert.step(tool=tool, objects={'cube': cube}, gripper=1.0).engaged for _ in range(60)]
    presses = sum(now and not before for before, now in itertools.pairwise(engaged))
    assert presses >= 2


def test_an_arm_that_missed_the_first_command_and_stays_beside_is_pressed_again_and_gets_there():
    cube, tool = Pose(np.array([0.5, 0.05, 0.02])), Pose(np.array([0.5, 0.0, 0.25]), _DOWN)
    expert = PickExpert('cube')
    beside, presses, engaged = np.zeros(3), 0, False
    for _ in range(400):
        command = expert.step(tool=tool, objects={'cube': cube}, gripper=1.0)
        presses += command.engaged and not engaged
        if command.engaged and not engaged and presses == 1:
            beside = np.array([0.0, 0.012, 0.0])  # what the lost command would have told
        elif command.engaged and not engaged:
            beside = np.zeros(3)
        engaged = command.engaged
        if engaged:
            tool = Pose(command.pose.position - beside, command.pose.quat_xyzw)
        if command.gripper == 0.0:
            break
    assert command.gripper == 0.0, 'it grasps'
    assert presses == 2


def test_a_cube_that_slipped_away_is_fetched_again():
    expert = PickExpert('cube')
    cube = Pose(np.array([0.5, 0.0, 0.02]))
    tool, told = Pose(np.array([0.5, 0.0, 0.11]), _DOWN), []
    for _ in range(120):
        command = expert.step(tool=tool, objects={'cube': cube}, gripper=0.5 if told and told[-1] == 0.0 else 1.0)
        tool = command.pose
        told.append(command.gripper)
        if told[-2:] == [0.0, 1.0]:
            break
    assert told[-2:] == [0.0, 1.0], 'it opens the hand'
    for _ in range(40):
        tool = expert.step(tool=tool, objects={'cube': cube}, gripper=1.0).pose
    assert tool.position[2] < 0.03, 'and goes down again'
