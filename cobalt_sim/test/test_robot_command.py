import argparse
import json

import cv2
import pytest
import yaml

from cobalt_sim import robot_command
from cobalt_sim.in_process import run_expert
from cobalt_sim.mujoco_plant import MujocoPlant
from cobalt_sim.render_profile import load_profile
from cobalt_sim.sim_world import SimWorld
from cobalt_sim.tasks import load_task
from cobalt_teleop.kinematics.robot_description import ROBOTS, load_robot, robot_names

PANDA = ROBOTS / 'franka_panda'


def run(*arguments):
    parser = argparse.ArgumentParser()
    robot_command.add_parser(parser.add_subparsers())
    options = parser.parse_args(['robot', *map(str, arguments)])
    return options.func(options)


@pytest.fixture
def described(tmp_path):
    """Returns the path of the Panda's description with some of it changed."""

    def write(**changes):
        data = yaml.safe_load((PANDA / 'robot.yaml').read_text())
        for key, value in changes.items():
            if isinstance(value, dict):
                data[key].update(value)
            else:
                data[key] = value
        data['model'] = str(PANDA / data['model'])
        path = tmp_path / 'robot.yaml'
        path.write_text(yaml.safe_dump(data))
        return path

    return write


def test_the_list_has_every_arm_with_its_title(capsys):
    assert run('list') == 0
    told = capsys.readouterr().out
    assert 'franka_panda         Franka Emika Panda with Robotiq 2F-85' in told
    assert 'two_pandas           Two Franka Emika Pandas' in told


def test_several_arms_are_checked_one_after_the_other_and_drawn_together(tmp_path, capsys):
    picture = tmp_path / 'pandas.png'
    assert run('check', 'two_pandas', '--json', '--picture', picture) == 0
    assert json.loads(capsys.readouterr().out)['robot'] == 'two_pandas'
    assert cv2.imread(str(picture)).std() > 20


@pytest.mark.parametrize('name', [name for name in robot_names() if name != 'franka_panda'])
def test_every_other_arm_passes_and_lifts_a_cube(name, capsys):
    assert run('check', name) == 0, capsys.readouterr().out
    plant = MujocoPlant(SimWorld(load_robot(name), load_task('lift'), [], load_profile('fast')))
    assert run_expert(plant, 3) is not None


def test_the_panda_passes_and_is_drawn(tmp_path, capsys):
    picture = tmp_path / 'panda.png'
    assert run('check', 'franka_panda', '--json', '--picture', picture) == 0
    told = json.loads(capsys.readouterr().out)
    assert told['ok'] and [check['name'] for check in told['checks']] == [
        'joint ranges', 'home', 'posture', 'reach', 'rest', 'gripper',
    ]  # fmt: skip
    drawn = cv2.imread(str(picture))
    assert drawn.shape == (720, 960, 3) and drawn.std() > 20


@pytest.mark.parametrize(
    ('changes', 'failed', 'words'),
    [
        ({'home': [0.0, -0.1486, 0.0, -2.3562, 0.0, 3.74, 0.785]}, 'joint ranges', 'joint6 stand within 0.05 rad'),
        ({'limits': {'workspace_min': [0.5, -0.3, 0.012]}}, 'home', 'outside of the box'),
        ({'limits': {'workspace_max': [0.95, 0.3, 0.4]}}, 'reach', 'make the box smaller'),
        ({'gripper': {'joint_closed': 1.5}}, 'gripper', 'look at joint_closed'),
    ],
)
def test_what_is_wrong_fails_by_name_with_what_to_do(described, capsys, changes, failed, words):
    assert run('check', described(**changes)) == 1
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith('FAILED')]
    assert any(failed in line and words in line for line in lines), lines


def test_a_wrong_name_is_told_with_the_valid_ones(described, capsys):
    assert run('check', described(tool_site='hand')) == 2
    assert "names the site 'hand', but franka_panda.xml has" in capsys.readouterr().err
    assert run('check', 'fly') == 2
    assert 'known are franka_panda' in capsys.readouterr().err


def test_a_picture_of_another_kind_is_refused(tmp_path, capsys):
    assert run('check', 'franka_panda', '--picture', tmp_path / 'panda.xyz') == 2
    assert 'must end in .png or .jpg' in capsys.readouterr().err
