"""Who confirmed the limits of a real arm, and that changed limits are to be confirmed anew."""

from dataclasses import replace

import pytest

from cobalt_devices.arm_driver.confirmed_limits import confirm, confirmation_of, limits_table
from cobalt_teleop.bridge.door.state_folder import StateFolder
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.kinematics.robot_description import load_robot

ROBOT = load_robot('franka_panda')


@pytest.fixture
def folder(tmp_path):
    return StateFolder(str(tmp_path / 'state'))


def test_nobody_has_confirmed_a_new_arm(folder):
    assert confirmation_of(ROBOT, 'ros2_control', folder) is None


def test_who_confirmed_is_kept(folder):
    confirm(ROBOT, 'ros2_control', '  Ada   Lovelace ', folder)
    assert confirmation_of(ROBOT, 'ros2_control', folder).person == 'Ada Lovelace'


@pytest.mark.parametrize(
    'change', [{'linear_speed': 0.3}, {'following_error': 0.3}, {'workspace_max': [0.7, 0.3, 0.4]}]
)
def test_changed_limits_and_another_driver_are_to_be_confirmed_anew(folder, change):
    confirm(ROBOT, 'ros2_control', 'Ada', folder)
    assert confirmation_of(replace(ROBOT, limits=replace(ROBOT.limits, **change)), 'ros2_control', folder) is None
    assert confirmation_of(ROBOT, 'ur_rtde', folder) is None
    assert confirmation_of(ROBOT, 'ros2_control', folder) is not None


@pytest.mark.parametrize('name', ['', '   ', '\x1b[2J'])
def test_a_confirmation_needs_a_name(folder, name):
    with pytest.raises(CobaltError, match='say who confirms'):
        confirm(ROBOT, 'ros2_control', name, folder)


@pytest.mark.parametrize('content', [b'{', b'[]'])
def test_a_file_that_cannot_be_read_confirms_nothing_and_says_so(folder, content):
    folder.write('confirmed_limits.json', content)
    with pytest.raises(CobaltError, match='confirm anew'):
        confirmation_of(ROBOT, 'ros2_control', folder)


def test_the_table_tells_box_and_speeds():
    table = limits_table(ROBOT)
    assert '0.28, -0.3, 0.012 m' in table and '0.25 m/s, 1.2 rad/s' in table
