"""Options of drivers: from robot.yaml, overridden at the start, checked before an arm is touched."""

import pytest

from cobalt_devices.arm_driver.driver_options import given_options, read_options
from cobalt_devices.arm_driver.driver_registry import driver_names, load_driver
from cobalt_devices.drivers.ros2_control import Ros2ControlOptions
from cobalt_teleop.core.errors import CobaltError


def test_what_is_given_at_the_start_wins():
    options = given_options(
        'ros2_control', {'ros2_control': {'rate_hz': 100, 'real': True}}, ['rate_hz=250.5', 'real=no']
    )
    assert options == {'rate_hz': 250.5, 'real': 'no'}
    assert given_options('other', {'ros2_control': {'rate_hz': 100}}, ['real=false', 'n=3']) == {'real': False, 'n': 3}


@pytest.mark.parametrize(
    ('of_robot', 'overrides', 'words'),
    [({}, ['rate_hz'], 'must be name=value'), ({'ros2_control': [1]}, [], 'must be a table')],
)
def test_what_is_no_option_is_refused(of_robot, overrides, words):
    with pytest.raises(CobaltError, match=words):
        given_options('ros2_control', of_robot, overrides)


@pytest.mark.parametrize(
    ('options', 'words'),
    [
        ({'rate': 3}, "has no parameter 'rate'; it has title, real, rate_hz"),
        ({'rate_hz': 5}, 'must be in 20.0 to 1000.0'),
        ({'kind': 'velocity'}, 'must be one of forward_position'),
    ],
)
def test_a_wrong_option_is_named_with_the_valid_ones(options, words):
    with pytest.raises(CobaltError, match=words):
        read_options('ros2_control', Ros2ControlOptions, options)


def test_a_driver_that_is_not_installed_is_named_with_those_that_are():
    assert {'ros2_control', 'mujoco_hardware', 'loopback'} <= set(driver_names())
    with pytest.raises(CobaltError, match=r"no driver 'ur6'; there are .*loopback"):
        load_driver('ur6')
