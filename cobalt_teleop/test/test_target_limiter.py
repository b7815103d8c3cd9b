import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cobalt_teleop.core.command import Limit
from cobalt_teleop.core.pose import Pose, angle_between, quaternion
from cobalt_teleop.core.target_limiter import TargetLimiter
from cobalt_teleop.core.tool_motion import ToolMotion
from cobalt_teleop.workcell_host.ideal_plant import gantry_limits

PERIOD_S = 0.05
LIMITS = gantry_limits()


def started():
    limiter = TargetLimiter(LIMITS, PERIOD_S)
    limiter.start_from(Pose(np.array([0.0, 0.0, 0.2])))
    return limiter


def test_it_reaches_the_wanted_pose_without_overshoot():
    limiter = started()
    wanted = Pose(np.array([0.2, 0.0, 0.2]), quaternion([0.0, 0.0, 0.6]))
    places = []
    for _ in range(40):
        limiter.towards(wanted)
        places.append(limiter.target.position[0])
    assert places[-1] == pytest.approx(0.2, abs=1e-6)
    assert max(places) <= 0.2 + 1e-3
    assert angle_between(limiter.target.quat_xyzw, wanted.quat_xyzw) < 1e-6


def test_each_limit_says_its_name():
    limiter = started()
    far = Pose(np.array([0.9, 0.0, 0.2]), quaternion([0.0, 0.0, 2.0]))
    named = Limit.NONE
    for _ in range(10):
        named |= limiter.towards(far)
    for limit in (Limit.WORKSPACE_BOX, Limit.LINEAR_SPEED, Limit.LINEAR_ACCELERATION, Limit.ANGULAR_SPEED):
        assert limit in named


def test_a_tool_outside_the_box_is_not_thrown_back():
    limiter = started()
    outside = Pose(np.array([0.7, 0.0, 0.2]))
    limiter.start_from(outside)
    limiter.towards(Pose(np.array([0.9, 0.0, 0.2])))
    assert limiter.target.position == pytest.approx(outside.position)


def test_it_goes_on_from_where_the_joints_let_it_get_to():
    limiter = started()
    far = Pose(np.array([0.4, 0.0, 0.2]))
    limiter.towards(far)
    held_back = ToolMotion(Pose(np.array([0.001, 0.0, 0.2])), np.array([0.02, 0.0, 0.0]))
    limiter.accept(held_back)
    assert limiter.target is held_back.pose
    limiter.towards(far)
    assert limiter.motion.velocity[0] == pytest.approx(0.02 + LIMITS.linear_acceleration * PERIOD_S)


@pytest.mark.parametrize('share', [0.3, 0.5])
def test_joints_that_speed_up_slowly_are_given_room_to_brake(share):
    limiter = started()
    wanted = Pose(np.array([0.1, 0.0, 0.2]))
    places = []
    for _ in range(60):
        before = limiter.motion
        limiter.towards(wanted)
        asked = limiter.motion.velocity - before.velocity
        largest = share * LIMITS.linear_acceleration * PERIOD_S
        slow = bool(np.linalg.norm(asked) > largest + 1e-9)
        change = asked * (largest / np.linalg.norm(asked)) if slow else asked
        place = Pose(before.pose.position + (before.velocity + change) * PERIOD_S, limiter.target.quat_xyzw)
        limiter.accept(before.to(place, PERIOD_S), joints_were_slow=slow)
        places.append(limiter.target.position[0])
    assert max(places) < 0.1 * 1.03
    assert places[-1] == pytest.approx(0.1, abs=1e-6)


places = st.tuples(*[st.floats(-2.0, 2.0)] * 3)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(places, places), min_size=1, max_size=30))
def test_no_sequence_leaves_box_or_limits(steps):
    limiter = started()
    velocity = np.zeros(3)
    for step in steps:
        before = limiter.target
        limiter.towards(Pose(np.array(step[0]), quaternion(step[1])))
        after = limiter.target
        assert np.all(after.position >= LIMITS.workspace_min - 1e-9)
        assert np.all(after.position <= LIMITS.workspace_max + 1e-9)
        new_velocity = (after.position - before.position) / PERIOD_S
        assert np.linalg.norm(new_velocity) <= LIMITS.linear_speed + 1e-6
        assert angle_between(before.quat_xyzw, after.quat_xyzw) / PERIOD_S <= LIMITS.angular_speed + 1e-6
        inside = np.all(after.position > LIMITS.workspace_min) and np.all(after.position < LIMITS.workspace_max)
        if inside:
            assert np.linalg.norm(new_velocity - velocity) / PERIOD_S <= LIMITS.linear_acceleration + 1e-6
        velocity = new_velocity


@pytest.mark.parametrize('yaw', [0.0, 0.4])
def test_it_foretells_the_way_to_a_pose_that_stays_and_never_more(yaw):
    limiter = started()
    wanted = Pose(np.array([0.1, 0.05, 0.2]), quaternion([0.0, 0.0, yaw]))
    ways = [0.0]
    slowing = []
    for _ in range(30):
        share, before = limiter.share_towards(wanted), limiter.target.position
        limiter.towards(wanted)
        came = float(np.linalg.norm(limiter.target.position - before))
        assert ways[-1] * share <= came + 1e-9
        if 0.0 < came < ways[-1]:
            slowing.append((ways[-1] * share, came))
        ways.append(came)
    assert len(slowing) > 2
    if not yaw:
        assert all(told == pytest.approx(came, abs=1e-3) for told, came in slowing)


def test_an_even_twist_is_foretold_to_go_on():
    limiter = started()
    twist = np.array([0.2, 0.0, 0.0, 0.0, 0.0, 0.0])
    for _ in range(20):
        limiter.along(twist)
    assert limiter.share_along(twist) == pytest.approx(1.0)
    assert limiter.share_along(np.zeros(6)) < 0.6


def test_a_still_tool_next_to_a_wall_stays_there():
    limiter = started()
    beside = Pose(np.array([0.49995, 0.0, 0.2]))
    limiter.start_from(beside)
    limiter.towards(beside)
    assert np.array_equal(limiter.target.position, beside.position)


def test_it_keeps_clear_of_the_walls_by_less_than_a_millimetre():
    limiter = started()
    for _ in range(100):
        limiter.towards(Pose(np.array([0.9, 0.0, -0.9])))
    assert LIMITS.workspace_max[0] - 1e-3 < limiter.target.position[0] < LIMITS.workspace_max[0]
    assert LIMITS.workspace_min[2] < limiter.target.position[2] < LIMITS.workspace_min[2] + 1e-3
