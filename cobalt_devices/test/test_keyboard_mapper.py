import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobalt_devices.device_command import DeviceCommand, Feedback
from cobalt_devices.keyboard_mapper import FORGOTTEN_S, TAP_S, KeyboardMapper, KeyboardRates, KeySample
from cobalt_devices.rate_epoch import LINGER_S, WATCHDOG_S
from cobalt_teleop.core.keyboard_actions import ACTIONS, BITS
from cobalt_teleop.core.pose import Pose, angle_between, quaternion

PERIOD_S = 0.025
INDEX = {action.name: index for index, action in enumerate(ACTIONS)}


class Keyboard:
    """A keyboard and its mapper, on one clock."""

    def __init__(self, **rates: float) -> None:
        self.mapper = KeyboardMapper(KeyboardRates(**rates), itertools.count(1).__next__)
        self.now_s = 100.0
        self.held: set[str] = set()
        self.counts = [0] * len(ACTIONS)
        self.send()

    def press(self, *names: str) -> None:
        for name in names:
            self.counts[INDEX[name]] += 1
        self.held |= set(names)

    def release(self) -> None:
        self.held.clear()

    def tap(self, name: str) -> None:
        self.counts[INDEX[name]] += 1

    def sample(self, **changes: object) -> KeySample:
        buttons = sum(BITS[name] for name in self.held)
        values: dict = {'stamp_ns': round(self.now_s * 1e9), 'buttons': buttons, 'press_counts': tuple(self.counts)}
        return KeySample(**{**values, **changes})

    def send(self, feedback: Feedback | None = None, dt_s: float = PERIOD_S, **changes: object) -> DeviceCommand:
        self.now_s += dt_s
        command = self.mapper.update(self.sample(**changes), feedback)
        assert command is not None
        return command

    def run(self, seconds: float, feedback: Feedback | None = None) -> DeviceCommand:
        for _ in range(round(seconds / PERIOD_S)):
            command = self.send(feedback)
        return command


def follow(
    command: DeviceCommand, *, target: Pose | None = None, gripper: float = 1.0, holding: bool = False
) -> Feedback:
    """A host that anchors at the identity and whose target is where the command wants it, or elsewhere."""
    return Feedback(
        clutch_epoch=command.clutch_epoch,
        command=Pose(),
        measured=Pose(),
        anchor=Pose(),
        target=command.pose if target is None else target,
        gripper_target=gripper,
        holding=holding,
    )


def test_a_held_key_moves_at_its_speed_in_the_view():
    keyboard = Keyboard(view_yaw_deg=180.0, linear_speed=0.2)
    keyboard.press('away')
    keyboard.send()
    command = keyboard.run(0.5)
    np.testing.assert_allclose(command.pose.position, [-0.1, 0.0, 0.0], atol=1e-9)
    assert command.engaged


def test_the_view_turns_rotations_too():
    keyboard = Keyboard(view_yaw_deg=90.0, angular_speed=1.0)
    keyboard.press('roll_right')
    keyboard.send()
    command = keyboard.run(0.5)
    assert angle_between(command.pose.quat_xyzw, quaternion([0.0, 0.5, 0.0])) < 1e-6


def test_the_first_command_of_an_epoch_holds_no_motion():
    keyboard = Keyboard()
    keyboard.press('left', 'yaw_left')
    command = keyboard.send(dt_s=0.8)
    assert command.engaged
    np.testing.assert_array_equal(command.pose.position, np.zeros(3))
    assert angle_between(command.pose.quat_xyzw, Pose().quat_xyzw) == 0.0


def test_two_keys_at_once_are_no_faster_than_one():
    keyboard = Keyboard(linear_speed=0.2)
    keyboard.press('away', 'left')
    keyboard.send()
    assert np.linalg.norm(keyboard.run(0.5).pose.position) == pytest.approx(0.1)


