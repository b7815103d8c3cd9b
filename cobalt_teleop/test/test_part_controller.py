import numpy as np
import pytest
from motion_commands import command

from cobalt_teleop.core.command import Authority, HoldReason, Limit
from cobalt_teleop.core.kinematics import JointSolution
from cobalt_teleop.core.part_controller import Measured, PartController
from cobalt_teleop.workcell_host.ideal_plant import GantryKinematics, gantry_limits

HOME = np.array([0.0, 0.0, 0.2, 0.0, 0.0, 0.0])


def measured(joints=HOME, gripper=1.0):
    return Measured(pose=GantryKinematics().forward(np.asarray(joints)), joints=np.asarray(joints), gripper=gripper)


class Guarded(PartController):
    """The guard of an arm that gets to its targets within the tick, unless a test says where it is."""

    joints = HOME


def controller(kinematics=None, start=HOME, **options):
    made = Guarded(
        limits=gantry_limits(), kinematics=kinematics or GantryKinematics(), home=HOME, period_s=0.05, **options
    )
    made.start_from(measured(start))
    made.joints = start
    return made


def step(made, human=None, *, state=None, authority=Authority.HUMAN, policy=None, must_hold=HoldReason.NONE):
    decision = made.step(
        measured=state or measured(made.joints), authority=authority, human=human, policy=policy, must_hold=must_hold
    )
    made.joints = decision.joint_targets
    return decision


def test_engaging_a_still_hand_moves_nothing_even_from_a_joint_outside_its_range():
    outside = np.array([0.0, 1.03, 0.2, 0.0, 0.0, 0.0])
    made = controller(start=outside)
    for epoch in (1, 2, 3):
        decision = step(made, command((9.0, 9.0, 9.0), clutch_epoch=epoch), state=measured(outside))
        assert decision.authority is Authority.HUMAN
        assert np.array_equal(decision.joint_targets, outside)
        assert np.array_equal(decision.target.position, outside[:3])


def test_engage_starts_from_the_measured_joints_not_from_the_old_targets():
    made = controller()
    sagged = np.array([0.01, 0.0, 0.19, 0.0, 0.0, 0.02])
    decision = step(made, command(), state=measured(sagged))
    assert np.array_equal(decision.joint_targets, sagged)


def test_it_follows_and_then_holds_where_it_is():
    made = controller()
    step(made, command())
    for count in range(1, 21):
        moved = step(made, command((0.002 * count, 0.0, 0.0)))
    assert moved.joint_targets[0] == pytest.approx(0.04, abs=0.01)
    for _ in range(10):
        held = step(made, command(engaged=False))
    assert held.authority is Authority.HOLD and held.hold_reason is HoldReason.NOT_ENGAGED
    again = step(made, command(engaged=False))
    assert np.array_equal(again.joint_targets, held.joint_targets)


def test_who_sees_an_old_picture_holds_and_moves_again_with_a_fresh_press_alone():
    made = controller(max_frame_age_s=0.3)
    step(made, command())
    assert step(made, command((0.01, 0.0, 0.0), frame_age_s=0.2)).authority is Authority.HUMAN
    assert step(made, command((0.02, 0.0, 0.0), frame_age_s=0.4)).hold_reason is HoldReason.FRAME_STALE
    again = step(made, command((0.03, 0.0, 0.0), frame_age_s=0.1))
    assert (again.authority, again.hold_reason) == (Authority.HOLD, HoldReason.FRAME_STALE)
    assert step(made, command((0.03, 0.0, 0.0), frame_age_s=0.1, clutch_epoch=2)).authority is Authority.HUMAN


def test_an_emergency_stop_wins_and_the_same_press_does_not_move_afterwards():
    made = controller()
    step(made, command())
    assert step(made, command(), must_hold=HoldReason.EMERGENCY_STOP).hold_reason is HoldReason.EMERGENCY_STOP
    assert step(made, command()).hold_reason is HoldReason.REENGAGE
    assert step(made, command(clutch_epoch=2)).hold_reason is HoldReason.NONE


def test_a_press_made_during_the_stop_does_not_move_afterwards_either():
    made = controller()
    step(made, command(clutch_epoch=5), must_hold=HoldReason.EMERGENCY_STOP)
    assert step(made, command(clutch_epoch=5)).hold_reason is HoldReason.REENGAGE


def test_the_policy_drives_only_with_authority():
    made = controller()
    policy = command(source='policy')
    assert step(made, None, policy=policy).hold_reason is HoldReason.NO_COMMAND
    assert step(made, None, policy=policy, authority=Authority.POLICY).source == 'policy'
    assert step(made, command(), policy=policy, authority=Authority.HOLD).hold_reason is HoldReason.AUTHORITY


def test_the_gripper_follows_only_while_driving_and_says_when_it_is_clipped():
    made = controller()
    assert step(made, command(engaged=False, gripper=0.0)).gripper_target == 1.0
    closed = step(made, command(gripper=-0.5))
    assert closed.gripper_target == 0.0 and Limit.GRIPPER_RANGE in closed.limits
    assert step(made, command()).gripper_target == 0.0


