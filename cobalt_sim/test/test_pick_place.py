import mujoco
import numpy as np
import pytest

from cobalt_sim.mujoco_plant import MujocoPlant
from cobalt_sim.render_profile import load_profile
from cobalt_sim.sim_world import SimWorld
from cobalt_sim.tasks import load_task
from cobalt_sim.tasks.pick_place import (
    BOX_INSIDE,
    BOX_PLACE,
    CAN,
    CAN_HALF,
    CUBE,
    CUBE_HALF,
    WALL_HEIGHT,
    PickPlaceJudge,
    in_box,
    is_in_box,
)
from cobalt_sim.tasks.task import SceneState
from cobalt_teleop.core.pose import Pose

CUBE_IN, CAN_IN = in_box(0.03, 0.0, CUBE_HALF), in_box(-0.03, 0.0, CAN_HALF)
ON_TABLE = Pose(np.array([0.5, -0.1, CUBE_HALF]))


@pytest.fixture(scope='module')
def plant(robot):
    return MujocoPlant(SimWorld(robot, load_task('pick_place'), [], load_profile('fast')))


def judged(seconds=1.0, *, cube=CUBE_IN, can=CAN_IN, held=(), touched=(), tool=(0.5, 0.0, 0.3)):
    """Returns the last progress of a state that lasts."""
    judge = PickPlaceJudge()
    states = [
        SceneState(
            time=tick * 0.05,
            tool=Pose(np.array(tool, float)),
            gripper=1.0,
            objects={CUBE: cube, CAN: can},
            held=frozenset(held),
            touched=frozenset(touched) | frozenset(held),
        )
        for tick in range(round(seconds / 0.05) + 1)
    ]
    return [judge.judge(state) for state in states][-1]


def test_both_in_the_box_and_let_go_of_counts():
    assert not judged(0.25).success
    progress = judged(0.3)
    assert progress.success
    assert progress.stage == progress.reward == 1.0


@pytest.mark.parametrize(
    'how',
    [
        pytest.param({'cube': ON_TABLE}, id='the cube on the table'),
        pytest.param({'can': ON_TABLE}, id='the can on the table'),
        pytest.param({'touched': [CAN]}, id='the hand still at the can'),
        pytest.param({'held': [CUBE]}, id='the cube still in the hand'),
        pytest.param({'cube': Pose(np.array([*BOX_PLACE, WALL_HEIGHT + 0.05]))}, id='the cube over the box'),
        pytest.param({'cube': in_box(BOX_INSIDE[0] + 0.02, 0.0, CUBE_HALF)}, id='the cube behind the wall'),
    ],
)
def test_it_does_not_count(how):
    progress = judged(**how)
    assert not progress.success
    assert progress.reward == 0.0
    assert progress.stage < 1.0


def test_the_stage_grows_along_the_way():
    far = Pose(np.array([0.5, 0.1, 0.15]))
    stages = [
        judged(0.0, **how).stage
        for how in (
            {'cube': ON_TABLE, 'can': ON_TABLE, 'tool': (0.4, 0.1, 0.3)},
            {'cube': ON_TABLE, 'can': ON_TABLE, 'tool': ON_TABLE.position},
            {'cube': ON_TABLE, 'can': ON_TABLE, 'tool': ON_TABLE.position, 'held': [CUBE]},
            {'cube': far, 'can': ON_TABLE, 'tool': far.position, 'held': [CUBE]},
            {'can': ON_TABLE},
            {'can': far, 'tool': far.position, 'held': [CAN]},
            {},
        )
    ]
    assert stages == sorted(set(stages))
    assert stages[-1] < 1.0


def test_the_things_begin_apart_within_reach_and_beside_the_box(robot):
    task = load_task('pick_place')
    for seed in range(100):
        start = task.start(np.random.default_rng(seed))
        cube, can = start[CUBE].position, start[CAN].position
        assert np.linalg.norm(cube[:2] - can[:2]) > 0.12
        for place in (cube, can):
            assert place[1] < BOX_PLACE[1] - BOX_INSIDE[1] - 0.05
            assert (robot.limits.workspace_min[:2] + 0.05 < place[:2]).all()
            assert (place[:2] < robot.limits.workspace_max[:2] - 0.05).all()


def test_walls_and_floor_of_the_box_hold_what_falls_in(plant):
    plant.reset('pick_place', 2)
    for name, x in ((CUBE, 0.05), (CAN, -0.05)):
        at = plant._world.indices.object_qpos[name]
        plant.data.qpos[at : at + 3] = [BOX_PLACE[0] + x, BOX_PLACE[1], 0.15]
        dof = plant._world.model.body(name).dofadr[0]
        plant.data.qvel[dof : dof + 3] = [0.4 if x > 0 else -0.4, 0.2, -1.0]
    mujoco.mj_forward(plant._world.model, plant.data)
    for _ in range(40):
        plant.advance()
    objects = plant.observe().objects
    assert all(is_in_box(objects[name]) and objects[name].position[2] > 0.01 for name in (CUBE, CAN))