def test_slow_is_slower():
    keyboard = Keyboard(linear_speed=0.2, slow_factor=0.25)
    keyboard.press('up', 'slow')
    keyboard.send()
    assert keyboard.run(0.5).pose.position[2] == pytest.approx(0.025)


def test_an_epoch_lasts_until_half_a_second_after_the_last_key():
    keyboard = Keyboard()
    keyboard.press('up')
    first = keyboard.send()
    keyboard.release()
    assert keyboard.run(LINGER_S - PERIOD_S).engaged
    keyboard.press('down')
    assert keyboard.send().clutch_epoch == first.clutch_epoch
    keyboard.release()
    assert not keyboard.run(LINGER_S + 2 * PERIOD_S).engaged
    keyboard.press('up')
    again = keyboard.send()
    assert again.clutch_epoch == first.clutch_epoch + 1
    np.testing.assert_array_equal(again.pose.position, np.zeros(3))


def test_a_tap_between_two_samples_makes_one_small_step_once_the_host_has_anchored():
    keyboard = Keyboard(linear_speed=0.2)
    keyboard.tap('up')
    first = keyboard.send()
    assert first.engaged
    assert keyboard.send().pose.position[2] == 0.0
    moved = keyboard.send(follow(first))
    assert moved.pose.position[2] == pytest.approx(0.2 * TAP_S)
    assert keyboard.run(0.2).pose.position[2] == pytest.approx(0.2 * TAP_S)


def test_a_tap_moves_even_if_no_tick_was_seen():
    keyboard = Keyboard(linear_speed=0.2)
    keyboard.tap('up')
    assert keyboard.run(0.4).pose.position[2] == pytest.approx(0.2 * TAP_S)


def test_the_gripper_toggles_by_counts_from_what_the_host_has():
    keyboard = Keyboard()
    keyboard.tap('gripper')
    idle = follow(DeviceCommand(pose=Pose(), gripper=math.nan, engaged=False, tracked=True, clutch_epoch=0))
    assert keyboard.send(idle).gripper == 0.0
    keyboard.tap('gripper')
    assert keyboard.send(idle).gripper == 1.0
    keyboard.tap('gripper')
    keyboard.tap('gripper')
    assert keyboard.send(idle).gripper == 1.0


def test_counts_of_the_first_sample_are_the_baseline():
    mapper = KeyboardMapper(KeyboardRates(), itertools.count(1).__next__)
    command = mapper.update(KeySample(stamp_ns=1, buttons=BITS['up'], press_counts=(7,) * len(ACTIONS)))
    assert command is not None
    assert not command.engaged


def test_a_key_that_is_down_at_the_first_sample_needs_a_fresh_press():
    keyboard = Keyboard()
    keyboard.mapper = KeyboardMapper(KeyboardRates(), itertools.count(1).__next__)
    keyboard.press('up')
    assert not keyboard.run(0.5).engaged
    keyboard.release()
    keyboard.send()
    keyboard.press('up')
    assert keyboard.send().engaged


def test_a_page_that_is_loaded_again_starts_anew():
    keyboard = Keyboard()
    keyboard.press('up')
    keyboard.run(0.2)
    keyboard.counts = [0] * len(ACTIONS)
    assert not keyboard.send().engaged
    keyboard.now_s = 1.0
    assert not keyboard.send().engaged


def test_repeated_and_older_samples_change_nothing():
    keyboard = Keyboard()
    keyboard.press('up')
    keyboard.run(0.2)
    command = keyboard.send()
    again = keyboard.mapper.update(keyboard.sample())
    assert again is not None
    np.testing.assert_array_equal(again.pose.position, command.pose.position)
    assert keyboard.mapper.update(keyboard.sample(stamp_ns=round((keyboard.now_s - 0.01) * 1e9))) is None


