import dataclasses

import numpy as np
import pytest

from cobalt_sim.in_process import run_expert
from cobalt_sim.mujoco_plant import MujocoPlant
from cobalt_sim.replay import RecordedPart, replay, replay_states, tick_of
from cobalt_teleop.core.errors import CobaltError


@pytest.fixture
def plant(make_plants):
    return make_plants([0])[0]


def record(plant, seed):
    """Lets the expert solve a seed; returns what a bag holds of it."""
    ticks = []
    run_expert(plant, seed, after_tick=lambda guarded: ticks.append(tick_of(guarded)))
    return ticks


def test_an_episode_is_reproduced_to_the_bit(plant):
    ticks = record(plant, 4)
    seen = []
    report = replay(plant, 4, ticks, on_tick=seen.append)
    assert report.recorded_success and report.replayed_success and report.reproduced
    assert (report.began_with, report.largest_difference, report.diverged_at_s) == ('state', 0.0, None)
    assert seen == ticks


def bare(ticks):
    """As in bags of before, without states and speeds."""
    return [
        dataclasses.replace(
            tick,
            state=None,
            parts={'arm': dataclasses.replace(tick.parts['arm'], joint_velocities=np.empty(0))},
        )
        for tick in ticks
    ]


def test_without_states_it_goes_nearly_the_same_way_from_the_seed(plant):
    report = replay(plant, 4, bare(record(plant, 4)))
    assert report.began_with == 'seed' and report.reproduced and report.diverged_at_s is None
    assert 0.0 < report.largest_difference < 0.05


def test_from_state_to_state_nothing_is_simulated_and_all_is_seen(seen_world):
    plant, drawn = MujocoPlant(seen_world, 4), []
    ticks = record(plant, 4)
    report = replay_states(plant, 9, ticks, on_tick=lambda tick: drawn.append(plant.capture('front')))
    assert report.recorded_success and report.largest_difference == 0.0
    plant.go_on_from(ticks[20].state)
    assert (plant.capture('front') == drawn[20]).all()
    assert (drawn[20] != drawn[40]).any()
    with pytest.raises(CobaltError, match='holds no states'):
        replay_states(plant, 4, bare(ticks))


def test_without_its_first_second_and_with_a_gap_it_is_reproduced_too(plant):
    ticks = record(plant, 4)
    report = replay(plant, 4, bare([*ticks[2:20], *ticks[21:]]))
    assert report.reproduced


def test_another_start_is_told(plant):
    ticks = record(plant, 4)
    report = replay(plant, 5, bare(ticks))
    assert report.recorded_success and not report.replayed_success and not report.reproduced


def test_another_way_is_told_with_its_time(plant):
    ticks = record(plant, 4)
    bent = [
        dataclasses.replace(
            tick,
            parts={'arm': dataclasses.replace(tick.parts['arm'], joints=tick.parts['arm'].joints + 0.2 * (i > 30))},
        )
        for i, tick in enumerate(ticks)
    ]
    report = replay(plant, 4, bare(bent))
    assert report.diverged_at_s == pytest.approx(ticks[31].sim_time)
    assert report.largest_difference == pytest.approx(0.2, abs=0.05)


def test_ticks_of_another_arm_are_refused(plant):
    (tick, *_) = record(plant, 4)
    part = RecordedPart(joints=np.zeros(6), joint_targets=np.zeros(6), gripper_target=1.0)
    with pytest.raises(CobaltError, match='but this workcell has'):
        replay(plant, 0, [dataclasses.replace(tick, parts={'arm': part})])
    with pytest.raises(CobaltError, match='no tick with an action'):
        replay(plant, 0, [])
