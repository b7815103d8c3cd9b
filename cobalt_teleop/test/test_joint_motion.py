"""Each rule of the joints, by itself, on a gantry whose joints are the tool's pose."""

from dataclasses import replace

import numpy as np
import pytest

from cobalt_teleop.core.command import Limit
from cobalt_teleop.core.joint_motion import JointMotion, stoppable_share
from cobalt_teleop.core.kinematics import JointSolution
from cobalt_teleop.core.pose import Pose
from cobalt_teleop.core.tool_motion import ToolMotion
from cobalt_teleop.workcell_host.ideal_plant import GantryKinematics, gantry_limits

PERIOD_S = 0.05
START = np.array([0.0, 0.0, 0.2, 0.0, 0.0, 0.0])
FREE = replace(
    gantry_limits(),
    linear_speed=100.0,
    angular_speed=100.0,
    linear_acceleration=1e4,
    angular_acceleration=1e4,
    workspace_min=np.full(3, -10.0),
    workspace_max=np.full(3, 10.0),
)
"""The gantry with joints alone to limit it."""


class Follower:
    """Moves the joints towards poses of the tool, and remembers where they were."""

    def __init__(self, limits=FREE, start=START, kinematics=None):
        self.limits = limits
        self.kinematics = kinematics or GantryKinematics()
        self.motion = JointMotion(limits, self.kinematics, start, PERIOD_S)
        self.tool = ToolMotion(self.kinematics.forward(start))
        self.joints = [start, start]
        self.limited = Limit.NONE

    def follow(self, x, ticks=1, y=0.0):
        for _ in range(ticks):
            wanted = self.tool.to(Pose(np.array([x, y, START[2]]), self.tool.pose.quat_xyzw), PERIOD_S)
            self.tool, self.limited = self.motion.follow(self.tool, wanted)
            self.joints.append(self.motion.joints)
        return self.limited

    def brake(self, ticks=1):
        for _ in range(ticks):
            self.tool = self.motion.brake(self.tool)
            self.joints.append(self.motion.joints)

    @property
    def velocities(self):
        return np.diff(self.joints, axis=0) / PERIOD_S

    @property
    def accelerations(self):
        return np.diff(self.velocities, axis=0) / PERIOD_S


def test_it_goes_where_the_tool_is_wanted():
    follower = Follower()
    assert follower.follow(0.005) is Limit.NONE
    assert follower.tool.pose.position[0] == pytest.approx(0.005)
    assert follower.motion.joints[0] == pytest.approx(0.005)


def test_joints_speed_up_and_brake_within_their_acceleration_and_say_so():
    follower = Follower()
    assert Limit.JOINT_ACCELERATION in follower.follow(0.5)
    follower.follow(0.5, 5)
    follower.brake(12)
    assert np.abs(follower.accelerations).max() <= FREE.joint_acceleration[0] + 1e-6
    assert np.abs(follower.accelerations).max() == pytest.approx(FREE.joint_acceleration[0])
    assert not follower.velocities[-1].any() and follower.motion.at_rest


def test_joints_keep_their_speed_and_say_so():
    follower = Follower()
    follower.follow(0.6, 7)
    assert Limit.JOINT_SPEED in follower.limited
    assert follower.velocities.max() == pytest.approx(FREE.joint_speed[0])


def test_the_tool_gets_no_further_than_the_joints():
    follower = Follower()
    for _ in range(8):
        follower.follow(0.5)
        assert follower.tool.pose.position == pytest.approx(follower.motion.joints[:3])
        moved = (follower.joints[-1] - follower.joints[-2])[:3] / PERIOD_S
        assert follower.tool.velocity == pytest.approx(moved)


@pytest.mark.parametrize('end', [-3.0, 3.0])
def test_a_joint_arrives_at_its_margin_at_rest(end):
    follower = Follower()
    for _ in range(60):
        follower.follow(end)
        assert np.abs(follower.motion.joints[0]) <= FREE.joint_upper[0] - FREE.joint_margin + 1e-9
    assert Limit.JOINT_POSITION in follower.limited
    assert abs(follower.motion.joints[0]) == pytest.approx(FREE.joint_upper[0] - FREE.joint_margin)
    assert follower.tool.pose.position == pytest.approx(follower.motion.joints[:3])
    assert np.abs(follower.accelerations).max() <= FREE.joint_acceleration[0] + 1e-6
    assert follower.motion.at_rest


