import shutil

import numpy as np
import pytest
import yaml

from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.kinematics.robot_description import ROBOTS, load_robot, robot_names


@pytest.fixture
def edited(tmp_path):
    """Writes a changed copy of the Panda's description beside its model."""
    folder = tmp_path / 'my_arm'
    shutil.copytree(ROBOTS / 'franka_panda', folder)

    def edit(change):
        path = folder / 'robot.yaml'
        data = yaml.safe_load(path.read_text())
        change(data)
        path.write_text(yaml.safe_dump(data))
        return path

    return edit


@pytest.mark.parametrize('name', robot_names())
def test_every_robot_that_comes_along_is_sound(name):
    robot = load_robot(name)
    limits = robot.limits
    assert len(robot.joints) == len(robot.actuators) == len(robot.home)
    assert len(robot.joints) == len(limits.joint_speed) == len(limits.joint_acceleration)
    lower, upper = limits.joint_bounds(robot.home)
    assert (lower < robot.home).all()
    assert (robot.home < upper).all()
    assert (limits.workspace_min < limits.workspace_max).all()
    assert (robot.model_path.parent / 'LICENSE').is_file()


def test_the_panda_is_small():
    files = [
        path for path in (ROBOTS / 'franka_panda').rglob('*') if path.is_file() and '__pycache__' not in path.parts
    ]
    assert sum(path.stat().st_size for path in files) < 1_000_000


def test_it_is_found_by_name_folder_and_file():
    by_name = load_robot('franka_panda')
    assert load_robot(ROBOTS / 'franka_panda') is by_name
    assert load_robot(ROBOTS / 'franka_panda' / 'robot.yaml') is by_name


def test_joint_ranges_come_from_the_model():
    limits = load_robot('franka_panda').limits
    assert limits.joint_lower[3] == pytest.approx(-3.0718)
    assert limits.joint_upper[3] == pytest.approx(-0.0698)


def test_the_panda_s_joints_are_slower_than_its_maker_allows():
    limits = load_robot('franka_panda').limits
    assert (limits.joint_speed < [2.175, 2.175, 2.175, 2.175, 2.61, 2.61, 2.61]).all()
    assert (limits.joint_acceleration < [15.0, 7.5, 10.0, 12.5, 15.0, 20.0, 20.0]).all()


def test_the_gripper_maps_both_ways():
    gripper = load_robot('franka_panda').gripper
    assert gripper.opening(gripper.joint_closed) == 0.0
    assert gripper.opening(gripper.joint_open) == 1.0
    assert gripper.opening(gripper.joint_closed + 1.0) == 0.0
    assert gripper.control(0.0) == gripper.actuator_closed
    assert gripper.control(1.0) == gripper.actuator_open
    assert gripper.control(7.0) == gripper.actuator_open


def test_an_unknown_robot_is_refused_with_the_known_ones():
    with pytest.raises(CobaltError, match="no robot 'fly'; known are franka_panda"):
        load_robot('fly')
    with pytest.raises(CobaltError, match='no robot'):
        load_robot('/nowhere/robot.yaml')


def test_a_copy_elsewhere_reads_the_same(edited):
    robot = load_robot(edited(lambda data: None))
    assert robot.name == 'my_arm'
    assert np.array_equal(robot.home, load_robot('franka_panda').home)


@pytest.mark.parametrize(
    ('change', 'sentence'),
    [
        (lambda data: data.update(colour='red'), "unknown key 'colour'; valid are .*home"),
        (lambda data: data.pop('home'), "lacks the key 'home'"),
        (lambda data: data['limits'].pop('linear_speed'), "section 'limits', lacks the key 'linear_speed'"),
        (lambda data: data['gripper'].update(force=3), "section 'gripper', has an unknown key 'force'"),
        (lambda data: data.update(tool_site='hook'), "names the site 'hook', but franka_panda.xml has tool"),
        (lambda data: data.update(base_body='root'), "names the body 'root', but franka_panda.xml has .*link0"),
        (lambda data: data['joints'].__setitem__(0, 'hip'), "names the joint 'hip', but .*joint1"),
        (lambda data: data['actuators'].pop(), '7 joints, but 6 actuators'),
        (lambda data: data.update(home=[0.0, 1.0]), "'home' must have 7 numbers"),
        (lambda data: data.update(model='gone.xml'), "names the model 'gone.xml', but .* does not exist"),
        (lambda data: data['limits'].update(linear_speed='fast'), 'value of the wrong kind'),
        (lambda data: data['limits'].pop('joint_acceleration'), "lacks the key 'joint_acceleration'"),
        (lambda data: data['limits'].update(joint_acceleration=[1.0]), "'joint_acceleration' must have 7 numbers"),
        (
            lambda data: data['limits'].update(angular_speed=0.0),
            "robot.yaml: the limit 'angular_speed' must be above 0",
        ),
        (
            lambda data: data['limits'].update(joint_margin=1.6),
            "robot.yaml: the limit 'joint_margin' must be 0 or more",
        ),
    ],
)
def test_a_wrong_description_is_refused_in_a_sentence(edited, change, sentence):
    with pytest.raises(CobaltError, match=sentence):
        load_robot(edited(change))


def test_a_file_that_is_no_yaml_is_refused(tmp_path):
    path = tmp_path / 'robot.yaml'
    path.write_text('joints: [')
    with pytest.raises(CobaltError, match='cannot be read'):
        load_robot(path)


def test_a_description_that_is_no_table_is_refused(tmp_path):
    path = tmp_path / 'robot.yaml'
    path.write_text('- a\n- b\n')
    with pytest.raises(CobaltError, match='must be a table'):
        load_robot(path)
