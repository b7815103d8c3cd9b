import numpy as np
import pytest

from cobalt_teleop.core.pose import Pose, angle_between, multiply, quaternion
from cobalt_teleop.kinematics.arm_kinematics import ArmKinematics
from cobalt_teleop.kinematics.robot_description import load_robot

ROBOT = load_robot('franka_panda')


@pytest.fixture
def arm():
    return ArmKinematics(ROBOT)


def moved(pose, *, by=(0.0, 0.0, 0.0), turn=(0.0, 0.0, 0.0)):
    return Pose(pose.position + np.array(by), multiply(quaternion(turn), pose.quat_xyzw))


def test_at_home_the_tool_points_down_in_front_of_the_base(arm):
    tool = arm.forward(ROBOT.home)
    assert tool.position == pytest.approx([0.4806, 0.0, 0.2329], abs=1e-3)
    assert angle_between(tool.quat_xyzw, [1.0, 0.0, 0.0, 0.0]) < 1e-3


def test_a_seed_that_is_there_comes_back_bit_for_bit(arm):
    rng = np.random.default_rng(0)
    for _ in range(50):
        joints = ROBOT.home + rng.uniform(-0.3, 0.3, 7)
        solution = arm.solve(arm.forward(joints), joints)
        assert np.array_equal(solution.joints, joints)
        assert solution.position_error < 1e-9


@pytest.mark.parametrize('joint', range(7))
def test_a_seed_outside_its_range_is_never_projected(arm, joint):
    joints = ROBOT.home.copy()
    joints[joint] = ROBOT.limits.joint_upper[joint] + 0.02
    assert np.array_equal(arm.solve(arm.forward(joints), joints).joints, joints)


def test_a_joint_outside_its_range_goes_no_further_out(arm):
    joints = ROBOT.home.copy()
    joints[6] = ROBOT.limits.joint_upper[6] + 0.02
    tool = arm.forward(joints)
    for turn in (-0.3, 0.3):
        answer = arm.solve(moved(tool, turn=(0.0, 0.0, turn)), joints).joints
        assert answer[6] <= joints[6] + 1e-12


def test_the_joints_stay_within_their_ranges(arm):
    joints = ROBOT.home.copy()
    tool = arm.forward(joints)
    for index in range(100):
        joints = arm.solve(moved(tool, by=(0.02 * index, 0.0, 0.0), turn=(0.0, 0.0, 0.05 * index)), joints).joints
        assert (joints >= ROBOT.limits.joint_lower).all()
        assert (joints <= ROBOT.limits.joint_upper).all()


def test_it_follows_a_hand_within_a_tenth_of_a_millimetre(arm):
    joints = ROBOT.home.copy()
    start = arm.forward(joints)
    for tick in range(600):
        t = 0.05 * tick
        target = moved(
            start,
            by=(0.1 * np.sin(1.1 * t), 0.2 * np.sin(1.3 * t), 0.1 * np.sin(0.9 * t)),
            turn=(0.3 * np.sin(t), 0.3 * np.sin(1.3 * t), 0.8 * np.sin(0.7 * t)),
        )
        solution = arm.solve(target, joints)
        assert solution.position_error < 1e-4
        assert solution.rotation_error < 1e-3
        assert np.abs(solution.joints - joints).max() < 0.3
        joints = solution.joints


def test_the_errors_that_it_tells_are_true(arm):
    target = moved(arm.forward(ROBOT.home), by=(2.0, 0.0, 0.0))
    solution = arm.solve(target, ROBOT.home)
    reached = arm.forward(solution.joints)
    assert solution.position_error == pytest.approx(np.linalg.norm(target.position - reached.position))
    assert solution.rotation_error == pytest.approx(angle_between(reached.quat_xyzw, target.quat_xyzw), abs=1e-6)


def test_out_of_reach_it_settles_and_does_not_shake(arm):
    joints = ROBOT.home.copy()
    target = moved(arm.forward(joints), by=(1.5, 0.3, 0.0))
    for _ in range(60):
        previous, joints = joints, arm.solve(target, joints).joints
    assert np.abs(joints - previous).max() < 1e-3


def test_it_comes_back_from_out_of_reach(arm):
    joints = ROBOT.home.copy()
    start = arm.forward(joints)
    far = 60
    for step in [*range(far), *range(far, -1, -1)]:
        solution = arm.solve(moved(start, by=(0.01 * step, 0.0, 0.0)), joints)
        joints = solution.joints
    assert solution.position_error < 1e-4
    assert solution.rotation_error < 1e-3


def test_wandering_about_does_not_leave_the_elbow_astray(arm):
    joints = ROBOT.home.copy()
    start = arm.forward(joints)
    for tick in range(1500):
        t = 0.05 * tick
        joints = arm.solve(moved(start, by=(0.08 * np.sin(t), 0.2 * np.cos(t), 0.0)), joints).joints
    assert np.abs(joints - ROBOT.home).max() < 0.8


def test_two_arms_share_no_state(arm):
    other = ArmKinematics(ROBOT)
    pose = arm.forward(ROBOT.home)
    other.forward(ROBOT.home + 0.3)
    assert np.array_equal(arm.forward(ROBOT.home).position, pose.position)
    solution = arm.solve(pose, ROBOT.home)
    assert np.array_equal(solution.joints, ROBOT.home)


def test_the_seed_is_not_written_to(arm):
    seed = ROBOT.home.copy()
    seed.setflags(write=False)
    arm.solve(moved(arm.forward(seed), by=(0.05, 0.0, 0.0)), seed)
