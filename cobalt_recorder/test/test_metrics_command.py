"""Clutch, gripper, limits: counts and shares by hand."""

import math

import numpy as np
import pytest
from step_rows import HOLD, command, part, part_record

from cobalt_recorder.metrics.clutch import clutch_count, disengaged_share
from cobalt_recorder.metrics.gripper import command_gripper_toggles, gripper_toggles
from cobalt_recorder.metrics.limits import limit_share, rejected_commands, saturation_share
from cobalt_teleop.core.command import Limit


def test_presses_are_counted_by_their_epochs():
    epochs = [1, 1, 2, 2, 2, 5]
    engaged = [True, False, True, True, False, True]
    commands = [command(i, clutch_epoch=epochs[i], engaged=engaged[i]) for i in range(6)]
    record = part_record([part(i, human=one) for i, one in enumerate(commands)])
    assert clutch_count(record).value == 3
    assert disengaged_share(record).value == pytest.approx(2 / 6)


def test_lost_tracking_is_no_engagement():
    record = part_record([part(i, human=command(i, tracked=i > 0)) for i in range(4)])
    assert disengaged_share(record).value == 0.25
    assert clutch_count(record).value == 1


def test_a_clutch_that_nobody_pressed():
    record = part_record([part(i, human=command(i, engaged=False)) for i in range(4)])
    assert (clutch_count(record).value, disengaged_share(record).value) == (0.0, 1.0)


@pytest.mark.parametrize('metric', [clutch_count, disengaged_share])
@pytest.mark.parametrize('parts', [[], [part(0, has_human=False)]])
def test_no_person_no_clutch(metric, parts):
    found = metric(part_record(parts))
    assert math.isnan(found.value)
    assert found.reason == 'no command of a person came'


@pytest.mark.parametrize(
    ('openings', 'toggles'),
    [
        ([1.0, 1.0, 0.0, 0.0, 1.0], 2),
        ([1.0, 0.55, 0.45, 0.55, 0.45, 0.1], 1),
        ([math.nan, 1.0, math.nan, 0.0, math.nan], 1),
        ([0.0], 0),
    ],
)
def test_a_gripper_toggles_when_it_is_clear(openings, toggles):
    assert gripper_toggles(openings).value == toggles


@pytest.mark.parametrize(('stood', 'toggles'), [(1.0, 1), (0.0, 0), (0.5, 0)])
def test_the_first_word_of_a_device_on_the_gripper_may_be_a_change(stood, toggles):
    closing = part_record([part(0, gripper_target=stood), part(1, human=command(1, gripper=0.0), gripper_target=0.0)])
    assert command_gripper_toggles(closing).value == toggles


@pytest.mark.parametrize('openings', [[], [math.nan] * 3, [0.5, 0.5]])
def test_a_gripper_of_which_nothing_is_asked(openings):
    assert gripper_toggles(np.array(openings)).reason == 'nothing was asked of the gripper'


def test_shares_of_limits_are_of_the_driven_rows():
    limits = [Limit.WORKSPACE_BOX, Limit.LINEAR_SPEED | Limit.JOINT_POSITION, Limit.NONE, Limit.COMMAND_REJECTED]
    held = part(4, authority=HOLD, limits=int(Limit.WORKSPACE_BOX))
    record = part_record([*(part(i, limits=int(one)) for i, one in enumerate(limits)), held])
    assert limit_share(record).value == 0.5
    assert saturation_share(record).value == 0.25
    assert rejected_commands(record).value == 1


@pytest.mark.parametrize('metric', [limit_share, saturation_share])
def test_limits_of_an_arm_that_nobody_drove(metric):
    assert metric(part_record([part(0, authority=HOLD)])).reason == 'nothing was driven'