def test_on_its_way_to_the_margin_a_joint_brakes_evenly():
    follower = Follower()
    for _ in range(20):
        follower.follow(follower.motion.joints[0] + 0.03)
    follower.follow(3.0, 20)
    speeds = follower.velocities[:, 0]
    falls = -np.diff(speeds[int(np.flatnonzero(speeds == speeds.max())[-1]) :])
    falls = falls[falls > 0.0]
    assert len(falls) > 4
    assert falls[1:-1] == pytest.approx(FREE.joint_acceleration[0] * PERIOD_S)


def test_it_says_that_a_joint_comes_to_its_end_before_it_is_there():
    follower = Follower()
    limited = Limit.NONE
    while Limit.JOINT_POSITION not in limited:
        limited = follower.follow(follower.motion.joints[0] + 0.05)
    assert follower.motion.joints[0] < FREE.joint_upper[0] - FREE.joint_margin - 0.02


@pytest.mark.parametrize('outside', [0.97, 1.04])
def test_a_joint_outside_is_not_thrown_back_and_may_come_in(outside):
    start = START.copy()
    start[0] = outside
    follower = Follower(start=start)
    follower.follow(1.5, 3)
    assert follower.motion.joints[0] == pytest.approx(outside)
    follower.follow(0.5, 40)
    assert follower.motion.joints[0] == pytest.approx(0.5)


def test_a_motion_that_turns_back_keeps_the_acceleration():
    follower = Follower()
    for x in (0.4, -0.4, 0.3, -0.1):
        follower.follow(x, 6)
    assert np.abs(follower.accelerations).max() <= FREE.joint_acceleration[0] + 1e-6


def test_where_the_tool_may_not_brake_so_hard_the_way_to_stop_takes_longer():
    gentle = replace(FREE, linear_acceleration=1.0)
    follower = Follower(gentle)
    for tick in range(30):
        follower.follow(0.0004 * tick**2 if tick < 20 else 0.16 + 0.02 * (tick - 20))
    assert follower.motion.must_brake
    before = follower.tool
    ticks = 0
    while follower.motion.must_brake:
        follower.brake()
        ticks += 1
        change = np.linalg.norm(follower.tool.velocity - before.velocity)
        assert change <= gentle.linear_acceleration * PERIOD_S + 1e-6
        before = follower.tool
    assert ticks > 3


def test_the_way_to_stop_ends_within_the_box():
    boxed = replace(FREE, workspace_max=np.array([0.3, 10.0, 10.0]))
    follower = Follower(boxed)
    limited = Limit.NONE
    for _ in range(20):
        limited |= follower.follow(follower.motion.joints[0] + 0.1)
    follower.brake(10)
    assert max(joints[0] for joints in follower.joints) <= 0.3 + 1e-9
    assert max(joints[0] for joints in follower.joints) > 0.25
    assert Limit.WORKSPACE_BOX in limited


def test_it_tells_how_fast_the_targets_are_expected_to_go_on_but_never_out_of_the_range():
    follower = Follower()
    for tick in range(10):
        follower.follow(0.01 * tick)
    assert follower.motion.expected_velocities(0.5)[0] == pytest.approx(0.1)
    assert follower.motion.braking_velocities()[0] == pytest.approx(0.0)
    while follower.follow(3.0) and follower.motion.joints[0] < 0.93:
        pass
    for _ in range(5):
        follower.follow(3.0)
        expected = follower.motion.joints + follower.motion.expected_velocities(1.0) * PERIOD_S
        assert expected[0] <= FREE.joint_upper[0] - FREE.joint_margin + 1e-9


