"""From poses to motion since engage: axes, scale, and what must move nothing."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobalt_devices.device_command import Feedback
from cobalt_devices.operator_axes import Reference
from cobalt_devices.pose_mapper import PoseMapper, PoseSample
from cobalt_teleop.core.pose import Pose, angle_between, multiply, quaternion, rotate, rotation_vector

numbers = st.floats(-1.0, 1.0)
vectors = st.tuples(numbers, numbers, numbers)


class Phone:
    """A phone in a hand, and its mapper."""

    def __init__(self, view_yaw_deg=0.0, **settings):
        self.mapper = PoseMapper(view_yaw_deg, None, itertools.count(1).__next__)
        self.settings = settings
        self.now_ns = 10**12
        self.epoch = 7

    def send(self, position=(0.0, 0.0, 0.0), turn=(0.0, 0.0, 0.0), *, feedback=None, **changes):
        self.now_ns += 25_000_000
        values = {
            'stamp_ns': self.now_ns,
            'pose': Pose(np.array(position, dtype=float), quaternion(turn)),
            'tracked': True,
            'engaged': True,
            'clutch_epoch': self.epoch,
        }
        return self.mapper.update(PoseSample(**{**values, **self.settings, **changes}), feedback)


def tool_at(quat_xyzw):
    return Feedback(
        clutch_epoch=None,
        command=Pose(),
        measured=Pose(np.zeros(3), quat_xyzw),
        anchor=Pose(),
        target=Pose(),
        gripper_target=1.0,
        holding=False,
    )


@given(vectors, vectors)
def test_a_press_moves_nothing_wherever_the_device_is(position, turn):
    command = Phone().send(position, turn)
    assert command.engaged and command.tracked
    assert np.allclose(command.pose.position, 0.0)
    assert angle_between(command.pose.quat_xyzw, Pose().quat_xyzw) < 1e-9


@given(vectors, vectors, vectors, vectors)
def test_the_motion_depends_on_where_it_began_in_nothing_but_its_zero(start, turn, way, more):
    phone = Phone()
    phone.send(start, turn)
    moved = phone.send(np.add(start, way), rotation_vector(multiply(quaternion(more), quaternion(turn))))
    assert np.allclose(moved.pose.position, way)
    assert angle_between(moved.pose.quat_xyzw, quaternion(more)) < 1e-6


@pytest.mark.parametrize(
    ('reference', 'yaw_deg', 'heading', 'device', 'wanted'),
    [
        (Reference.BASE, 180.0, 0.0, (1.0, 0.0, 0.0), (1.0, 0.0, 0.0)),
        (Reference.VIEW, 180.0, 0.0, (1.0, 0.0, 0.0), (-1.0, 0.0, 0.0)),
        (Reference.VIEW, 180.0, 0.0, (0.0, 1.0, 0.0), (0.0, -1.0, 0.0)),
        (Reference.VIEW, 90.0, 0.0, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
        # Who faces the device's left moves forward when he moves the device to its left.
        (Reference.BASE, 0.0, math.pi / 2, (0.0, 1.0, 0.0), (1.0, 0.0, 0.0)),
        (Reference.VIEW, 180.0, math.pi / 2, (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0)),
    ],
)
def test_forward_is_where_the_operator_looks(reference, yaw_deg, heading, device, wanted):
    phone = Phone(yaw_deg, reference=reference, heading=heading)
    phone.send()
    assert np.allclose(phone.send(device).pose.position, wanted, atol=1e-12)
    phone.send(device, device)
    turned = phone.send(device, np.multiply(device, 0.3)).pose.quat_xyzw
    assert np.allclose(rotation_vector(turned), np.multiply(wanted, 0.3), atol=1e-9)


def test_along_the_tool_forward_is_where_the_gripper_points():
    down = quaternion((math.pi, 0.0, 0.0))
    phone = Phone(reference=Reference.TOOL)
    phone.send(feedback=tool_at(down))
    assert np.allclose(phone.send((0.1, 0.0, 0.0)).pose.position, rotate(down, (0.0, 0.0, 0.1)), atol=1e-12)
    assert np.allclose(phone.send((0.0, 0.0, 0.1)).pose.position, rotate(down, (-0.1, 0.0, 0.0)), atol=1e-12)


def test_a_press_along_a_tool_that_nobody_has_seen_makes_no_command():
    phone = Phone(reference=Reference.TOOL)
    assert phone.send() is None
    assert phone.send(feedback=tool_at(Pose().quat_xyzw)).engaged


def test_scale_and_axes_are_those_of_the_press():
    phone = Phone(reference=Reference.BASE, scale=0.5)
    phone.send()
    moved = phone.send((0.2, 0.0, 0.0), scale=2.0, heading=1.0, reference=Reference.VIEW)
    assert np.allclose(moved.pose.position, (0.1, 0.0, 0.0))


def test_a_rotation_is_not_scaled():
    phone = Phone(reference=Reference.BASE, scale=0.25)
    phone.send()
    assert np.allclose(rotation_vector(phone.send(turn=(0.0, 0.0, 0.4)).pose.quat_xyzw), (0.0, 0.0, 0.4))


def test_each_press_has_a_number_of_its_own_and_starts_at_zero():
    phone = Phone()
    first = phone.send()
    phone.send((0.3, 0.0, 0.0))
    assert not phone.send((0.3, 0.0, 0.0), engaged=False).engaged
    phone.epoch += 1
    again = phone.send((0.3, 0.0, 0.0))
    assert again.clutch_epoch != first.clutch_epoch and np.allclose(again.pose.position, 0.0)


def test_a_release_that_was_lost_on_the_way_is_seen_by_the_next_press():
    phone = Phone()
    phone.send()
    phone.epoch += 1
    again = phone.send((0.3, 0.0, 0.0))
    assert again.clutch_epoch == 2 and np.allclose(again.pose.position, 0.0)


def test_an_older_sample_says_nothing_and_a_repeated_one_nothing_new():
    phone = Phone()
    phone.send()
    phone.send((0.1, 0.0, 0.0))
    assert phone.send((0.5, 0.0, 0.0), stamp_ns=phone.now_ns - 30_000_000) is None
    for _ in range(3):
        assert np.allclose(phone.send((0.1, 0.0, 0.0), stamp_ns=phone.now_ns).pose.position, (0.1, 0.0, 0.0))


def test_a_page_that_was_loaded_again_may_have_an_older_clock():
    phone = Phone()
    phone.send()
    assert phone.send(stamp_ns=5) is not None


@pytest.mark.parametrize('changes', [{'tracked': False}, {'pose': None}])
def test_lost_tracking_is_told_and_the_pose_stands(changes):
    phone = Phone()
    phone.send()
    phone.send((0.1, 0.0, 0.0))
    lost = phone.send((0.9, 0.0, 0.0), **changes)
    assert lost.engaged and not lost.tracked
    assert np.allclose(lost.pose.position, (0.1, 0.0, 0.0))


def test_the_sign_of_a_quaternion_never_flips_on_the_way_round():
    phone = Phone()
    phone.send()
    before = Pose().quat_xyzw
    for angle in np.linspace(0.0, 4 * math.pi, 80):
        now = phone.send(turn=(0.0, 0.0, float(angle))).pose.quat_xyzw
        assert float(now @ before) > 0.9
        before = now


def test_the_gripper_is_left_alone_without_the_clutch():
    phone = Phone()
    assert math.isnan(phone.send(engaged=False, gripper=0.0).gripper)
    assert phone.send(gripper=0.0).gripper == 0.0
