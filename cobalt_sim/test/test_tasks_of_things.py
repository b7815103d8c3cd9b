"""What holds for every task in which things are taken: they can be held, start within reach, and are brought home.

tests/benchmarks/bench_experts.py counts what the experts solve; here a few episodes show that they still do.
"""

import os

import numpy as np
import pytest

from cobalt_sim.experts import load_expert
from cobalt_sim.in_process import GuardedPlant, run_expert
from cobalt_sim.mujoco_plant import PART, MujocoPlant
from cobalt_sim.render_profile import load_profile
from cobalt_sim.sim_world import SimWorld
from cobalt_sim.tasks import load_task
from cobalt_teleop.core.pose import Pose, angle_between, multiply, quaternion, slerp

_EPISODES = int(os.environ.get('COBALT_EXPERT_EPISODES', '1'))
_HOLD_S = float(os.environ.get('COBALT_HOLD_S', '2'))
_TAKEN_FIRST = {
    'stack': 'blue_cube',
    'pick_place': 'blue_cube',
    'square_nut': 'nut',
    'threading': 'needle',
    'mug_cleanup': 'mug',
    'coffee': 'pod',
    'three_piece_assembly': 'tower',
}
_LIFTED_M = 0.1


@pytest.fixture(scope='module', params=_TAKEN_FIRST)
def plant(request, robot):
    return MujocoPlant(SimWorld(robot, load_task(request.param), [], load_profile('fast')))


def test_the_expert_solves_fresh_starts(plant):
    task = plant.capabilities.tasks[0]
    limit_s = load_task(task).info.time_limit_s
    times = [run_expert(plant, 3000 + episode, limit_s=limit_s / 3.0) for episode in range(_EPISODES)]
    assert sum(time is not None for time in times) >= 0.8 * _EPISODES


def test_what_is_taken_can_be_held_turned_and_set_down(plant):
    task = plant.capabilities.tasks[0]
    thing = _TAKEN_FIRST[task]
    guarded, expert = GuardedPlant(plant), load_expert(task)
    guarded.reset(5)
    rest = plant.observe().objects[thing]
    while (seen := plant.observe()).objects[thing].position[2] < rest.position[2] + _LIFTED_M:
        assert seen.sim_time < 30.0, f'the {thing} is lifted'
        part = seen.parts[PART]
        guarded.tick(expert.step(tool=part.pose, objects=seen.objects, gripper=part.gripper))
    tool = plant.observe().parts[PART].pose
    in_hand = tool.inverse() @ plant.observe().objects[thing]
    guarded.engage_policy()

    def carry(seconds, *, height=0.0, turn=(0.0, 0.0, 0.0), gripper=0.0):
        start = guarded.target
        end = Pose(tool.position + np.array([0.0, 0.0, height]), multiply(quaternion(turn), tool.quat_xyzw))
        for share in np.linspace(0.0, 1.0, round(seconds / 0.05)):
            place = start.position + share * (end.position - start.position)
            guarded.follow((Pose(place, slerp(start.quat_xyzw, end.quat_xyzw, share)), gripper))
            held, touched = plant._grasp()
            assert gripper > 0.0 or thing in held['arm'], 'no fingertip lets go'
        return touched

    carry(_HOLD_S)
    for turn in ((0.0, 0.0, 0.7), (0.4, 0.0, 0.0), (0.0, -0.4, 0.0), (0.0, 0.0, 0.0)):
        carry(1.5, turn=turn)
    now = plant.observe().parts[PART].pose.inverse() @ plant.observe().objects[thing]
    assert np.linalg.norm(now.position - in_hand.position) < 0.004
    assert angle_between(now.quat_xyzw, in_hand.quat_xyzw) < 0.06

    down = rest.position[2] - plant.observe().objects[thing].position[2] + 0.001
    carry(1.5, height=down)
    carry(0.8, height=down, gripper=1.0)
    set_down = plant.observe().objects[thing]
    assert thing not in carry(1.5, height=0.0, gripper=1.0)
    left = plant.observe().objects[thing]
    assert left.position[2] == pytest.approx(rest.position[2], abs=0.001)
    assert np.linalg.norm(left.position - set_down.position) < 0.003, 'it stays where it was let go of'


def test_starts_are_random_at_rest_and_within_the_arms_reach(plant, robot):
    task = load_task(plant.capabilities.tasks[0])
    thing = _TAKEN_FIRST[task.info.name]
    places = []
    for seed in range(100):
        place = task.start(np.random.default_rng(seed))[thing].position
        assert (robot.limits.workspace_min[:2] + 0.05 < place[:2]).all()
        assert (place[:2] < robot.limits.workspace_max[:2] - 0.05).all()
        places.append(tuple(place))
    assert len(set(places)) == 100
    plant.reset(task.info.name, 3)
    before = plant.observe().objects
    for _ in range(20):
        plant.advance()
    for name, pose in plant.observe().objects.items():
        assert np.linalg.norm(pose.position - before[name].position) < 0.002, name
        assert angle_between(pose.quat_xyzw, before[name].quat_xyzw) < 0.01, name
