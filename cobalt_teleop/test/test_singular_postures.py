"""The Panda, led into singular postures and out of its reach, and back again."""

import itertools

import numpy as np
import pytest
from motion_commands import command

from cobalt_teleop.core.command import Authority, Limit
from cobalt_teleop.core.part_controller import Measured, PartController
from cobalt_teleop.core.pose import Pose, angle_between, multiply, quaternion
from cobalt_teleop.kinematics.arm_kinematics import ArmKinematics
from cobalt_teleop.kinematics.robot_description import load_robot

PERIOD_S = 0.05
ROBOT = load_robot('franka_panda')


class Hand:
    """Leads an arm that follows its targets at once."""

    def __init__(self):
        self.kinematics = ArmKinematics(ROBOT)
        self.controller = PartController(
            limits=ROBOT.limits, kinematics=self.kinematics, home=ROBOT.home, period_s=PERIOD_S
        )
        self.joints = ROBOT.home.copy()
        self.controller.start_from(self.measured())
        self.start = self.measured().pose
        self.decisions = []
        self.lead()

    def measured(self):
        return Measured(pose=self.kinematics.forward(self.joints), joints=self.joints, gripper=1.0)

    def lead(self, way=(0.0, 0.0, 0.0), turn=(0.0, 0.0, 0.0)):
        wanted = Pose(self.start.position + np.array(way), multiply(quaternion(turn), self.start.quat_xyzw))
        decision = self.controller.step(
            measured=self.measured(), authority=Authority.HUMAN, human=command(pose=wanted), policy=None
        )
        self.joints = decision.joint_targets.copy()
        self.decisions.append(decision)
        return decision

    def there_and_back(self, way, turn, ticks):
        """Leads the tool somewhere, stays for a second, and leads it back."""
        way, turn = np.array(way), np.array(turn)
        shares = [*np.linspace(0.0, 1.0, ticks), *np.ones(20), *np.linspace(1.0, 0.0, ticks)]
        for share in shares:
            self.lead(share * way, share * turn)

    @property
    def turning_speeds(self):
        quats = [decision.target.quat_xyzw for decision in self.decisions]
        return [angle_between(a, b) / PERIOD_S for a, b in itertools.pairwise(quats)]


def test_the_tool_turns_ever_slower_towards_a_stretched_posture_and_stays_in_its_place():
    hand = Hand()
    named = Limit.NONE
    for tick in range(50):
        named |= hand.lead(turn=(0.0, 0.04 * tick, 0.0)).limits
        if Limit.IK_RESIDUAL in named:
            break
    slowing = hand.turning_speeds[25:]
    assert Limit.SINGULARITY in named
    assert max(slowing[:4]) == pytest.approx(0.8, abs=0.05)
    assert slowing[-1] < 0.6
    assert np.all(np.diff(slowing) < 0.1)
    assert np.linalg.norm(hand.decisions[-1].target.position - hand.start.position) < 2e-3


@pytest.mark.parametrize(
    ('way', 'turn', 'ticks'),
    [
        ([0.0, 0.0, 0.0], [0.0, 2.0, 0.0], 50),
        ([0.15, 0.25, -0.1], [0.0, 1.3, 0.5], 50),
        ([-0.1, 0.0, 0.1], [0.0, -1.6, 0.0], 40),
        ([0.1, -0.3, 0.1], [-1.0, 1.6, 0.0], 60),
    ],
)
def test_out_of_reach_and_back_it_comes_back(way, turn, ticks):
    hand = Hand()
    hand.there_and_back(way, turn, ticks)
    named = Limit.NONE
    for decision in hand.decisions:
        named |= decision.limits
    assert Limit.IK_RESIDUAL in named
    for _ in range(60):
        hand.lead()
    assert np.linalg.norm(hand.decisions[-1].target.position - hand.start.position) < 1e-3
    assert angle_between(hand.decisions[-1].target.quat_xyzw, hand.start.quat_xyzw) < np.deg2rad(0.5)


def test_the_way_out_is_as_fast_as_elsewhere():
    hand = Hand()
    for tick in range(45):
        hand.lead(turn=(0.0, 0.04 * tick, 0.0))
    stretched = hand.decisions[-1].target
    reached = angle_between(stretched.quat_xyzw, hand.start.quat_xyzw)
    for tick in range(30):
        hand.lead(turn=(0.0, max(0.0, reached - 0.04 * tick), 0.0))
    left = angle_between(hand.decisions[-1].target.quat_xyzw, hand.start.quat_xyzw)
    assert left == pytest.approx(reached - 0.04 * 29, abs=0.06)
