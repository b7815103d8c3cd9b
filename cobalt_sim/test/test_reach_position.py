import numpy as np
import pytest

from cobalt_sim.in_process import run_expert
from cobalt_sim.mujoco_plant import PART, MujocoPlant
from cobalt_sim.render_profile import load_profile
from cobalt_sim.sim_world import SimWorld
from cobalt_sim.tasks import load_task
from cobalt_sim.tasks.reach_position import BALL, RADIUS, ReachPositionJudge
from cobalt_sim.tasks.task import SceneState
from cobalt_teleop.core.pose import Pose

PLACE = np.array([0.5, 0.1, 0.2])


@pytest.fixture(scope='module')
def plant(robot):
    return MujocoPlant(SimWorld(robot, load_task('reach_position'), [], load_profile('fast')))


def state(time, distance):
    return SceneState(
        time=time,
        tool=Pose(PLACE + np.array([0.0, distance, 0.0])),
        gripper=1.0,
        objects={BALL: Pose(PLACE)},
        held=frozenset(),
    )


def judged(judge, distance, start, seconds):
    return [judge.judge(state(start + tick * 0.05, distance)) for tick in range(round(seconds / 0.05) + 1)][-1]


def test_a_second_in_the_ball_counts():
    judge = ReachPositionJudge()
    assert not judged(judge, 0.9 * RADIUS, 0.0, 0.95).success
    progress = judge.judge(state(1.0, 0.9 * RADIUS))
    assert progress.success
    assert progress.stage == progress.reward == 1.0


def test_beside_the_ball_does_not_count_however_long():
    assert not judged(ReachPositionJudge(), 1.1 * RADIUS, 0.0, 5.0).success


def test_passing_through_it_does_not_count_and_the_second_starts_anew():
    judge = ReachPositionJudge()
    judged(judge, 0.0, 0.0, 0.9)
    assert not judge.judge(state(0.95, 0.05)).success
    assert not judged(judge, 0.0, 1.0, 0.95).success
    assert judge.judge(state(2.0, 0.0)).success


def test_the_stage_grows_along_the_way():
    judge = ReachPositionJudge()
    stages = [
        judge.judge(state(tick * 0.05, distance)).stage for tick, distance in enumerate((0.5, 0.3, 0.1, 0.0, 0.0))
    ]
    assert stages == sorted(set(stages))
    assert stages[-1] < 1.0


def test_the_ball_hangs_where_its_seed_puts_it_and_nothing_moves_it(plant, robot):
    places = []
    for seed in range(30):
        plant.reset('reach_position', seed)
        places.append(plant.observe().objects[BALL].position)
    assert len({tuple(place) for place in places}) == 30
    limits = robot.limits
    assert all((limits.workspace_min < place).all() and (place < limits.workspace_max).all() for place in places)
    for _ in range(20):
        plant.advance()
    assert np.array_equal(plant.observe().objects[BALL].position, places[-1])


def test_the_arm_passes_through_the_ball(plant):
    tool = plant.observe().parts[PART].pose.position
    plant.data.mocap_pos[0] = tool
    for _ in range(25):
        plant.advance()
    assert plant.data.ncon == 0
    assert plant.progress().success


def test_the_expert_reaches_every_ball(plant):
    times = [run_expert(plant, seed, limit_s=30.0) for seed in range(20)]
    assert None not in times
    assert max(times) < 10.0
