import numpy as np
import pytest

from cobalt_sim.experts.expert import ExpertCommand
from cobalt_sim.in_process import GuardedPlant, run_expert
from cobalt_sim.mujoco_plant import PART
from cobalt_sim.tasks import TASKS, load_task
from cobalt_sim.tasks.lift import CUBE, HALF_EDGE, HEIGHT, LiftJudge
from cobalt_sim.tasks.task import SceneState
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.pose import Pose


def state(time, height, *, held=True, tool_height=None):
    return SceneState(
        time=time,
        tool=Pose(np.array([0.5, 0.0, height if tool_height is None else tool_height])),
        gripper=0.5,
        objects={CUBE: Pose(np.array([0.5, 0.0, height]))},
        held=frozenset({CUBE} if held else ()),
    )


def judged(judge, height, start, seconds, **how):
    progress = None
    for tick in range(round(seconds / 0.05) + 1):
        progress = judge.judge(state(start + tick * 0.05, height, **how))
    return progress


def test_held_above_for_half_a_second_is_success():
    judge = LiftJudge()
    assert not judged(judge, HEIGHT + 0.01, 0.0, 0.45).success
    progress = judge.judge(state(0.5, HEIGHT + 0.01))
    assert progress.success
    assert progress.reward == 1.0
    assert progress.stage == 1.0


def test_held_too_low_is_not():
    assert not judged(LiftJudge(), HEIGHT - 0.005, 0.0, 3.0).success


def test_high_but_not_held_is_not():
    assert not judged(LiftJudge(), HEIGHT + 0.2, 0.0, 3.0, held=False).success


def test_the_half_second_starts_anew_after_a_dip_or_a_lost_grasp():
    judge = LiftJudge()
    judged(judge, HEIGHT + 0.01, 0.0, 0.4)
    judge.judge(state(0.45, HEIGHT - 0.01))
    assert not judged(judge, HEIGHT + 0.01, 0.5, 0.45).success
    judge.judge(state(1.0, HEIGHT + 0.01, held=False))
    assert not judged(judge, HEIGHT + 0.01, 1.05, 0.45).success
    assert judge.judge(state(1.55, HEIGHT + 0.01)).success


def test_the_stage_grows_along_the_way():
    far = LiftJudge().judge(state(0.0, HALF_EDGE, held=False, tool_height=0.3)).stage
    near = LiftJudge().judge(state(0.0, HALF_EDGE, held=False, tool_height=0.05)).stage
    held = LiftJudge().judge(state(0.0, HALF_EDGE)).stage
    raised = LiftJudge().judge(state(0.0, HEIGHT)).stage
    assert 0.0 <= far < near < held < raised < 1.0


def test_a_cube_put_in_the_air_by_hand_does_not_count(make_plants):
    (plant,) = make_plants([1])
    cube = plant._world.indices.object_qpos[CUBE]
    for _ in range(20):
        plant.data.qpos[cube : cube + 3] = (0.6, 0.2, 0.3)
        plant.data.qvel[:] = 0.0
        plant.advance()
        assert not plant.progress().success


def test_start_states_lie_flat_within_the_arms_reach():
    task = load_task('lift')
    limits_low, limits_high = np.array([0.42, -0.18]), np.array([0.60, 0.18])
    for seed in range(50):
        pose = task.start(np.random.default_rng(seed))[CUBE]
        assert (limits_low <= pose.position[:2]).all()
        assert (pose.position[:2] <= limits_high).all()
        assert pose.position[2] == HALF_EDGE


def test_a_grasped_cube_stays_for_long(make_plants):
    (plant,) = make_plants([1])
    held = None

    def remember(guarded: GuardedPlant) -> None:
        nonlocal held
        held = guarded

    assert run_expert(plant, 4, after_tick=remember) is not None
    tool = plant.observe().parts[PART].pose
    start = tool.inverse() @ plant.observe().objects[CUBE]
    for _ in range(400):
        held.tick(ExpertCommand(pose=tool, gripper=0.0, engaged=False))
    end = plant.observe().parts[PART].pose.inverse() @ plant.observe().objects[CUBE]
    assert plant.progress().success
    assert np.linalg.norm(end.position - start.position) < 0.003


def test_every_task_is_known_by_its_name():
    assert all(load_task(name).info.name == name for name in TASKS)
    with pytest.raises(CobaltError, match="no task 'fly'; known are lift, stack, pick_place"):
        load_task('fly')
