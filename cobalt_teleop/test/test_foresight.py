import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cobalt_teleop.core.foresight import Foresight
from cobalt_teleop.core.pose import Pose, angle_between, multiply, quaternion, rotation_vector


def foreseen_after(places, yaws=None):
    """Returns the pose expected after poses at (x, 0, 0) [m] with yaws [rad], and the last of them."""
    foresight = Foresight()
    poses = [
        Pose(np.array([x, 0.0, 0.0]), quaternion([0.0, 0.0, yaw]))
        for x, yaw in zip(places, yaws or [0.0] * len(places), strict=True)
    ]
    foresight.start_from(poses[0])
    for pose in poses[1:]:
        ahead = foresight.after(pose)
    return ahead, poses[-1]


def test_an_even_motion_goes_on():
    ahead, last = foreseen_after([0.0, 0.01, 0.02], [0.0, 0.1, 0.2])
    assert ahead.position[0] - last.position[0] == pytest.approx(0.01)
    assert rotation_vector(ahead.quat_xyzw)[2] == pytest.approx(0.3)


def test_a_hand_that_slows_down_slows_down_further():
    ahead, last = foreseen_after([0.0, 0.010, 0.016])
    assert ahead.position[0] - last.position[0] == pytest.approx(0.002)


@pytest.mark.parametrize(
    'places',
    [
        pytest.param([0.0, 0.0, 0.03], id='a jump from rest'),
        pytest.param([0.0, 0.01, 0.01], id='a hand that stopped'),
        pytest.param([0.0, 0.01, 0.005], id='a hand that turned back'),
        pytest.param([0.0, 0.01, 0.013], id='one that nearly stopped'),
    ],
)
def test_nothing_is_foretold_from(places):
    ahead, last = foreseen_after(places)
    assert np.array_equal(ahead.position, last.position)


def test_a_jump_in_a_motion_foretells_the_motion_alone():
    ahead, last = foreseen_after([0.0, 0.01, 0.05])
    assert ahead.position[0] - last.position[0] == pytest.approx(0.01)


def test_a_new_epoch_knows_nothing_of_the_last():
    foresight = Foresight()
    for x in (0.0, 0.01, 0.02):
        foresight.after(Pose(np.array([x, 0.0, 0.0])))
    start = Pose(np.array([0.3, 0.0, 0.0]))
    foresight.start_from(start)
    assert np.array_equal(foresight.after(start).position, start.position)


_STEP = st.lists(st.floats(-0.1, 0.1), min_size=6, max_size=6)


@settings(deadline=None)
@given(_STEP, _STEP)
def test_it_never_foretells_more_than_the_shorter_of_the_last_two_steps(first, second):
    foresight = Foresight()
    at = Pose()
    for step in (first, second):
        before = at
        at = Pose(at.position + step[:3], multiply(quaternion(step[3:]), at.quat_xyzw))
        ahead = foresight.after(at)
    shorter = min(np.linalg.norm(first[:3]), np.linalg.norm(at.position - before.position))
    assert np.linalg.norm(ahead.position - at.position) <= shorter + 1e-12
    turned = min(np.linalg.norm(first[3:]), np.linalg.norm(second[3:]))
    assert angle_between(ahead.quat_xyzw, at.quat_xyzw) <= turned + 1e-9
