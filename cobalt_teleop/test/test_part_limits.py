from dataclasses import replace

import numpy as np
import pytest

from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.workcell_host.ideal_plant import gantry_limits

LIMITS = gantry_limits()
MIDDLE = np.zeros(6)


def test_targets_keep_the_margin_at_both_ends_of_a_range():
    lower, upper = LIMITS.joint_bounds(MIDDLE)
    assert lower == pytest.approx(LIMITS.joint_lower + LIMITS.joint_margin)
    assert upper == pytest.approx(LIMITS.joint_upper - LIMITS.joint_margin)


@pytest.mark.parametrize('joint', [-1.2, -0.98, 0.97, 1.1])
def test_a_joint_in_the_margin_or_outside_may_stay_or_come_nearer(joint):
    joints = MIDDLE.copy()
    joints[1] = joint
    lower, upper = LIMITS.joint_bounds(joints)
    assert min(abs(lower[1] - joint), abs(upper[1] - joint)) == 0.0
    assert upper[1] - lower[1] < 1.9 + 0.3


@pytest.mark.parametrize('name', ['linear_speed', 'angular_acceleration', 'joint_speed', 'joint_acceleration'])
@pytest.mark.parametrize('value', [0.0, -1.0, float('nan')])
def test_a_speed_that_is_none_is_refused(name, value):
    with pytest.raises(CobaltError, match=f"'{name}' must be above 0"):
        replace(LIMITS, **{name: np.full(6, value) if name.startswith('joint') else value})


@pytest.mark.parametrize('margin', [-0.1, 1.0, float('nan')])
def test_a_margin_that_leaves_nothing_is_refused(margin):
    with pytest.raises(CobaltError, match="'joint_margin' must be 0 or more"):
        replace(LIMITS, joint_margin=margin)


def test_joints_without_an_end_have_none():
    endless = replace(LIMITS, joint_lower=np.full(6, -np.inf), joint_upper=np.full(6, np.inf))
    lower, upper = endless.joint_bounds(MIDDLE)
    assert np.isinf(lower).all() and np.isinf(upper).all()
