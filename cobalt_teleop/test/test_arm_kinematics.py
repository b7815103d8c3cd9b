import numpy as np
import pytest

from cobalt_teleop.core.pose import Pose, angle_between, inverse, multiply, quaternion, rotation_vector
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
        assert (joints >= ROBOT.limits.joint_lower + ROBOT.limits.joint_margin - 1e-12).all()
        assert (joints <= ROBOT.limits.joint_upper - ROBOT.limits.joint_margin + 1e-12).all()


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


def stretched(arm, *, until):
    """Reaches out with the hand level until the dexterity has fallen to a figure."""
    joints = ROBOT.home.copy()
    while True:
        tool = arm.forward(joints)
        solution = arm.solve(moved(tool, by=(0.005, 0.0, 0.0)), joints)
        if solution.dexterity <= until:
            return joints, solution
        joints = solution.joints


def test_dexterity_is_the_share_of_the_tool_s_speed_that_the_joints_suffice_for_in_the_worst_direction(arm):
    joints, solution = stretched(arm, until=0.35)
    tool, size = arm.forward(joints), 1e-5
    jacobian = []
    for joint in np.eye(7):
        there = arm.forward(joints + size * joint)
        turn = rotation_vector(multiply(there.quat_xyzw, inverse(tool.quat_xyzw)))
        jacobian.append([*(there.position - tool.position), *turn])
    tool_speed = np.repeat([ROBOT.limits.linear_speed, ROBOT.limits.angular_speed], 3)
    scaled = np.transpose(jacobian) / size * ROBOT.limits.joint_speed / tool_speed[:, None]
    assert solution.seed_dexterity == pytest.approx(np.linalg.svd(scaled)[1][-1], rel=1e-3)
    assert solution.dexterity < solution.seed_dexterity


def test_out_of_reach_it_says_that_it_is_near_singular_and_in_the_middle_it_does_not(arm):
    tool = arm.forward(ROBOT.home)
    assert not arm.solve(moved(tool, by=(0.01, 0.0, 0.0)), ROBOT.home).near_singular
    joints, _ = stretched(arm, until=0.1)
    assert arm.solve(moved(arm.forward(joints), by=(0.05, 0.0, 0.0)), joints).near_singular


def test_a_joint_at_its_end_is_told(arm):
    joints = ROBOT.home.copy()
    joints[6] = ROBOT.limits.joint_upper[6] - ROBOT.limits.joint_margin
    tool = arm.forward(joints)
    answers = [arm.solve(moved(tool, turn=(0.0, 0.0, turn)), joints) for turn in (-0.05, 0.05)]
    assert sorted(answer.at_end for answer in answers) == [False, True]


def test_no_solution_is_further_away_than_joints_get_in_a_tenth_of_a_second(arm):
    far = moved(arm.forward(ROBOT.home), by=(-0.1, 0.4, 0.1), turn=(0.5, 0.5, 1.0))
    way = np.abs(arm.solve(far, ROBOT.home).joints - ROBOT.home)
    assert np.all(way <= 0.1 * ROBOT.limits.joint_speed + 1e-9)


def test_it_never_brings_the_tool_further_away_from_where_it_is_wanted(arm):
    rng = np.random.default_rng(4)
    speeds = np.repeat([ROBOT.limits.linear_speed, ROBOT.limits.angular_speed], 3)
    for _ in range(100):
        joints = rng.uniform(*ROBOT.limits.joint_bounds(ROBOT.home))
        tool = arm.forward(joints)
        way, turn = rng.uniform(-0.0125, 0.0125, 3), rng.uniform(-0.06, 0.06, 3)
        solution = arm.solve(moved(tool, by=way, turn=turn), joints)
        missing = np.hypot(solution.position_error / speeds[0], solution.rotation_error / speeds[5])
        assert missing <= np.linalg.norm(np.concatenate([way, turn]) / speeds) + 1e-9
