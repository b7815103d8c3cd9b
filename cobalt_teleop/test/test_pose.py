import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobalt_teleop.core.pose import (
    InvalidPoseError,
    Pose,
    angle_between,
    multiply,
    quaternion,
    rotate,
    rotation_matrix,
    rotation_vector,
    slerp,
    validate_pose,
)

IDENTITY = (0.0, 0.0, 0.0, 1.0)


def test_quaternions_are_xyzw():
    quarter_turn_about_z = quaternion([0.0, 0.0, np.pi / 2])
    assert quarter_turn_about_z == pytest.approx([0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)])
    assert rotate(quarter_turn_about_z, [1.0, 0.0, 0.0]) == pytest.approx([0.0, 1.0, 0.0])


def test_the_rotation_vector_takes_the_shorter_way_round():
    assert rotation_vector(-quaternion([0.2, 0.0, 0.0])) == pytest.approx([0.2, 0.0, 0.0])


@given(st.tuples(*[st.floats(-3.0, 3.0)] * 3).filter(lambda v: np.linalg.norm(v) < 3.1))
def test_rotation_vector_and_quaternion_are_inverse(vector):
    assert rotation_vector(quaternion(vector)) == pytest.approx(np.array(vector), abs=1e-9)


@given(st.tuples(*[st.floats(-3.0, 3.0)] * 3))
def test_a_rotation_s_matrix_rotates_as_it_does(vector):
    quat = quaternion(vector)
    assert rotation_matrix(quat) @ (1.0, -2.0, 3.0) == pytest.approx(rotate(quat, (1.0, -2.0, 3.0)), abs=1e-9)


def test_a_pose_times_its_inverse_is_nothing():
    pose = Pose(np.array([1.0, -2.0, 3.0]), quaternion([0.3, 0.2, -0.9]))
    both = pose @ pose.inverse()
    assert both.position == pytest.approx(np.zeros(3), abs=1e-12)
    assert angle_between(both.quat_xyzw, IDENTITY) < 1e-9


def test_slerp_halfway_turns_half_as_far_whatever_the_sign():
    start, end = quaternion([0.0, 0.0, 0.1]), -quaternion([0.0, 0.0, 0.5])
    half = slerp(start, end, 0.5)
    assert angle_between(half, quaternion([0.0, 0.0, 0.3])) < 1e-9
    assert float(np.dot(half, start)) > 0


@pytest.mark.parametrize(
    ('position', 'quat'),
    [
        ((np.nan, 0, 0), IDENTITY),
        ((np.inf, 0, 0), IDENTITY),
        ((1e9, 0, 0), IDENTITY),
        ((0, 0, 0), (0, 0, 0, 0)),
        ((0, 0, 0), (np.nan, 0, 0, 1)),
        ((0, 0, 0), (1e200, 1e200, 0, 0)),
        ((0, 0, 0), (0, 0, 0, 2)),
        ((0, 0), IDENTITY),
        ((0, 0, 0), (0, 0, 1)),
    ],
)
def test_what_is_no_pose_is_refused(position, quat):
    with pytest.raises(InvalidPoseError):
        validate_pose(position, quat)


@given(st.lists(st.floats(width=64), min_size=7, max_size=7))
def test_validation_answers_with_a_unit_pose_or_its_error(numbers):
    try:
        pose = validate_pose(numbers[:3], numbers[3:])
    except InvalidPoseError:
        return
    assert np.isfinite(pose.position).all()
    assert np.linalg.norm(pose.quat_xyzw) == pytest.approx(1.0)


def test_multiply_applies_the_right_one_first():
    about_z, about_x = quaternion([0, 0, np.pi / 2]), quaternion([np.pi / 2, 0, 0])
    assert rotate(multiply(about_z, about_x), [0, 1, 0]) == pytest.approx([0, 0, 1])
