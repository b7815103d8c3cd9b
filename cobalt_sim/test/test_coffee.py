import numpy as np
import pytest
from judged_states import judged

from cobalt_sim.tasks.coffee import HOLDER, LID, OPEN_RAD, POD, POD_HALF, CoffeeJudge, lid_at, opening_of
from cobalt_teleop.core.pose import Pose, quaternion

IN_HOLDER = HOLDER + np.array([0.0, 0.0, POD_HALF])


def scene(opened=0.0, *, shift=(0.0, 0.0, 0.0), turn=(0.0, 0.0, 0.0)):
    return {POD: Pose(IN_HOLDER + np.array(shift), quaternion(turn)), LID: lid_at(opened)}


def test_in_the_holder_under_the_closed_lid_counts_with_the_hand_on_the_lid():
    assert not judged(CoffeeJudge(), scene(0.05), 0.25, touched=[LID]).success
    progress = judged(CoffeeJudge(), scene(0.05), 0.3, touched=[LID])
    assert progress.success
    assert progress.stage == progress.reward == 1.0


@pytest.mark.parametrize(
    ('objects', 'how'),
    [
        pytest.param(scene(OPEN_RAD), {}, id='the lid open'),
        pytest.param(scene(0.2), {}, id='the lid not quite closed'),
        pytest.param(scene(), {'touched': [POD]}, id='the hand still at the pod'),
        pytest.param(scene(shift=(0.0, -0.2, -HOLDER[2])), {}, id='closed, without the pod'),
        pytest.param(scene(shift=(0.01, 0.0, 0.014)), {}, id='on the rim'),
        pytest.param(scene(turn=(np.pi / 2, 0.0, 0.0)), {}, id='lying'),
    ],
)
def test_it_does_not_count(objects, how):
    progress = judged(CoffeeJudge(), objects, **how)
    assert not progress.success
    assert progress.reward == 0.0
    assert progress.stage < 1.0


def test_the_stage_grows_along_the_way():
    table, over = scene(OPEN_RAD, shift=(0.0, -0.25, -HOLDER[2])), scene(OPEN_RAD, shift=(0.0, 0.0, 0.05))
    stages = [
        judged(CoffeeJudge(), table, 0.0).stage,
        judged(CoffeeJudge(), table, 0.0, held=[POD]).stage,
        judged(CoffeeJudge(), over, 0.0, held=[POD]).stage,
        judged(CoffeeJudge(), scene(OPEN_RAD), 0.0).stage,
        judged(CoffeeJudge(), scene(OPEN_RAD / 2), 0.0).stage,
    ]
    assert stages == sorted(set(stages))
    assert stages[-1] < 1.0


@pytest.mark.parametrize('opened', [0.0, 0.7, OPEN_RAD])
def test_an_opening_is_read_from_the_lids_pose(opened):
    assert opening_of(lid_at(opened)) == pytest.approx(opened, abs=1e-6)
