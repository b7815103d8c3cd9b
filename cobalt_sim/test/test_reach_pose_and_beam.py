import numpy as np
import pytest

from cobalt_sim.in_process import run_expert
from cobalt_sim.mujoco_plant import MujocoPlant
from cobalt_sim.render_profile import load_profile
from cobalt_sim.sim_world import SimWorld
from cobalt_sim.tasks import load_task
from cobalt_sim.tasks.beam import BEAM, LENGTH_M, RADIUS_M, BeamJudge, ends
from cobalt_sim.tasks.ghost_hand import GHOST, POINTING_DOWN
from cobalt_sim.tasks.reach_pose import DISTANCE_M, ReachPoseJudge
from cobalt_sim.tasks.reach_pose import TOLERANCE as POSE_TOLERANCE
from cobalt_sim.tasks.reach_rotation import TOLERANCE, ReachRotationJudge
from cobalt_sim.tasks.task import SceneState
from cobalt_teleop.core.pose import Pose, angle_between, multiply, quaternion

TASKS = ['reach_rotation', 'reach_pose', 'beam']
FRESH_SEEDS = range(1000, 1020)
PLACE = np.array([0.5, 0.0, 0.2])
DOWN = Pose(PLACE, POINTING_DOWN)


@pytest.fixture(scope='module', params=TASKS)
def plant(request, robot):
    return MujocoPlant(SimWorld(robot, load_task(request.param), [], load_profile('fast')))


def judged(judge, tool, objects, start=0.0, seconds=0.0):
    """Shows a judge a state for a while and returns its last word."""
    states = [
        SceneState(time=start + tick * 0.05, tool=tool, gripper=1.0, objects=objects, held=frozenset())
        for tick in range(round(seconds / 0.05) + 1)
    ]
    return [judge.judge(state) for state in states][-1]


def turned(angle, place=PLACE):
    return Pose(place, multiply(quaternion([angle, 0.0, 0.0]), POINTING_DOWN))


def test_a_second_turned_alike_counts_wherever_the_hand_is():
    judge, far = ReachRotationJudge(), PLACE + 0.3
    assert not judged(judge, turned(0.9 * TOLERANCE, far), {GHOST: DOWN}, 0.0, 0.95).success
    assert judged(judge, turned(-0.9 * TOLERANCE, far), {GHOST: DOWN}, 1.0).success


def test_turned_a_little_too_far_or_only_for_moments_does_not_count():
    assert not judged(ReachRotationJudge(), turned(1.1 * TOLERANCE), {GHOST: DOWN}, 0.0, 5.0).success
    judge = ReachRotationJudge()
    judged(judge, DOWN, {GHOST: DOWN}, 0.0, 0.9)
    judged(judge, turned(1.1 * TOLERANCE), {GHOST: DOWN}, 0.95)
    assert not judged(judge, DOWN, {GHOST: DOWN}, 1.0, 0.95).success


def test_a_pose_needs_place_and_turn_together():
    beside = Pose(PLACE + np.array([1.1 * DISTANCE_M, 0.0, 0.0]), POINTING_DOWN)
    within = Pose(PLACE + np.array([0.9 * DISTANCE_M, 0.0, 0.0]), turned(0.9 * POSE_TOLERANCE).quat_xyzw)
    for tool, counts in ((beside, False), (turned(1.1 * POSE_TOLERANCE), False), (within, True)):
        assert judged(ReachPoseJudge(), tool, {GHOST: DOWN}, 0.0, 1.0).success is counts


def test_stages_grow_with_nearness_and_likeness():
    ways = [turned(angle, PLACE + distance) for angle, distance in ((0.8, 0.2), (0.5, 0.1), (0.3, 0.05), (0.0, 0.0))]
    for judge in (ReachRotationJudge(), ReachPoseJudge()):
        stages = [judged(judge, tool, {GHOST: DOWN}, float(index)).stage for index, tool in enumerate(ways)]
        assert stages == sorted(set(stages)) and stages[-1] < 1.0


def along(beam, share, beside=0.0):
    start, end = ends(beam)
    return Pose(start + share * (end - start) + np.array([0.0, 0.0, beside]), POINTING_DOWN)


LEVEL = Pose(PLACE, quaternion([-np.pi / 2.0, 0.0, 0.0]))
"""A beam that leads along y."""


def walk(judge, *tools):
    return [judged(judge, tool, {BEAM: LEVEL}, 0.05 * tick) for tick, tool in enumerate(tools)]


def test_the_beam_counts_from_its_white_end_to_its_green_one():
    assert ends(LEVEL)[1] - ends(LEVEL)[0] == pytest.approx([0.0, LENGTH_M, 0.0])
    words = walk(BeamJudge(), *(along(LEVEL, share) for share in np.linspace(0.0, 1.0, 12)))
    assert words[-1].success and not any(word.success for word in words[:-2])
    stages = [word.stage for word in words]
    assert stages == sorted(stages)


@pytest.mark.parametrize(
    'way',
    [
        [(0.5, 0.0), (1.0, 0.0)],  # not from the white end
        [(0.0, 0.0), (0.5, 0.0), (0.5, 1.2 * RADIUS_M), (0.6, 0.0), (1.0, 0.0)],  # left on the way
        [(0.0, 0.0), (-0.2, 0.0), (0.5, 0.0), (1.0, 0.0)],  # behind the white end
        [(1.0, 0.0), (0.5, 0.0), (0.0, 0.0)],  # the wrong way
    ],
)
def test_a_way_that_is_not_the_whole_beam_does_not_count(way):
    assert not walk(BeamJudge(), *(along(LEVEL, *step) for step in way))[-1].success


def test_who_left_the_beam_may_begin_again():
    way = [(0.0, 0.0), (0.5, 0.1), (0.0, 0.0), (0.5, 0.0), (1.0, 0.0)]
    assert walk(BeamJudge(), *(along(LEVEL, *step) for step in way))[-1].success


def test_each_seed_gives_a_start_of_its_own_within_reach_that_nothing_moves(plant, robot):
    name = plant.capabilities.objects[0]
    task, starts = plant.capabilities.tasks[0], []
    for seed in range(20):
        plant.reset(task, seed)
        starts.append(plant.observe().objects[name])
    assert len({(*pose.position, *pose.quat_xyzw) for pose in starts}) == 20
    ways = [place for pose in starts for place in (ends(pose) if name == BEAM else (pose.position,))]
    assert all(
        (robot.limits.workspace_min < place).all() and (place < robot.limits.workspace_max).all() for place in ways
    )
    assert not plant.progress().success
    for _ in range(5):
        plant.advance()
    assert angle_between(plant.observe().objects[name].quat_xyzw, starts[-1].quat_xyzw) < 1e-9
    assert plant.data.ncon == 0


def test_the_expert_does_each_of_fresh_starts(plant):
    times = [run_expert(plant, seed, limit_s=30.0) for seed in FRESH_SEEDS]
    assert None not in times
