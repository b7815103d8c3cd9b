"""A workcell with two arms."""

import numpy as np
import pytest

from cobalt_sim.in_process import run_expert
from cobalt_sim.mujoco_plant import MujocoPlant
from cobalt_sim.render_profile import load_profile
from cobalt_sim.scene import camera_models
from cobalt_sim.sim_world import SimWorld
from cobalt_sim.tasks import load_task
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.kinematics.arm_set import load_arms
from cobalt_teleop.workcell_host.plant import PartAction

ARMS = load_arms('two_pandas')


@pytest.fixture(scope='module', params=['two_arm_lift', 'two_arm_handover'])
def plant(request):
    return MujocoPlant(SimWorld(ARMS, load_task(request.param), [], load_profile('fast')))


def test_the_experts_solve_fresh_starts(plant):
    task = load_task(plant.capabilities.tasks[0])
    assert all(run_expert(plant, seed, limit_s=task.info.time_limit_s / 3.0) is not None for seed in (3000,))


def test_starts_are_at_rest(plant):
    plant.reset(plant.capabilities.tasks[0], 3)
    before = plant.observe().objects
    for _ in range(20):
        plant.advance()
    for name, pose in plant.observe().objects.items():
        assert np.linalg.norm(pose.position - before[name].position) < 0.002, name


def test_each_part_moves_by_its_own_action_and_a_stop_holds_both(plant):
    plant.reset(plant.capabilities.tasks[0], 0)
    assert [part.name for part in plant.capabilities.parts] == ['left', 'right']
    home = plant.capabilities.parts[0].home
    before = plant.observe().parts
    for _ in range(20):
        plant.apply({'right': PartAction(joint_targets=home + 0.1, gripper_target=0.0)})
        plant.advance()
    after = plant.observe().parts
    assert np.abs(after['left'].joint_positions - before['left'].joint_positions).max() < 1e-3
    assert np.abs(after['right'].joint_positions - home - 0.1).max() < 5e-3
    assert after['left'].gripper > 0.9 and after['right'].gripper < 0.1
    plant.stop()
    for _ in range(20):
        plant.advance()
    assert np.abs(plant.observe().parts['right'].joint_velocities).max() < 1e-2


def test_objects_are_told_in_the_first_parts_frame_and_tools_each_in_its_own(plant):
    plant.reset(plant.capabilities.tasks[0], 0)
    state = plant.observe()
    assert np.allclose(state.parts['left'].pose.position, state.parts['right'].pose.position, atol=1e-6)
    name = plant.capabilities.objects[0]
    apart = plant.objects_seen_by('right')[name].position - plant.objects_seen_by('left')[name].position
    assert np.allclose(apart, ARMS.arms[0].base.position - ARMS.arms[1].base.position)
    assert np.allclose(plant.objects_seen_by('left')[name].position, state.objects[name].position)


def test_every_arm_has_its_wrist_camera():
    models = camera_models(ARMS, ('front', 'wrist'), width=64, height=48, rate_hz=20.0)
    assert [(model.name, model.carried_by) for model in models] == [
        ('front', ''),
        ('left_wrist', 'left'),
        ('right_wrist', 'right'),
    ]
    with pytest.raises(CobaltError, match="no camera 'top'; this scene has front, left_wrist, right_wrist"):
        camera_models(ARMS, ('top',), width=64, height=48, rate_hz=20.0)
    world = SimWorld(ARMS, load_task('two_arm_lift'), models, load_profile('fast'))
    plant = MujocoPlant(world)
    pictures = [plant.capture(name).astype(int) for name in ('left_wrist', 'right_wrist')]
    world.close_thread()
    assert np.abs(pictures[0] - pictures[1]).mean() > 5.0


@pytest.mark.parametrize(
    ('robot', 'task', 'sentence'),
    [
        (
            'two_pandas',
            'lift',
            "'lift' is for the parts arm, but two_pandas has left and right; try robot:=franka_panda",
        ),
        ('ur5e', 'two_arm_lift', 'is for the parts left and right, but ur5e has arm; try robot:=two_pandas'),
    ],
)
def test_a_task_for_other_arms_is_refused_in_a_sentence(robot, task, sentence):
    with pytest.raises(CobaltError, match=sentence):
        SimWorld(load_arms(robot), load_task(task), [], load_profile('fast'))
