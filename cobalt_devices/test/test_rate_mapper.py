"""From deflections to motion since engage: what moves, how far it may lead, and what must move nothing."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cobalt_devices.axis_map import DIRECTIONS, axis_use
from cobalt_devices.device_command import Feedback
from cobalt_devices.operator_axes import Reference
from cobalt_devices.rate_epoch import AT_REST_S, LINGER_S, LONGEST_STEP_S, WATCHDOG_S, Leash
from cobalt_devices.rate_mapper import RateMapper, RateSample, RateSettings
from cobalt_teleop.core.pose import Pose, angle_between, multiply, quaternion, rotate, rotation_vector

PERIOD_S = 0.025
NAMES = ('x', 'y', 'z', 'rx', 'ry', 'rz')
STRAIGHT = {
    'directions': [axis_use(direction, name, NAMES) for direction, name in zip(DIRECTIONS, NAMES, strict=True)],
    'dead_zone': 0.1,
    'curve': 1.0,
    'linear_speed': 0.2,
    'angular_speed': 1.0,
    'close_button': 0,
    'open_button': 1,
    'view_yaw_deg': 0.0,
    'leash': Leash(length_m=0.04, length_rad=0.3),
}
REST = (0.0,) * 6
AWAY = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
TURN = (0.0, 0.0, 0.0, 0.0, 0.0, 1.0)


class Device:
    """A device in a hand, and its mapper."""

    def __init__(self, **settings):
        self.mapper = RateMapper(RateSettings(**{**STRAIGHT, **settings}), itertools.count(1).__next__)
        self.now_s = 100.0
        self.counts = [0, 0]
        self.fields = {'reference': Reference.BASE}

    def sample(self, axes, **changes):
        values = {'stamp_ns': round(self.now_s * 1e9), 'axes': tuple(axes), 'press_counts': tuple(self.counts)}
        return RateSample(**{**values, **self.fields, **changes})

    def send(self, axes=REST, feedback=None, dt_s=PERIOD_S, **changes):
        self.now_s += dt_s
        return self.mapper.update(self.sample(axes, **changes), feedback)

    def run(self, seconds, axes=REST, feedback=None, **changes):
        for _ in range(round(seconds / PERIOD_S)):
            command = self.send(axes, feedback, **changes)
        return command


def answer(command, *, target=None, holding=False, waiting=False, measured=None):
    """A host that anchors at the identity and whose target is where the command wants it, or elsewhere."""
    return Feedback(
        clutch_epoch=command.clutch_epoch,
        command=Pose(),
        measured=measured or Pose(),
        anchor=Pose(),
        target=command.pose if target is None else target,
        gripper_target=1.0,
        holding=holding,
        waiting=waiting,
    )


class Host:
    """An arm that follows its commands at a bounded speed, up to walls: the ideal host of a mapper."""

    def __init__(self, speed=0.25, reach=0.05):
        self.speed, self.reach = speed, reach
        self.epoch, self.zero = None, Pose()
        self.anchor = self.target = Pose()
        self.seconds = 0.0

    def tick(self, command, dt_s):
        if not command.engaged:
            self.epoch = None
            return
        if command.clutch_epoch != self.epoch:
            self.epoch, self.zero, self.anchor = command.clutch_epoch, command.pose, self.target
            return
        wanted = self.anchor.position + command.pose.position - self.zero.position
        way = np.clip(wanted, -self.reach, self.reach) - self.target.position
        length = float(np.linalg.norm(way))
        share = 1.0 if length <= self.speed * dt_s else self.speed * dt_s / length
        turned = multiply(command.pose.quat_xyzw, np.array([-1.0, -1.0, -1.0, 1.0]) * self.zero.quat_xyzw)
        self.target = Pose(self.target.position + way * share, multiply(turned, self.anchor.quat_xyzw))

    @property
    def feedback(self):
        return Feedback(
            clutch_epoch=self.epoch, command=self.zero, measured=self.target, anchor=self.anchor, target=self.target,
            gripper_target=1.0, holding=self.epoch is None,
        )  # fmt: skip

    def lead(self, command):
        return command.pose.position - self.zero.position - (self.target.position - self.anchor.position)


def test_full_deflection_moves_at_full_speed():
    device = Device()
    device.send(AWAY)
    assert np.allclose(device.run(0.5, AWAY).pose.position, (0.1, 0.0, 0.0))
    device = Device()
    device.send(TURN)
    assert np.allclose(rotation_vector(device.run(0.5, TURN).pose.quat_xyzw), (0.0, 0.0, 0.5))


def test_the_page_s_speed_scales_both():
    device = Device()
    device.fields['scale'] = 0.5
    both = (1.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    device.send(both)
    command = device.run(0.5, both)
    assert np.allclose(command.pose.position, (0.05, 0.0, 0.0))
    assert np.allclose(rotation_vector(command.pose.quat_xyzw), (0.0, 0.0, 0.25))


def test_speed_begins_at_the_edge_of_the_dead_zone_and_bends_by_the_curve():
    settings = RateSettings(**{**STRAIGHT, 'dead_zone': 0.2, 'curve': 2.0})
    shares = [settings.shares((value, *REST[1:]))[0] for value in (0.2, 0.2001, 0.6, 1.0, -0.6)]
    assert shares == pytest.approx([0.0, 0.0, 0.25, 1.0, -0.25], abs=1e-6)


def test_two_axes_at_once_are_no_faster_than_one():
    shares = RateSettings(**STRAIGHT).shares((1.0, -1.0, 1.0, 1.0, 1.0, 0.0))
    assert np.linalg.norm(shares[:3]) == pytest.approx(1.0)
    assert np.linalg.norm(shares[3:]) == pytest.approx(1.0)


@settings(deadline=None)
@given(st.lists(st.floats(-0.1, 0.1), min_size=6, max_size=6))
def test_nothing_moves_inside_the_dead_zone(axes):
    device = Device()
    device.send(AWAY)
    device.send(axes)
    before = device.send(axes)
    for _ in range(15):
        command = device.send(axes)
        np.testing.assert_array_equal(command.pose.position, before.pose.position)
        np.testing.assert_array_equal(command.pose.quat_xyzw, before.pose.quat_xyzw)
    assert not device.run(LINGER_S, axes).engaged


@pytest.mark.parametrize('strange', [math.nan, math.inf, -math.inf, 1e300, -5.0])
def test_a_strange_number_is_no_motion_or_full_deflection_and_never_more(strange):
    shares = RateSettings(**STRAIGHT).shares((strange, *REST[1:]))
    assert shares[0] == (0.0 if not math.isfinite(strange) else math.copysign(1.0, strange))


def test_fewer_axes_than_the_map_names_are_axes_at_rest():
    assert np.array_equal(RateSettings(**STRAIGHT).shares((1.0,)), (1.0, 0.0, 0.0, 0.0, 0.0, 0.0))


@pytest.mark.parametrize(
    ('fields', 'wanted'),
    [
        ({'reference': Reference.BASE}, (1.0, 0.0, 0.0)),
        ({'reference': Reference.VIEW}, (-1.0, 0.0, 0.0)),
        ({'reference': Reference.BASE, 'heading': math.pi / 2}, (0.0, -1.0, 0.0)),
        ({'reference': Reference.TOOL}, (0.0, 0.0, -1.0)),
    ],
)
def test_forward_is_where_the_operator_looks(fields, wanted):
    device = Device(view_yaw_deg=180.0)
    device.fields |= fields
    down = Pose(np.zeros(3), quaternion((math.pi, 0.0, 0.0)))
    device.send(AWAY, answer(device.send(), measured=down))
    assert np.allclose(device.run(0.5, AWAY).pose.position, np.multiply(wanted, 0.1), atol=1e-9)


def test_the_axes_are_those_of_the_first_deflection():
    device = Device()
    device.send(AWAY)
    device.fields |= {'reference': Reference.VIEW, 'heading': 1.0}
    assert np.allclose(device.run(0.5, AWAY).pose.position, (0.1, 0.0, 0.0))


def test_along_a_tool_that_nobody_has_seen_nothing_begins():
    device = Device()
    device.fields['reference'] = Reference.TOOL
    idle = device.send()
    assert not idle.engaged
    assert device.send(AWAY) is None
    assert device.send(AWAY, answer(idle)).engaged


def test_the_first_command_of_an_epoch_holds_no_motion():
    device = Device()
    device.send(dt_s=0.1)
    command = device.send(AWAY, dt_s=0.1)
    assert command.engaged
    np.testing.assert_array_equal(command.pose.position, np.zeros(3))


def test_an_epoch_lasts_until_half_a_second_after_the_last_deflection():
    device = Device()
    first = device.send(AWAY)
    device.run(0.3, AWAY)
    assert device.run(LINGER_S - PERIOD_S).clutch_epoch == first.clutch_epoch
    command = device.send(TURN)
    assert (command.engaged, command.clutch_epoch) == (True, first.clutch_epoch)
    assert not device.run(LINGER_S + 2 * PERIOD_S).engaged
    again = device.send(AWAY)
    assert again.clutch_epoch == first.clutch_epoch + 1
    np.testing.assert_array_equal(again.pose.position, np.zeros(3))


def test_it_stops_dead_on_release():
    device = Device()
    device.send(AWAY)
    before = device.run(0.3, AWAY)
    for _ in range(round(LINGER_S / PERIOD_S) - 1):
        command = device.send()
        np.testing.assert_array_equal(command.pose.position, before.pose.position)


def test_a_repeated_sample_changes_nothing_and_an_older_one_says_nothing():
    device = Device()
    device.send(AWAY)
    before = device.run(0.2, AWAY)
    for _ in range(3):
        np.testing.assert_array_equal(device.send(AWAY, dt_s=0.0).pose.position, before.pose.position)
    assert device.send(AWAY, stamp_ns=round((device.now_s - 0.2) * 1e9)) is None


def test_a_device_whose_clock_begins_anew_goes_on():
    device = Device()
    device.run(0.2, AWAY)
    assert device.send(stamp_ns=5) is not None


def test_the_gripper_s_buttons_close_and_open_it_however_short_they_are_pressed():
    device = Device()
    assert math.isnan(device.send().gripper)
    closing = device.send(buttons=1)
    assert (closing.engaged, closing.gripper) == (True, 0.0)
    np.testing.assert_array_equal(closing.pose.position, np.zeros(3))
    device.counts[1] += 1
    assert device.send().gripper == 1.0
    assert device.run(0.2).gripper == 1.0
    assert math.isnan(device.run(1.0).gripper)


def test_without_buttons_of_the_gripper_no_button_does_anything():
    device = Device(close_button=None, open_button=None)
    device.counts[0] += 1
    assert not device.send(buttons=0xFFFF).engaged


def test_it_never_runs_further_ahead_than_its_leash_and_turns_back_at_once():
    device, host = Device(), Host(reach=0.01)
    command = device.send(AWAY)
    for _ in range(80):
        host.tick(command, PERIOD_S)
        command = device.send(AWAY, host.feedback)
        assert np.linalg.norm(host.lead(command)) <= 0.04 + 1e-9
    assert command.pose.position[0] == pytest.approx(0.05)
    back = np.multiply(AWAY, -1.0)
    for _ in range(round(0.04 / 0.2 / PERIOD_S) + 2):
        host.tick(command, PERIOD_S)
        command = device.send(back, host.feedback)
    host.tick(command, PERIOD_S)
    assert host.target.position[0] < 0.01


def test_at_rest_what_a_limit_held_up_is_dropped():
    device, host = Device(), Host(speed=0.02, reach=1.0)
    command = device.send(AWAY)
    for _ in range(80):
        host.tick(command, PERIOD_S)
        command = device.send(AWAY, host.feedback)
    assert host.lead(command)[0] > 0.039
    released = host.target.position[0]
    for _ in range(round((AT_REST_S + PERIOD_S) / PERIOD_S) + 1):
        host.tick(command, PERIOD_S)
        command = device.send(feedback=host.feedback)
    assert host.lead(command)[0] <= 0.005 + 1e-9
    for _ in range(12):
        host.tick(command, PERIOD_S)
        command = device.send(feedback=host.feedback)
    assert host.target.position[0] - released < 0.012, 'the leash would let it go on by 0.04'


STOPS = {
    'the host holds': lambda device: device.send(AWAY, answer(device.send(AWAY), holding=True)),
    'silence': lambda device: device.send(AWAY, dt_s=WATCHDOG_S + 0.01),
    'it was unplugged': lambda device: device.send(AWAY, tracked=False),
}


@pytest.mark.parametrize('stop', STOPS.values(), ids=STOPS)
def test_a_deflection_that_outlasts_a_stop_moves_nothing_until_the_device_was_at_rest(stop):
    device = Device()
    device.send(AWAY)
    epoch = device.run(0.3, AWAY).clutch_epoch
    stop(device)
    first = device.send(AWAY)
    last = device.run(0.5, AWAY)
    assert first.clutch_epoch == last.clutch_epoch == epoch
    np.testing.assert_array_equal(first.pose.position, last.pose.position)
    assert not device.run(0.1).engaged
    again = device.send(AWAY)
    assert (again.engaged, again.clutch_epoch) == (True, epoch + 1)
    assert device.run(0.2, AWAY).pose.position[0] > 0.03


@pytest.mark.parametrize('stop', STOPS.values(), ids=STOPS)
def test_a_fresh_press_of_its_clutch_moves_it_again(stop):
    device = Device()
    device.send(AWAY)
    epoch = device.run(0.3, AWAY).clutch_epoch
    stop(device)
    again = device.send(AWAY, clutch_epoch=1)
    assert (again.engaged, again.clutch_epoch) == (True, epoch + 1)
    assert device.run(0.2, AWAY, clutch_epoch=1).pose.position[0] > 0.03


def test_a_press_whose_release_was_lost_is_an_epoch_of_its_own():
    device = Device()
    device.send(AWAY)
    epoch = device.run(0.3, AWAY).clutch_epoch
    again = device.send(AWAY, clutch_epoch=1)
    assert again.clutch_epoch == epoch + 1
    np.testing.assert_array_equal(again.pose.position, np.zeros(3))


@pytest.mark.parametrize('change', [{'engaged': False}, {'tracked': False}])
def test_a_clutch_that_is_let_go_or_a_device_that_is_lost_ends_the_epoch_at_once(change):
    device = Device()
    device.run(0.3, AWAY)
    command = device.send(AWAY, **change)
    assert not command.engaged
    assert command.tracked is change.get('tracked', True)
    assert math.isnan(command.gripper)


def test_the_host_is_told_of_a_deflection_that_it_holds_until_the_rest():
    device = Device()
    held = answer(device.run(0.3, AWAY), holding=True)
    for _ in range(40):
        command = device.send(AWAY, held)
        assert (command.engaged, command.clutch_epoch) == (True, held.clutch_epoch)
    assert not device.send(feedback=held).engaged


def test_a_host_that_brakes_before_it_takes_the_press_does_not_refuse_it():
    device = Device()
    first = device.send(AWAY)
    braking = answer(first, holding=True, waiting=True)
    device.run(0.1, AWAY, braking)
    command = device.run(0.3, AWAY)
    assert command.clutch_epoch == first.clutch_epoch
    assert command.pose.position[0] > 0.05


def test_lost_samples_make_no_jump():
    device = Device()
    device.send(AWAY)
    before = device.run(0.1, AWAY)
    after = device.send(AWAY, dt_s=WATCHDOG_S - 0.01)
    assert after.pose.position[0] - before.pose.position[0] <= 0.2 * LONGEST_STEP_S + 1e-9


deflections = st.lists(st.sampled_from([0.0, 0.0, 0.05, 0.5, -0.5, 1.0, -1.0, math.nan]), min_size=6, max_size=6)
steps = st.lists(
    st.tuples(
        deflections,
        st.sampled_from([0.0, 0.01, PERIOD_S, PERIOD_S, 0.1, 0.19, 0.3, 0.9]),
        st.sampled_from([{}, {}, {}, {'engaged': False}, {'tracked': False}, {'clutch_epoch': 1}, {'buttons': 3}]),
        st.booleans(),
    ),
    max_size=60,
)


@settings(deadline=None)
@given(steps)
def test_no_stream_of_samples_jumps_or_runs_away_from_its_host(stream):
    device, host = Device(), Host()
    previous = device.send()
    for axes, dt_s, changes, heard in stream:
        command = device.send(axes, host.feedback if heard else None, dt_s=dt_s, **changes)
        assert command is not None
        assert np.linalg.norm(command.pose.quat_xyzw) == pytest.approx(1.0)
        if command.engaged and command.clutch_epoch == previous.clutch_epoch and previous.engaged:
            step = np.linalg.norm(command.pose.position - previous.pose.position)
            assert step <= 0.2 * LONGEST_STEP_S + 0.04 + 1e-9
            if not heard:
                assert step <= 0.2 * min(dt_s, LONGEST_STEP_S) + 1e-9
                turn = angle_between(command.pose.quat_xyzw, previous.pose.quat_xyzw)
                assert turn <= min(dt_s, LONGEST_STEP_S) + 1e-6
        elif command.engaged:
            np.testing.assert_array_equal(command.pose.position, np.zeros(3))
        if heard and command.engaged and command.clutch_epoch == host.epoch:
            assert np.linalg.norm(host.lead(command)) <= 0.04 + 1e-9
        host.tick(command, dt_s)
        assert np.abs(host.target.position).max() <= host.reach + 1e-9
        previous = command


@settings(deadline=None)
@given(steps)
def test_what_does_not_move_the_device_does_not_move_the_command(stream):
    """Only a deflection of this very sample adds motion: whatever came before, a rest adds none."""
    device = Device()
    device.send()
    for axes, dt_s, changes, _ in stream:
        device.send(axes, dt_s=dt_s, **changes)
        before = device.send(dt_s=0.0)
        after = device.send(dt_s=0.05)
        if before.engaged and after.engaged:
            np.testing.assert_array_equal(before.pose.position, after.pose.position)
            np.testing.assert_array_equal(before.pose.quat_xyzw, after.pose.quat_xyzw)


def test_the_motion_is_turned_about_the_base_frame_s_axes():
    device = Device(view_yaw_deg=90.0)
    device.fields['reference'] = Reference.VIEW
    roll = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0)
    device.send(roll)
    wanted = rotate(quaternion((0.0, 0.0, math.pi / 2)), (0.5, 0.0, 0.0))
    assert np.allclose(rotation_vector(device.run(0.5, roll).pose.quat_xyzw), wanted)
