import numpy as np
import pytest

from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.kinematics.arm_set import arm_set_names, load_arms
from cobalt_teleop.kinematics.robot_description import ROBOTS, load_robot


def test_one_robot_is_a_set_of_one_arm_at_the_tables_origin():
    arms = load_arms('franka_panda')
    assert arms.parts == ('arm',)
    assert arms.arms[0].robot is load_robot('franka_panda')
    assert arms.arms[0].prefix == ''
    assert not arms.arms[0].base.position.any()
    assert load_arms(ROBOTS / 'franka_panda' / 'robot.yaml').parts == ('arm',)


@pytest.mark.parametrize('name', arm_set_names())
def test_every_set_that_comes_along_is_read_by_name_folder_and_file(name):
    arms = load_arms(name)
    assert len(arms.parts) > 1
    assert load_arms(ROBOTS / name).parts == load_arms(ROBOTS / name / 'arms.yaml').parts == arms.parts


def test_two_pandas_share_room_and_the_left_one_stands_on_the_left_of_who_sits_behind():
    left, right = load_arms('two_pandas').arms
    assert (left.part, right.part) == ('left', 'right')
    apart = left.base.position - right.base.position
    limits = left.robot.limits
    assert apart[1] > 0.3
    assert apart[1] < limits.workspace_max[1] - limits.workspace_min[1] - 0.1


@pytest.mark.parametrize(
    ('text', 'sentence'),
    [
        ('title: Arms', 'must be a table with title and parts'),
        ('title: Arms\nparts: {left: {robot: franka_panda}}', "part 'left' must be a table with robot, position, yaw"),
        (
            'title: Arms\nparts: {left: {robot: franka_panda, position: [1, 2], yaw: 0}}',
            "of part 'left' must have 3 numbers",
        ),
        ('title: Arms\nparts: {left: {robot: fly, position: [0, 0, 0], yaw: 0}}', "no robot 'fly'"),
        ('title: [', 'cannot be read'),
    ],
)
def test_a_wrong_file_is_refused_in_a_sentence(tmp_path, text, sentence):
    (tmp_path / 'arms.yaml').write_text(text)
    with pytest.raises(CobaltError, match=sentence):
        load_arms(tmp_path / 'arms.yaml')


def test_a_set_of_robots_of_ones_own_is_read_relative_to_its_file(tmp_path):
    text = 'title: Mine\nparts: {left: {robot: ./panda, position: [0, 0.3, 0], yaw: 1.57}}'
    (tmp_path / 'arms.yaml').write_text(text)
    (tmp_path / 'panda').symlink_to(ROBOTS / 'franka_panda')
    (arm,) = load_arms(tmp_path).arms
    assert arm.prefix == 'left_'
    assert np.allclose(arm.base.position, (0.0, 0.3, 0.0))


def test_an_unknown_name_is_refused_with_all_known_ones():
    with pytest.raises(CobaltError, match=r"no robot 'fly'; known are franka_panda, .*two_pandas"):
        load_arms('fly')
