import numpy as np
import pytest
from motion_commands import command

from cobalt_teleop.core.clutch import Clutch
from cobalt_teleop.core.command import HoldReason, Mode, Reference
from cobalt_teleop.core.pose import Pose, angle_between, multiply, quaternion
from cobalt_teleop.workcell_host.ideal_plant import gantry_limits

HERE = Pose(np.array([0.3, 0.1, 0.4]), quaternion([0.2, -0.1, 0.3]))
ELSEWHERE = Pose(np.array([0.31, 0.1, 0.4]), quaternion([0.2, -0.1, 0.35]))


@pytest.fixture
def clutch():
    return Clutch(gantry_limits())


def test_the_first_pose_wanted_is_the_measured_one_wherever_the_hand_is(clutch):
    state = clutch.update(command((5.0, 6.0, 7.0), (1.0, 0.0, 0.0)), HERE)
    assert state.engaged_now and state.wanted is HERE


def test_the_hand_s_motion_is_added_to_the_anchor_in_base_axes(clutch):
    clutch.update(command((5.0, 0.0, 0.0), (0.5, 0.0, 0.0)), HERE)
    state = clutch.update(command((5.01, 0.0, 0.02), (0.6, 0.0, 0.0)), ELSEWHERE)
    assert state.wanted.position == pytest.approx(HERE.position + np.array([0.01, 0.0, 0.02]))
    turned = multiply(quaternion([0.1, 0.0, 0.0]), HERE.quat_xyzw)
    assert angle_between(state.wanted.quat_xyzw, turned) < 1e-9
    assert clutch.anchor is HERE


def test_a_new_epoch_anchors_anew(clutch):
    clutch.update(command(), HERE)
    state = clutch.update(command((0.2, 0.0, 0.0), clutch_epoch=2), ELSEWHERE)
    assert state.engaged_now and state.wanted is ELSEWHERE


def test_an_absolute_pose_is_never_offset_and_moves_nothing_in_its_first_tick(clutch):
    wanted = Pose(np.array([0.2, 0.2, 0.2]))
    first = clutch.update(command(pose=wanted, reference=Reference.ABSOLUTE), HERE)
    assert first.wanted is HERE and first.engaged_now
    assert clutch.update(command(pose=wanted, reference=Reference.ABSOLUTE), HERE).wanted is wanted


@pytest.mark.parametrize(
    ('bad', 'reason'),
    [
        ({'age_s': 0.21}, HoldReason.STALE),
        ({'tracked': False}, HoldReason.NOT_TRACKED),
        ({'pose': None}, HoldReason.INVALID),
        ({'frame_age_s': 1.5}, HoldReason.FRAME_STALE),
        ({'mode': Mode.JOINT}, HoldReason.UNSUPPORTED),
        ({'mode': None}, HoldReason.UNSUPPORTED),
        ({'offset': (0.06, 0.0, 0.0)}, HoldReason.JUMP),
        ({'turn': (0.0, 0.7, 0.0)}, HoldReason.JUMP),
    ],
)
def test_what_breaks_an_epoch_holds_until_a_fresh_press(clutch, bad, reason):
    clutch.update(command(), HERE)
    assert clutch.update(command(**bad), HERE).hold_reason is reason
    assert clutch.update(command(), HERE).hold_reason is reason
    fresh = clutch.update(command(clutch_epoch=2), ELSEWHERE)
    assert fresh.hold_reason is HoldReason.NONE and fresh.wanted is ELSEWHERE


def test_a_release_holds_and_the_next_press_may_have_any_number(clutch):
    clutch.update(command(), HERE)
    assert clutch.update(command(engaged=False), HERE).hold_reason is HoldReason.NOT_ENGAGED
    assert clutch.update(command(), ELSEWHERE).wanted is ELSEWHERE


def test_a_press_that_began_before_a_hand_over_moves_nothing(clutch):
    clutch.require_fresh_press([('test', 7), ('phone', 3)])
    assert clutch.update(command(clutch_epoch=7), HERE).hold_reason is HoldReason.REENGAGE
    assert clutch.update(command(clutch_epoch=8), HERE).hold_reason is HoldReason.NONE
    assert clutch.update(command(clutch_epoch=3, source='phone'), HERE).hold_reason is HoldReason.REENGAGE


def test_two_devices_that_count_alike_are_two_presses(clutch):
    clutch.update(command((0.3, 0.0, 0.0), clutch_epoch=4), HERE)
    taken_over = clutch.update(command((0.1, 0.0, 0.0), clutch_epoch=4, source='phone'), ELSEWHERE)
    assert taken_over.engaged_now and taken_over.wanted is ELSEWHERE


def test_samples_that_the_network_held_back_are_no_jump(clutch):
    held = command()
    for _ in range(3):
        clutch.update(held, HERE)
    assert clutch.update(command((0.12, 0.0, 0.0)), HERE).hold_reason is HoldReason.NONE


def test_a_jump_after_a_still_hand_is_a_jump(clutch):
    for _ in range(10):
        clutch.update(command(), HERE)
    assert clutch.update(command((0.06, 0.0, 0.0)), HERE).hold_reason is HoldReason.JUMP


@pytest.mark.parametrize('change', [{'mode': Mode.TWIST}, {'reference': Reference.ABSOLUTE}])
def test_a_press_keeps_its_mode_and_reference(clutch, change):
    clutch.update(command(), HERE)
    assert clutch.update(command(**change), HERE).hold_reason is HoldReason.INVALID


def test_a_source_that_a_person_has_just_chosen_drives_with_its_running_stream(clutch):
    clutch.require_fresh_press([('test', 7)])
    clutch.restart()
    assert clutch.update(command(clutch_epoch=7), HERE).engaged_now


def test_silence_from_the_start_is_no_command(clutch):
    assert clutch.update(None, HERE).hold_reason is HoldReason.NO_COMMAND
