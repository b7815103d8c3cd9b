import mujoco
import numpy as np
import pytest

from cobalt_sim.mujoco_plant import MujocoPlant
from cobalt_sim.render_profile import load_profile
from cobalt_sim.sim_world import SimWorld
from cobalt_sim.tasks import load_task
from cobalt_sim.tasks.stack import BLUE, BLUE_HALF, YELLOW, YELLOW_HALF, StackJudge
from cobalt_sim.tasks.task import SceneState
from cobalt_teleop.core.pose import Pose, quaternion

ON_TOP = np.array([0.5, 0.0, 2 * YELLOW_HALF + BLUE_HALF])


def above(height):
    return ON_TOP + np.array([0.0, 0.0, height])


def beside(shift):
    return ON_TOP + np.array([shift, 0.0, 0.0])


@pytest.fixture(scope='module')
def plant(robot):
    return MujocoPlant(SimWorld(robot, load_task('stack'), [], load_profile('fast')))


def state(
    time, blue=ON_TOP, *, turn=(0.0, 0.0, 0.0), yellow_height=YELLOW_HALF, held=(), touched=(), tool=(0.5, 0, 0.3)
):
    return SceneState(
        time=time,
        tool=Pose(np.array(tool, float)),
        gripper=1.0,
        objects={
            BLUE: Pose(np.array(blue, float), quaternion(turn)),
            YELLOW: Pose(np.array([0.5, 0.0, yellow_height])),
        },
        held=frozenset(held),
        touched=frozenset(touched) | frozenset(held),
    )


def judged(seconds=2.0, **how):
    """Returns the last progress of a state that lasts."""
    judge = StackJudge()
    return [judge.judge(state(tick * 0.05, **how)) for tick in range(round(seconds / 0.05) + 1)][-1]


def test_it_counts_once_the_blue_cube_has_stood_for_half_a_second():
    assert not judged(0.45).success
    progress = judged(0.5)
    assert progress.success
    assert progress.stage == progress.reward == 1.0


@pytest.mark.parametrize('turn', [(0.0, 0.0, 0.7), (np.pi / 2, 0.0, 0.0), (0.0, np.pi, 0.0)])
def test_whichever_way_the_blue_cube_is_turned(turn):
    assert judged(turn=turn).success


@pytest.mark.parametrize(
    'how',
    [
        pytest.param({'held': [BLUE]}, id='still in the hand'),
        pytest.param({'touched': [BLUE]}, id='leaning on the hand'),
        pytest.param({'touched': [YELLOW]}, id='the yellow one leaning on the hand'),
        pytest.param({'blue': above(0.006)}, id='hanging over it'),
        pytest.param({'blue': [0.6, 0.0, BLUE_HALF]}, id='on the table'),
        pytest.param({'blue': [0.5 + YELLOW_HALF + BLUE_HALF, 0.0, BLUE_HALF]}, id='beside it'),
        pytest.param({'blue': beside(0.024)}, id='over its edge'),
        pytest.param({'turn': (0.3, 0.0, 0.0)}, id='tilted'),
        pytest.param({'blue': above(0.1), 'yellow_height': YELLOW_HALF + 0.1}, id='both in the air'),
        pytest.param(
            {'blue': [0.5, 0.0, BLUE_HALF], 'yellow_height': 2 * BLUE_HALF + YELLOW_HALF}, id='yellow on blue'
        ),
    ],
)
def test_it_does_not_count(how):
    progress = judged(**how)
    assert not progress.success
    assert progress.reward == 0.0
    assert progress.stage < 1.0


def test_the_half_second_starts_anew_after_a_touch_or_a_shift():
    judge = StackJudge()
    for tick in range(10):
        assert not judge.judge(state(tick * 0.05)).success
    judge.judge(state(0.5, touched=[BLUE]))
    assert not judge.judge(state(0.55)).success
    for tick in range(12, 21):
        assert not judge.judge(state(tick * 0.05)).success
    assert not judge.judge(state(1.05, blue=beside(0.004))).success
    assert not judge.judge(state(1.5, blue=beside(0.004))).success
    assert judge.judge(state(1.55, blue=beside(0.004))).success


def test_the_stage_grows_along_the_way():
    stages = [
        StackJudge().judge(state(0.0, **how)).stage
        for how in (
            {'blue': [0.6, 0.1, BLUE_HALF], 'tool': (0.4, -0.1, 0.3)},
            {'blue': [0.6, 0.1, BLUE_HALF], 'tool': (0.6, 0.1, 0.05)},
            {'blue': [0.6, 0.1, BLUE_HALF], 'held': [BLUE]},
            {'blue': [0.5, 0.0, 0.15], 'held': [BLUE]},
            {'held': [BLUE]},
            {},
        )
    ]
    assert stages == sorted(set(stages))
    assert stages[0] >= 0.0 and stages[-1] < 1.0


def test_a_cube_put_there_without_a_hand_counts_and_one_that_falls_through_does_not(plant):
    plant.reset('stack', 1)
    yellow = plant.observe().objects[YELLOW].position
    at = plant._world.indices.object_qpos[BLUE]
    plant.data.qpos[at : at + 3] = yellow + np.array([0.0, 0.0, YELLOW_HALF + BLUE_HALF + 0.002])
    mujoco.mj_forward(plant._world.model, plant.data)
    for _ in range(20):
        plant.advance()
    assert plant.progress().success
    plant.reset('stack', 1)
    assert not plant.progress().success
    plant.data.qpos[at : at + 3] = yellow + np.array([0.03, 0.0, YELLOW_HALF + BLUE_HALF + 0.01])
    for _ in range(40):
        plant.advance()
        assert not plant.progress().success


def test_the_cubes_begin_apart_flat_and_within_reach(robot):
    task = load_task('stack')
    starts = [task.start(np.random.default_rng(seed)) for seed in range(100)]
    for start in starts:
        blue, yellow = start[BLUE].position, start[YELLOW].position
        assert np.linalg.norm(blue[:2] - yellow[:2]) > 0.13
        assert (blue[2], yellow[2]) == (BLUE_HALF, YELLOW_HALF)
        for place in (blue, yellow):
            assert (robot.limits.workspace_min[:2] + 0.05 < place[:2]).all()
            assert (place[:2] < robot.limits.workspace_max[:2] - 0.05).all()
    assert len({tuple(start[BLUE].position) for start in starts}) == 100
