"""A simulated arm that is reached as hardware: it stops by itself where a real one would."""

import numpy as np
import pytest

from cobalt_sim.hardware.mujoco_arm import MujocoArm
from cobalt_sim.mujoco_plant import MujocoPlant
from cobalt_sim.render_profile import load_profile
from cobalt_sim.sim_world import SimWorld
from cobalt_sim.tasks import load_task
from cobalt_teleop.kinematics.robot_description import load_robot

ROBOT = load_robot('franka_panda')
HOME = np.array(ROBOT.home)


@pytest.fixture(scope='module')
def world():
    return SimWorld(ROBOT, load_task('lift'), [], load_profile('fast'), tick_s=0.002)


@pytest.fixture
def make(world):
    return lambda **options: MujocoArm(MujocoPlant(world), **options)


def drive(arm, goal, steps=500):
    for step in range(1, steps + 1):
        arm.command(HOME + (goal - HOME) * min(1.0, 2.0 * step / steps))
        arm.step()


def test_it_follows_set_points_of_its_own_clock(make):
    arm = make()
    drive(arm, HOME + 0.1)
    assert np.abs(arm.measure().joints - HOME - 0.1).max() < 0.01 and not arm.fault


def test_commands_take_effect_after_the_latency(make):
    prompt, late = make(latency_steps=1), make(latency_steps=100)
    for arm in (prompt, late):
        drive(arm, HOME + 0.1, steps=80)
    assert np.abs(prompt.measure().joints - HOME).max() > 0.03
    assert np.abs(late.measure().joints - HOME).max() < 0.005


@pytest.mark.parametrize(
    ('joints', 'words'),
    [
        (HOME + 0.5, 'jumped'),
        (HOME * np.nan, 'no posture'),
        (HOME[:3], 'no posture'),
        (HOME + np.array([0.0, 0.0, 0.0, 2.3, 0.0, 0.0, 0.0]), "beyond a joint's range"),
    ],
)
def test_a_command_that_no_arm_would_take_stops_it_until_it_is_made_ready(make, joints, words):
    arm = make()
    arm.command(joints)
    arm.step()
    arm.step()
    assert words in arm.fault
    before = arm.measure().joints
    drive(arm, HOME + 0.1, steps=100)
    assert np.abs(arm.measure().joints - before).max() < 1e-3
    arm.recover()
    drive(arm, HOME + 0.1)
    assert not arm.fault and np.abs(arm.measure().joints - HOME - 0.1).max() < 0.01


def test_encoders_have_an_offset_and_noise(make):
    arm = make(encoder_offset_rad=0.02, noise_rad=0.001)
    told = np.array([arm.measure().joints for _ in range(200)])
    assert told.mean(axis=0) == pytest.approx(HOME + 0.02, abs=5e-4)
    assert told.std(axis=0) == pytest.approx(np.full(7, 0.001), rel=0.3)
