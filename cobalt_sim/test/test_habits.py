"""A scripted operator's habits: what they do to an expert's commands."""

import math

import numpy as np
import pytest

from cobalt_sim.experts.expert import ExpertCommand
from cobalt_sim.scripted_operator.habits import Habits, HabitualExpert
from cobalt_teleop.core.pose import Pose

PERIOD_S = 0.05


class Straight:
    """An expert that goes a centimetre along x in each tick, from where the tool is."""

    def __init__(self):
        self.restart()

    def restart(self):
        self.ticks = 0

    def step(self, *, tool, objects, gripper):
        self.ticks += 1
        if self.ticks <= 2:
            return ExpertCommand(pose=tool, gripper=math.nan, engaged=False)
        place = np.array([0.01 * (self.ticks - 3), 0.0, 0.0])
        return ExpertCommand(pose=Pose(place), gripper=0.0, engaged=True)


def driven(ticks, seed=0, **habits):
    expert = HabitualExpert(Straight(), Habits(**habits), period_s=PERIOD_S, seed=seed)
    return [expert.step(tool=Pose(), objects={}, gripper=1.0) for _ in range(ticks)], expert


def along_x(commands):
    return np.array([command.pose.position[0] for command in commands if command.engaged])


def test_without_habits_the_commands_are_the_experts():
    commands, expert = driven(30)
    assert [command.engaged for command in commands] == [False] * 2 + [True] * 28
    assert along_x(commands) == pytest.approx(0.01 * np.arange(28))
    assert not expert.gives_up


def test_a_slow_one_goes_the_same_way_evenly():
    places = along_x(driven(60, slowness=4)[0])
    steps = np.diff(places)
    assert steps[4:] == pytest.approx(0.0025)
    assert places[0] == 0.0


def test_a_shaky_one_shakes_as_much_as_it_says_and_not_at_the_press():
    commands, _ = driven(4000, tremor_m=0.003, seed=3)
    aside = np.array([command.pose.position[1:] for command in commands if command.engaged])
    assert np.std(aside, axis=0) == pytest.approx(0.003, rel=0.1)
    assert (aside[0] == 0.0).all()
    turns = np.diff(np.sign(aside[:, 0])) != 0
    assert 6.0 < turns.sum() / (len(aside) * PERIOD_S) < 14.0, 'some 5 Hz cross zero ten times a second'


def test_a_hesitant_one_stands_still_for_as_long_as_it_says():
    places = along_x(driven(4000, pause_every_s=2.0, pause_s=0.5, seed=1)[0])
    still = np.diff(places) == 0.0
    share = still.sum() / len(still)
    assert 0.15 < share < 0.25, 'half a second in two and a half'


def test_one_who_does_not_grasp_gives_up():
    commands, expert = driven(20, grasps=False, gives_up_s=1.5)
    assert not expert.gives_up
    assert {command.gripper for command in commands if command.engaged} == {1.0}
    for _ in range(10):
        expert.step(tool=Pose(), objects={}, gripper=1.0)
    assert expert.gives_up
    expert.restart()
    assert not expert.gives_up