@pytest.mark.parametrize('held', [True, False])
def test_what_was_pressed_while_the_link_was_cut_moves_nothing_when_it_is_back(held):
    keyboard = Keyboard()
    keyboard.run(0.2)
    keyboard.tap('gripper')
    keyboard.press('up')
    if not held:
        keyboard.release()
    command = keyboard.send(dt_s=FORGOTTEN_S + 0.1)
    assert not command.engaged
    command = keyboard.run(1.0)
    assert not command.engaged
    keyboard.release()
    keyboard.send()
    keyboard.press('up')
    keyboard.send()
    assert keyboard.run(0.3).pose.position[2] > 0.02, 'a fresh press moves'


def test_lost_samples_make_no_jump():
    keyboard = Keyboard(linear_speed=0.2)
    keyboard.press('up')
    before = keyboard.run(0.2)
    for _ in range(20):
        keyboard.tap('up')
    after = keyboard.send(dt_s=0.9)
    assert after.pose.position[2] - before.pose.position[2] <= 0.2 * 0.1 + 1e-9


def test_the_motion_stays_on_its_leash():
    keyboard = Keyboard(leash_m=0.04, leash_rad=0.3, linear_speed=0.5, angular_speed=2.0, view_yaw_deg=0.0)
    keyboard.press('up', 'yaw_left')
    command = keyboard.send()
    stuck = follow(command, target=Pose(np.array([0.0, 0.0, 0.01])))
    command = keyboard.run(2.0, stuck)
    assert command.pose.position[2] == pytest.approx(0.05)
    assert angle_between(command.pose.quat_xyzw, Pose().quat_xyzw) == pytest.approx(0.3)
    keyboard.release()
    keyboard.press('down')
    assert keyboard.run(0.1, stuck).pose.position[2] < 0.01 + 0.01


def test_another_epoch_is_no_leash():
    keyboard = Keyboard(linear_speed=0.2, view_yaw_deg=0.0)
    keyboard.press('away')
    command = keyboard.send()
    other = follow(DeviceCommand(pose=Pose(), gripper=math.nan, engaged=True, tracked=True, clutch_epoch=99))
    assert command.clutch_epoch != 99
    assert keyboard.run(1.0, other).pose.position[0] == pytest.approx(0.2)


def test_after_a_hold_a_release_ends_the_epoch_at_once():
    keyboard = Keyboard()
    keyboard.press('up')
    command = keyboard.run(0.2)
    held = follow(command, target=Pose(), holding=True)
    assert keyboard.send(held).clutch_epoch == command.clutch_epoch
    keyboard.release()
    assert not keyboard.send(held).engaged
    keyboard.press('up')
    assert keyboard.send().clutch_epoch == command.clutch_epoch + 1


def test_a_hidden_or_broken_device_ends_the_epoch():
    for change in ({'engaged': False}, {'tracked': False}):
        keyboard = Keyboard()
        keyboard.press('up')
        keyboard.run(0.2)
        assert not keyboard.send(**change).engaged


def stop_by_page(keyboard):
    """The picture is too old for a while, or the page is hidden."""
    for _ in range(40):
        assert not keyboard.send(engaged=False).engaged


def stop_by_device(keyboard):
    assert not keyboard.send(tracked=False).engaged


def stop_by_host(keyboard):
    keyboard.send(follow(keyboard.send(), target=Pose(), holding=True))


def stop_by_silence(keyboard):
    keyboard.send(dt_s=WATCHDOG_S + 0.01)


def moves(keyboard):
    """Tells whether the arm moves, which a host that holds an epoch begins only with another one."""
    first = keyboard.send()
    last = keyboard.run(0.3)
    return last.engaged and not np.array_equal(first.pose.position, last.pose.position)


STOPS = [stop_by_page, stop_by_device, stop_by_host, stop_by_silence]