def test_it_says_how_fast_the_targets_are_expected_to_go_on():
    made = controller()
    assert not step(made, command()).joint_velocities.any()
    velocities = [step(made, command((0.005 * count, 0.0, 0.0))).joint_velocities[0] for count in range(1, 11)]
    assert velocities[0] == pytest.approx(0.0, abs=1e-9)
    assert velocities[-1] == pytest.approx(0.1, abs=1e-6)
    stopped = step(made, command((0.05, 0.0, 0.0)))
    assert stopped.joint_velocities == pytest.approx(np.zeros(6), abs=1e-9)


def test_while_it_brakes_the_targets_are_expected_to_stand_still_soon():
    made = controller()
    step(made, command())
    for count in range(1, 21):
        step(made, command((0.0125 * count, 0.0, 0.0)))
    speeds = [np.linalg.norm(step(made, command(engaged=False)).joint_velocities) for _ in range(5)]
    assert speeds == sorted(speeds, reverse=True)
    assert speeds[0] > 0.0 and speeds[-1] == pytest.approx(0.0, abs=1e-9)


def test_a_jump_foretells_no_motion_beyond_it():
    made = controller()
    step(made, command())
    step(made, command())
    places = []
    for _ in range(20):
        decision = step(made, command((0.03, 0.0, 0.0)))
        places.append(decision.joint_targets[0] + decision.joint_velocities[0] * 0.05)
    assert max(places) <= 0.03 + 1e-6


class SlowReach(GantryKinematics):
    """Answers with joints that are further than a tick allows."""

    def solve(self, target, seed):
        return JointSolution(seed + np.array([0.5, 0, 0, 0, 0, 0]), 0.0, 0.0)


def test_joint_speed_shortens_the_step_and_the_target_goes_no_further_than_the_joints():
    made = controller(SlowReach())
    step(made, command())
    decision = step(made, command((0.01, 0.0, 0.0)))
    assert Limit.JOINT_SPEED in decision.limits
    travelled = decision.joint_targets[0] - HOME[0]
    assert travelled <= 2 * 1.0 * 0.05 + 1e-9
    assert decision.target.position[0] == pytest.approx(decision.joint_targets[0])


class Unreachable(GantryKinematics):
    """Cannot leave its seed."""

    def solve(self, target, seed):
        return JointSolution(seed, float(np.linalg.norm(target.position - seed[:3])), 0.0)


def test_an_unreachable_target_is_named_and_does_not_wind_up():
    made = controller(Unreachable())
    step(made, command())
    for count in range(1, 15):
        decision = step(made, command((0.02 * count, 0.0, 0.0)))
    assert Limit.IK_RESIDUAL in decision.limits
    assert np.linalg.norm(decision.target.position - HOME[:3]) < 0.02


def test_what_is_gripped_stays_gripped_after_a_stop():
    made = controller()
    step(made, command(gripper=0.0))
    half_open = measured(gripper=0.5)
    made.rest_at(half_open)
    assert step(made, None, state=half_open).gripper_target == 0.0
    made.start_from(half_open)
    assert step(made, None, state=half_open).gripper_target == 0.5


def test_homing_arrives_smoothly_and_hands_back():
    away = HOME + np.array([0.3, 0.0, 0.1, 0.0, 0.0, 0.5])
    made = controller(start=away)
    made.start_homing(measured(away), 0.5)
    last, fastest = away, 0.0
    while made.homing:
        decision = step(made, authority=Authority.HOMING)
        fastest = max(fastest, float(np.abs(decision.joint_targets - last)[0]) / 0.05)
        last = decision.joint_targets
    assert last == pytest.approx(HOME)
    assert 0.2 < fastest <= 0.25


def speeding(made, **changes):
    """Brings the tool to full speed along x; returns the last two decisions."""
    step(made, command(**changes))
    return [step(made, command((0.0125 * count, 0.0, 0.0), **changes)) for count in range(1, 21)][-2:]


def joint_accelerations(decisions):
    joints = np.array([decision.joint_targets for decision in decisions])
    return np.diff(joints, n=2, axis=0) / 0.05**2


@pytest.mark.parametrize('gap', [0, 1])
def test_a_press_while_it_still_moves_is_anchored_where_it_comes_to_rest(gap):
    made = controller()
    decisions = speeding(made)
    for _ in range(gap):
        decisions.append(step(made, command(engaged=False)))
    for _ in range(6):
        still = command((5.0, 0.0, 0.0), clutch_epoch=2)
        decisions.append(step(made, still))
    assert [decision.authority for decision in decisions[2:4]] == [Authority.HOLD] * 2
    assert decisions[2].hold_reason is HoldReason.NOT_ENGAGED
    assert decisions[-1].authority is Authority.HUMAN
    assert np.array_equal(decisions[-1].anchor.position, decisions[-1].target.position)
    assert np.abs(joint_accelerations(decisions)).max() <= 2.0 + 1e-6


