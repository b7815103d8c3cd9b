import numpy as np
import pytest

from cobalt_teleop.core.command import Limit
from cobalt_teleop.core.pose import Pose, multiply, quaternion
from cobalt_teleop.core.tool_motion import ToolMotion, broken_limits, into_box
from cobalt_teleop.workcell_host.ideal_plant import gantry_limits

PERIOD_S = 0.05
LIMITS = gantry_limits()
HERE = Pose(np.array([0.1, -0.2, 0.3]), quaternion([0.3, -0.2, 0.1]))


def going(velocity, turning=(0.0, 0.0, 0.0), pose=HERE):
    return ToolMotion(pose, np.array(velocity, float), np.array(turning, float))


def moved(way, turn=(0.0, 0.0, 0.0)):
    return Pose(HERE.position + np.array(way), multiply(quaternion(turn), HERE.quat_xyzw))


def test_a_motion_is_the_way_and_the_turn_of_its_tick():
    after = ToolMotion(HERE).to(moved([0.01, 0.0, -0.005], [0.0, 0.02, 0.0]), PERIOD_S)
    assert after.velocity == pytest.approx([0.2, 0.0, -0.1])
    assert after.turning == pytest.approx([0.0, 0.4, 0.0])


def test_its_quaternions_keep_their_sign():
    flipped = Pose(HERE.position, -HERE.quat_xyzw)
    after = ToolMotion(HERE).to(flipped, PERIOD_S)
    assert after.pose.quat_xyzw == pytest.approx(HERE.quat_xyzw)
    assert after.turning == pytest.approx(np.zeros(3), abs=1e-9)


@pytest.mark.parametrize(
    ('before', 'after', 'broken'),
    [
        (going([0.0, 0.0, 0.0]), going([0.09, 0.0, 0.0]), Limit.NONE),
        (going([0.0, 0.0, 0.0]), going([0.11, 0.0, 0.0]), Limit.LINEAR_ACCELERATION),
        (going([0.2, 0.0, 0.0]), going([0.26, 0.0, 0.0]), Limit.LINEAR_SPEED),
        (going([0.06, 0.0, 0.0]), going([-0.06, 0.0, 0.0]), Limit.LINEAR_ACCELERATION),
        (going([0.0] * 3, [0.9, 0.0, 0.0]), going([0.0] * 3, [1.01, 0.0, 0.0]), Limit.ANGULAR_SPEED),
        (going([0.0] * 3, [0.0, 0.0, 0.2]), going([0.0] * 3, [0.0, 0.0, -0.21]), Limit.ANGULAR_ACCELERATION),
    ],
)
def test_it_tells_which_limit_a_tick_would_break(before, after, broken):
    assert broken_limits(before, after, LIMITS, PERIOD_S) is broken


def test_to_leave_the_box_breaks_it_but_to_come_nearer_from_outside_does_not():
    def at(x):
        return ToolMotion(Pose(np.array([x, 0.0, 0.2])))

    assert broken_limits(at(0.4995), at(0.5005), LIMITS, PERIOD_S) is Limit.WORKSPACE_BOX
    assert broken_limits(at(0.6), at(0.601), LIMITS, PERIOD_S) is Limit.WORKSPACE_BOX
    assert broken_limits(at(0.6), at(0.599), LIMITS, PERIOD_S) is Limit.NONE


def test_what_is_far_is_brought_to_the_wall_or_to_where_the_tool_is_beyond_it():
    far = np.array([2.0, 0.0, 0.2])
    assert into_box(far, HERE.position, LIMITS) == pytest.approx([0.5, 0.0, 0.2])
    assert into_box(far, np.array([0.55, 0.0, 0.2]), LIMITS) == pytest.approx([0.55, 0.0, 0.2])
