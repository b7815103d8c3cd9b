import dataclasses

import mujoco
import numpy as np
import pytest

from cobalt_sim.in_process import GuardedPlant
from cobalt_sim.mujoco_plant import PART
from cobalt_sim.tasks.lift import CUBE
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.pose import Pose, angle_between
from cobalt_teleop.workcell_host.plant import PartAction


def state_of(plant):
    return np.concatenate([plant.data.qpos, plant.data.qvel, plant.data.act, plant.data.ctrl, [plant.data.time]])


def drive(plant, ticks, *, shift=0.1):
    home = plant.capabilities.parts[0].home
    for _ in range(ticks):
        plant.apply({PART: PartAction(joint_targets=home + shift, gripper_target=0.3)})
        plant.advance()


def test_same_seed_gives_same_state_and_same_future(make_plants):
    first, second = make_plants([7, 7])
    assert np.array_equal(state_of(first), state_of(second))
    drive(first, 20)
    drive(second, 20)
    assert np.array_equal(state_of(first), state_of(second))


def test_reset_forgets_what_was_before(make_plants):
    used, fresh = make_plants([1, 7])
    drive(used, 20)
    used.reset('lift', 7)
    assert np.array_equal(state_of(used), state_of(fresh))
    drive(used, 10)
    drive(fresh, 10)
    assert np.array_equal(state_of(used), state_of(fresh))


def test_other_seeds_put_the_cube_elsewhere(make_plants):
    places = {tuple(plant.observe().objects[CUBE].position.round(4)) for plant in make_plants(range(10))}
    assert len(places) == 10


def test_reset_of_one_workcell_leaves_the_others_alone(make_plants):
    one, other = make_plants([1, 2])
    drive(one, 5)
    drive(other, 5)
    before, observed = state_of(other), other.observe()
    one.reset('lift', 3)
    assert np.array_equal(state_of(other), before)
    assert other.observe() is observed


def test_a_task_that_it_does_not_run_is_refused_in_words(make_plants):
    (plant,) = make_plants([1])
    with pytest.raises(CobaltError, match="'lift', not 'fly'"):
        plant.reset('fly', 1)


def test_an_unstable_workcell_is_reset_alone_and_tells_so(make_plants):
    broken, other = make_plants([1, 2])
    drive(broken, 3)
    drive(other, 3)
    future = make_plants([2])[0]
    drive(future, 4)
    broken.data.qpos[0] = np.nan
    broken.advance()
    drive(other, 1)
    assert np.array_equal(state_of(other), state_of(future))
    assert other.observe().faults == ()
    (fault,) = broken.observe().faults
    assert 'unstable' in fault
    assert 'new episode' in fault
    assert np.isfinite(state_of(broken)).all()
    start = broken.observe().parts[PART].joint_positions
    drive(broken, 3, shift=0.5)
    assert np.abs(broken.observe().parts[PART].joint_positions - start).max() < 1e-3
    assert broken.observe().faults == (fault,)
    broken.reset('lift', 1)
    assert broken.observe().faults == ()


def test_huge_velocities_count_as_unstable_too(make_plants):
    (plant,) = make_plants([1])
    plant.data.qvel[3] = 1e12
    plant.advance()
    assert plant.observe().faults


def test_at_rest_the_arm_stays_where_its_target_is(make_plants):
    (plant,) = make_plants([1])
    start = plant.observe().parts[PART]
    for _ in range(40):
        plant.advance()
    end = plant.observe().parts[PART]
    assert np.linalg.norm(end.pose.position - start.pose.position) < 1e-4
    assert angle_between(end.pose.quat_xyzw, start.pose.quat_xyzw) < 1e-3


def test_a_tick_is_fifty_milliseconds(make_plants):
    (plant,) = make_plants([1])
    plant.advance()
    assert plant.observe().sim_time == pytest.approx(0.05)


def test_poses_are_in_the_base_frame_and_agree_with_the_kinematics(make_plants):
    (plant,) = make_plants([1])
    drive(plant, 10)
    part = plant.observe().parts[PART]
    reckoned = plant.capabilities.parts[0].kinematics.forward(part.joint_positions)
    assert np.allclose(reckoned.position, part.pose.position, atol=1e-6)
    assert angle_between(reckoned.quat_xyzw, part.pose.quat_xyzw) < 1e-6


def test_the_twist_is_the_rate_of_the_pose(make_plants):
    (plant,) = make_plants([1])
    drive(plant, 3, shift=0.05)
    before = plant.observe().parts[PART]
    mujoco.mj_step(plant._world.model, plant.data)
    mujoco.mj_forward(plant._world.model, plant.data)
    plant._look()
    after = plant.observe().parts[PART]
    rate = (after.pose.position - before.pose.position) / 0.002
    assert np.allclose(rate, (before.twist[:3] + after.twist[:3]) / 2, atol=0.02)


def test_the_gripper_goes_from_closed_to_open(make_plants):
    (plant,) = make_plants([1])
    home = plant.capabilities.parts[0].home
    for target in (0.0, 1.0):
        for _ in range(30):
            plant.apply({PART: PartAction(joint_targets=home, gripper_target=target)})
            plant.advance()
        assert plant.observe().parts[PART].gripper == pytest.approx(target, abs=0.02)


def test_emergency_stop_brings_a_moving_arm_to_rest(make_plants):
    (plant,) = make_plants([1])
    drive(plant, 2, shift=0.4)
    assert np.abs(plant.observe().parts[PART].joint_velocities).max() > 0.3
    plant.stop()
    place = plant.observe().parts[PART].pose.position
    for _ in range(10):
        plant.advance()
    part = plant.observe().parts[PART]
    assert np.abs(part.joint_velocities).max() < 0.01
    assert np.linalg.norm(part.pose.position - place) < 0.05


def test_from_a_full_state_it_goes_on_bit_for_bit(make_plants):
    plant, other = make_plants([3, 4])
    generator = np.random.default_rng(0)
    guarded = GuardedPlant(plant)
    states, actions = [], []
    for _ in range(40):
        way = generator.uniform(-0.01, 0.01, 3)
        states.append(plant.full_state())
        tool = plant.observe().parts['arm'].pose
        guarded.follow((Pose(tool.position + way, tool.quat_xyzw), 0.3))
        actions.append(guarded.actions)
    for start in (0, 17):
        other.go_on_from(states[start])
        for at in range(start, 40):
            assert (other.full_state().values == states[at].values).all(), f'from {start}: tick {at}'
            other.apply(actions[at])
            other.advance()


def test_a_state_of_something_else_is_refused(make_plants):
    (plant,) = make_plants([0])
    state = plant.full_state()
    for other in (
        dataclasses.replace(state, values=state.values[:-1]),
        dataclasses.replace(state, values=np.append(state.values, 0.0)),
        dataclasses.replace(state, values=np.full_like(state.values, np.nan)),
        dataclasses.replace(state, format='MuJoCo 2.0'),
    ):
        with pytest.raises(CobaltError, match='the state is of'):
            plant.go_on_from(other)
    assert (plant.full_state().values == state.values).all()