class NearSingular(GantryKinematics):
    """The nearer the tool is to x = 0.5, the less dexterous it is."""

    def solve(self, target, seed):
        solution = super().solve(target, seed)
        return replace(
            solution, seed_dexterity=abs(0.5 - seed[0]), dexterity=abs(0.5 - solution.joints[0]), at_end=False
        )


def test_it_slows_down_smoothly_towards_a_singular_posture_and_says_so():
    follower = Follower(kinematics=NearSingular())
    limited = []
    for _ in range(200):
        limited.append(follower.follow(follower.motion.joints[0] + 0.03))
        if follower.motion.joints[0] > 0.46:
            break
    assert follower.motion.joints[0] > 0.46
    speeds = follower.velocities[:, 0]
    fastest = int(np.argmax(speeds))
    assert speeds[fastest] > 0.5
    assert np.all(np.diff(speeds[fastest:]) <= 1e-9)
    assert Limit.SINGULARITY in limited[-1] and Limit.SINGULARITY not in limited[0]
    assert speeds[-1] < 0.1
    assert np.abs(follower.accelerations).max() <= FREE.joint_acceleration[0] + 1e-6


def test_out_of_a_singular_posture_and_past_it_the_way_is_free():
    start = START.copy()
    start[0] = 0.46
    follower = Follower(start=start, kinematics=NearSingular())
    assert Limit.SINGULARITY not in follower.follow(0.46, 5, y=0.02)
    limited = Limit.NONE
    for tick in range(1, 20):
        limited |= follower.follow(0.46 - 0.0004 * tick**2, y=0.02)
    assert Limit.SINGULARITY not in limited
    assert follower.motion.joints[0] == pytest.approx(0.46 - 0.0004 * 19**2)


def test_even_in_a_singular_posture_it_is_never_stuck():
    start = START.copy()
    start[0] = 0.499
    follower = Follower(start=start, kinematics=NearSingular())
    for _ in range(60):
        follower.follow(follower.motion.joints[0] + 0.03)
    assert follower.motion.joints[0] > 0.6


class Told(GantryKinematics):
    """Says what a test tells it to say."""

    def __init__(self, **said):
        self.said = said

    def solve(self, target, seed):
        return replace(super().solve(target, seed), **self.said)


@pytest.mark.parametrize(
    ('said', 'limit'),
    [
        ({'position_error': 2e-3}, Limit.IK_RESIDUAL),
        ({'rotation_error': 6e-3}, Limit.IK_RESIDUAL),
        ({'at_end': True}, Limit.JOINT_POSITION),
        ({'near_singular': True}, Limit.SINGULARITY),
    ],
)
def test_what_the_solver_says_of_its_limits_is_told(said, limit):
    assert Follower(kinematics=Told(**said)).follow(0.005) is limit


class Short(GantryKinematics):
    """Reaches half of the way."""

    def solve(self, target, seed):
        half = seed + 0.5 * (super().solve(target, seed).joints - seed)
        return JointSolution(half, float(np.linalg.norm(half[:3] - target.position)), 0.0)


def test_the_tool_s_target_is_where_the_solver_got_to():
    follower = Follower(kinematics=Short())
    follower.follow(0.004)
    assert follower.tool.pose.position[0] == pytest.approx(0.002)


def test_a_path_that_is_broken_off_ends_in_a_way_to_stop():
    follower = Follower()
    way = [0.0, 0.01, 0.03, 0.06, 0.1]
    for x in way:
        joints = START.copy()
        joints[0] = x
        follower.tool = follower.motion.go_to(joints, follower.tool)
        follower.joints.append(joints)
    follower.brake(10)
    assert np.abs(follower.accelerations).max() <= FREE.joint_acceleration[0] + 1e-6
    assert follower.motion.at_rest


@pytest.mark.parametrize('slower_by', [0.15, 0.5, 1.0, 3.0])
@pytest.mark.parametrize('room', [0.0, 0.3, 1.0, 2.7, 9.0])
def test_the_largest_speed_that_can_be_stopped_uses_all_the_room(room, slower_by):
    speed = stoppable_share(room, slower_by)
    way, left = 0.0, speed
    while left > 0.0:
        way, left = way + left, left - slower_by
    assert way == pytest.approx(room)
