import numpy as np
import pytest

from cobalt_sim.goal_scene import joints_at
from cobalt_sim.mujoco_plant import PART, MujocoPlant
from cobalt_sim.render_profile import load_profile
from cobalt_sim.sim_world import SimWorld
from cobalt_sim.tasks import TASKS, load_task
from cobalt_sim.tasks.beam import BEAM, ends
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.kinematics.arm_set import load_arms


@pytest.mark.parametrize('task', [name for name in TASKS if name != 'beam'])
def test_the_goal_is_a_success_that_lasts_by_the_tasks_own_judgement(task):
    arms = load_arms('two_pandas' if len(load_task(task).parts) > 1 else 'franka_panda')
    plant = MujocoPlant(SimWorld(arms, load_task(task), [], load_profile('fast')))
    plant.show_goal()
    judged = []
    for _ in range(40):
        plant.advance()
        judged.append(plant.progress().success)
    assert all(judged[20:])
    first = arms.arms[0]
    tool = first.base @ plant.observe().parts[first.part].pose
    assert np.linalg.norm(tool.position - load_task(task).goal().tool) < 0.002, 'the arm stands'


def test_the_goal_of_a_way_is_its_end(robot):
    plant = MujocoPlant(SimWorld(robot, load_task('beam'), [], load_profile('fast')))
    plant.show_goal()
    for _ in range(20):
        plant.advance()
    state = plant.observe()
    assert np.linalg.norm(state.parts[PART].pose.position - ends(state.objects[BEAM])[1]) < 0.002


def test_the_arm_reaches_every_corner_of_its_workspace_with_the_hand_as_at_home(world, make_plants):
    (plant,) = make_plants([0])
    arm = plant.capabilities.parts[0]
    for place in (arm.limits.workspace_min + 0.02, arm.limits.workspace_max - 0.02):
        joints = joints_at(arm.kinematics, arm.home, place)
        assert np.linalg.norm(arm.kinematics.forward(joints).position - place) < 1e-3


def test_the_picture_shows_the_cube_in_the_air_and_leaves_the_running_scene_alone(seen_world):
    plant, other = MujocoPlant(seen_world, 1), MujocoPlant(seen_world, 2)
    plant.advance()
    before = plant.capture('front'), plant.data.qpos.copy(), plant.data.qvel.copy(), plant.data.time
    picture = plant.goal_picture('lift').astype(int)
    assert picture.shape == (360, 480, 3)
    assert picture.std() > 20, 'not blank'
    blue = (picture[..., 2] > 90) & (picture[..., 2] > 1.8 * picture[..., 0])
    rows, columns = np.nonzero(blue)
    assert len(rows) > 200
    assert 120 < rows.mean() < 200 and 180 < columns.mean() < 300, 'above the mat, below the hand'
    assert np.array_equal(plant.data.qpos, before[1]) and np.array_equal(plant.data.qvel, before[2])
    assert plant.data.time == before[3]
    assert np.array_equal(plant.capture('front'), before[0])
    assert other.goal_picture('lift') is plant.goal_picture('lift'), 'drawn once for all workcells'


def test_without_cameras_there_is_none_and_of_another_task_neither(make_plants):
    (plant,) = make_plants([1])
    assert plant.goal_picture('lift') is None
    with pytest.raises(CobaltError, match="runs the task 'lift', not 'stack'"):
        plant.goal_picture('stack')