@pytest.mark.parametrize('stop', STOPS)
def test_a_key_that_stays_down_over_a_stop_moves_nothing_until_it_is_pressed_again(stop):
    keyboard = Keyboard()
    keyboard.press('up')
    epoch = keyboard.run(0.3).clutch_epoch
    stop(keyboard)
    assert not moves(keyboard)
    keyboard.release()
    assert not keyboard.send().engaged
    assert keyboard.mapper.update(keyboard.sample()).clutch_epoch == epoch
    keyboard.press('up')
    assert moves(keyboard)
    assert keyboard.send().clutch_epoch == epoch + 1


@pytest.mark.parametrize('stop', STOPS)
def test_another_key_is_a_fresh_press_and_moves_alone(stop):
    keyboard = Keyboard(view_yaw_deg=0.0)
    keyboard.press('up')
    epoch = keyboard.run(0.3).clutch_epoch
    stop(keyboard)
    keyboard.run(0.2)
    keyboard.press('away')
    first = keyboard.send()
    assert (first.engaged, first.clutch_epoch) == (True, epoch + 1)
    np.testing.assert_array_equal(first.pose.position, np.zeros(3))
    way = keyboard.run(0.3).pose.position
    assert way[0] > 0.01
    assert way[2] == 0.0


@pytest.mark.parametrize('stop', STOPS)
def test_a_press_whose_release_was_not_seen_is_a_fresh_one(stop):
    keyboard = Keyboard()
    keyboard.press('up')
    epoch = keyboard.run(0.3).clutch_epoch
    stop(keyboard)
    keyboard.press('up')
    assert moves(keyboard)
    assert keyboard.send().clutch_epoch == epoch + 1


def test_a_press_while_the_page_may_not_drive_is_none():
    keyboard = Keyboard()
    keyboard.press('up')
    assert not keyboard.send(engaged=False).engaged
    assert not moves(keyboard)


def test_the_host_is_told_of_a_press_that_it_holds_until_the_release():
    keyboard = Keyboard()
    keyboard.press('up')
    command = keyboard.run(0.2)
    held = follow(command, target=Pose(), holding=True)
    for _ in range(60):
        told = keyboard.send(held)
        assert (told.engaged, told.clutch_epoch) == (True, command.clutch_epoch)
    keyboard.release()
    assert not keyboard.send(held).engaged


def test_a_hold_of_an_earlier_epoch_stops_nothing():
    keyboard = Keyboard()
    keyboard.press('up')
    old = follow(keyboard.run(0.2), target=Pose(), holding=True)
    keyboard.send(old)
    keyboard.release()
    keyboard.send(old)
    keyboard.press('up')
    keyboard.send(old)
    assert keyboard.run(0.3, old).pose.position[2] > 0.01


def test_the_key_that_takes_control_moves_the_arm_after_the_release_that_the_page_makes_up():
    keyboard = Keyboard()
    keyboard.press('up')
    keyboard.run(0.3)
    keyboard.release()
    keyboard.run(1.0)
    # Without control the page's samples go nowhere. The key is down when the next ones come.
    keyboard.press('up')
    assert not keyboard.send(dt_s=3.0, buttons=0, engaged=False).engaged
    assert moves(keyboard)


names = st.sets(st.sampled_from([action.name for action in ACTIONS]), max_size=4)


@given(steps=st.lists(st.tuples(names, st.floats(0.0, 3.0), st.booleans()), max_size=40))
def test_no_stream_of_samples_makes_a_jump(steps):
    keyboard = Keyboard()
    previous = keyboard.send()
    for held, dt_s, lost in steps:
        keyboard.held = set()
        keyboard.press(*held)
        if lost:
            keyboard.now_s += dt_s
            continue
        command = keyboard.send(dt_s=dt_s)
        assert np.linalg.norm(command.pose.quat_xyzw) == pytest.approx(1.0)
        if command.clutch_epoch == previous.clutch_epoch and command.engaged:
            assert np.linalg.norm(command.pose.position - previous.pose.position) <= 0.15 * 0.1 + 1e-9
            assert angle_between(command.pose.quat_xyzw, previous.pose.quat_xyzw) <= 0.8 * 0.1 + 1e-6
        previous = command
