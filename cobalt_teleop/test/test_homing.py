import numpy as np
import pytest

from cobalt_teleop.core.homing import HomingPath

PERIOD_S = 0.05
SPEED, ACCELERATION = np.array([1.0, 2.0]), np.array([3.0, 2.0])


@pytest.mark.parametrize('start', [[1.0, -0.5], [0.02, 0.01], [0.0, 2.5], [0.0, 0.0]])
def test_it_arrives_at_rest_and_keeps_speed_and_acceleration(start):
    start, home = np.array(start), np.zeros(2)
    path = HomingPath(start, home, SPEED, ACCELERATION, PERIOD_S)
    joints = [start, start]
    while not path.done:
        joints.append(path.advance())
        assert len(joints) < 400
    joints += [home, home]
    velocities = np.diff(joints, axis=0) / PERIOD_S
    assert np.all(np.abs(velocities) <= SPEED + 1e-9)
    assert np.all(np.abs(np.diff(velocities, axis=0)) / PERIOD_S <= ACCELERATION + 1e-9)
    assert np.array_equal(joints[-3], home)
