import numpy as np
import pytest
from judged_states import judged

from cobalt_sim.tasks.square_nut import NUT, NUT_HALF, PEG, PEG_HEIGHT, SquareNutJudge
from cobalt_teleop.core.pose import Pose, quaternion

PLACE = np.array([0.5, 0.15, NUT_HALF])


def scene(shift=(0.0, 0.0, 0.0), turn=(0.0, 0.0, 0.0)):
    nut = Pose(PLACE + np.array(shift), quaternion(turn))
    return {NUT: nut, PEG: Pose(np.array([*PLACE[:2], 0.0]))}


@pytest.mark.parametrize('turn', [0.0, np.pi / 2, 3.0])
def test_around_the_peg_and_let_go_of_counts_whichever_way_it_is_turned(turn):
    assert not judged(SquareNutJudge(), scene(turn=(0.0, 0.0, turn)), 0.25).success
    progress = judged(SquareNutJudge(), scene(turn=(0.0, 0.0, turn)), 0.3)
    assert progress.success
    assert progress.stage == progress.reward == 1.0


@pytest.mark.parametrize(
    ('objects', 'how'),
    [
        pytest.param(scene(), {'held': [NUT]}, id='still in the hand'),
        pytest.param(scene(), {'touched': [NUT]}, id='the hand still at it'),
        pytest.param(scene(shift=(0.0, 0.0, PEG_HEIGHT)), {}, id='on top of the peg'),
        pytest.param(scene(shift=(0.0, 0.0, 0.03)), {}, id='half way down'),
        pytest.param(scene(shift=(0.05, 0.0, 0.0)), {}, id='beside the peg'),
        pytest.param(scene(shift=(-0.075, 0.0, 0.0)), {}, id='the handle at the peg'),
        pytest.param(scene(turn=(0.3, 0.0, 0.0)), {}, id='tilted'),
    ],
)
def test_it_does_not_count(objects, how):
    progress = judged(SquareNutJudge(), objects, **how)
    assert not progress.success
    assert progress.reward == 0.0
    assert progress.stage < 1.0


def test_the_stage_grows_along_the_way():
    far, near = scene(shift=(0.0, -0.25, 0.0)), scene(shift=(0.0, 0.0, PEG_HEIGHT))
    stages = [
        judged(SquareNutJudge(), far, 0.0).stage,
        judged(SquareNutJudge(), far, 0.0, tool=(0.5, -0.1, 0.05)).stage,
        judged(SquareNutJudge(), far, 0.0, held=[NUT]).stage,
        judged(SquareNutJudge(), near, 0.0, held=[NUT]).stage,
        judged(SquareNutJudge(), scene(), 0.0).stage,
    ]
    assert stages == sorted(set(stages))
    assert stages[-1] < 1.0