def test_authority_that_changes_hands_in_motion_brakes_first():
    made = controller()
    decisions = speeding(made)
    for _ in range(6):
        stream = command((5.0, 0.0, 0.0), source='policy')
        decisions.append(step(made, None, policy=stream, authority=Authority.POLICY))
    assert decisions[2].authority is Authority.HOLD and decisions[-1].authority is Authority.POLICY
    assert np.abs(joint_accelerations(decisions)).max() <= 2.0 + 1e-6


@pytest.mark.parametrize('ended_by', [command(engaged=False), None])
def test_the_way_home_begins_at_rest_and_whatever_ends_it_brakes(ended_by):
    made = controller()
    decisions = speeding(made)
    made.start_homing(measured(decisions[-1].joint_targets), 1.0)
    for _ in range(8):
        decisions.append(step(made, authority=Authority.HOMING))
    assert made.homing and decisions[-1].authority is Authority.HOMING
    for _ in range(8):
        decisions.append(step(made, ended_by))
    assert not made.homing
    accelerations = joint_accelerations(decisions)
    assert np.all(np.abs(accelerations) <= gantry_limits().joint_acceleration + 1e-6)
    assert np.array_equal(decisions[-1].joint_targets, decisions[-2].joint_targets)


def test_home_from_rest_sets_out_at_once():
    away = HOME + np.array([0.1, 0.0, 0.0, 0.0, 0.0, 0.0])
    made = controller(start=away)
    made.start_homing(measured(away), 0.5)
    assert step(made, state=measured(away), authority=Authority.HOMING).joint_targets[0] < 0.1


def pushing(made, ticks=60, **changes):
    """Drives a blocked arm along x."""
    return [step(made, command((0.01 * count, 0.0, 0.0), **changes), state=measured()) for count in range(ticks)]


def test_targets_do_not_run_away_from_an_arm_that_is_blocked():
    decisions = pushing(controller())
    errors = [decision.joint_targets[0] - HOME[0] for decision in decisions]
    following_error = gantry_limits().following_error
    assert following_error < max(errors) <= following_error + 0.25 * 0.05
    first = next(n for n, decision in enumerate(decisions) if decision.hold_reason is HoldReason.BLOCKED)
    assert all(decision.authority is Authority.HOLD for decision in decisions[first:])
    assert decisions[-1].hold_reason is HoldReason.BLOCKED
    assert np.array_equal(decisions[first].joint_targets, HOME)


def test_a_blocked_arm_ends_up_pressing_against_nothing_and_asks_for_a_fresh_press():
    made = controller()
    pushing(made)
    freed = [step(made, command((0.6, 0.0, 0.0))) for _ in range(5)]
    assert all(np.array_equal(decision.joint_targets, HOME) for decision in freed)
    assert freed[-1].hold_reason is HoldReason.BLOCKED
    step(made, command((0.6, 0.0, 0.0), clutch_epoch=2))
    moved = [step(made, command((0.6 - 0.01 * count, 0.0, 0.0), clutch_epoch=2)) for count in range(1, 11)]
    assert moved[-1].authority is Authority.HUMAN and moved[-1].joint_targets[0] < -0.05


def test_an_arm_that_lags_is_not_blocked():
    made = controller()
    decisions = [step(made, command())]
    for count in range(1, 41):
        late = measured(decisions[max(0, count - 8)].joint_targets)
        decisions.append(step(made, command((0.01 * count, 0.0, 0.0)), state=late))
    assert all(decision.authority is Authority.HUMAN for decision in decisions)


def test_an_arm_that_is_pushed_aside_while_it_holds_does_not_swing_back():
    made = controller()
    aside = HOME + np.array([0.0, 0.3, 0.0, 0.0, 0.0, 0.0])
    pushed = step(made, command(engaged=False), state=measured(aside))
    assert pushed.hold_reason is HoldReason.BLOCKED and np.array_equal(pushed.joint_targets, aside)
    assert step(made, command(engaged=False)).hold_reason is HoldReason.NOT_ENGAGED


def test_a_way_home_that_is_blocked_ends():
    away = HOME + np.array([0.4, 0.0, 0.0, 0.0, 0.0, 0.0])
    made = controller(start=away)
    made.start_homing(measured(away), 1.0)
    decisions = [step(made, state=measured(away), authority=Authority.HOMING) for _ in range(60)]
    assert not made.homing and np.array_equal(decisions[-1].joint_targets, away)


def test_an_emergency_stop_of_a_blocked_arm_is_told_as_one():
    made = controller()
    pushing(made, 20)
    decision = step(made, command((1.0, 0.0, 0.0)), state=measured(HOME - 0.5), must_hold=HoldReason.EMERGENCY_STOP)
    assert decision.hold_reason is HoldReason.EMERGENCY_STOP
