import dataclasses

import numpy as np
import pytest

from cobalt_sim.in_process import run_expert
from cobalt_sim.replay import RecordedPart, replay, tick_of
from cobalt_teleop.core.errors import CobaltError


@pytest.fixture
def plant(make_plants):
    return make_plants([0])[0]


def record(plant, seed):
    """Lets the expert solve a seed; returns what a bag holds of it."""
    ticks = []
    run_expert(plant, seed, after_tick=lambda guarded: ticks.append(tick_of(guarded)))
    return ticks


def test_an_episode_is_reproduced_and_the_arm_goes_nearly_the_same_way(plant):
    ticks = record(plant, 4)
    seen = []
    report = replay(plant, 4, ticks, after_tick=lambda: seen.append(plant.observe().sim_time))
    assert report.recorded_success and report.replayed_success and report.reproduced
    assert report.largest_difference < 0.05
    assert report.diverged_at_s is None
    assert len(seen) == len(ticks)


def test_without_its_first_second_and_with_a_gap_it_is_reproduced_too(plant):
    ticks = record(plant, 4)
    report = replay(plant, 4, [*ticks[2:20], *ticks[21:]])
    assert report.reproduced


def test_another_start_is_told(plant):
    ticks = record(plant, 4)
    report = replay(plant, 5, ticks)
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
    report = replay(plant, 4, bent)
    assert report.diverged_at_s == pytest.approx(ticks[31].sim_time)
    assert report.largest_difference == pytest.approx(0.2, abs=0.05)


def test_ticks_of_another_arm_are_refused(plant):
    (tick, *_) = record(plant, 4)
    part = RecordedPart(joints=np.zeros(6), joint_targets=np.zeros(6), gripper_target=1.0)
    with pytest.raises(CobaltError, match='but this workcell has'):
        replay(plant, 0, [dataclasses.replace(tick, parts={'arm': part})])
    with pytest.raises(CobaltError, match='no tick with an action'):
        replay(plant, 0, [])
