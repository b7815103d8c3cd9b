import numpy as np
import pytest
from judged_states import judged

from cobalt_sim.tasks.two_arm_lift import HEIGHT, POT, POT_HALF, TwoArmLiftJudge
from cobalt_teleop.core.pose import Pose, quaternion

BOTH = {'left': POT, 'right': POT}


def scene(height=HEIGHT + 0.01, turn=(0.0, 0.0, 0.0)):
    return {POT: Pose(np.array([0.47, 0.0, height]), quaternion(turn))}


def test_held_level_by_both_hands_counts_after_half_a_second():
    assert not judged(TwoArmLiftJudge(), scene(), 0.45, held_by=BOTH).success
    progress = judged(TwoArmLiftJudge(), scene(), 0.5, held_by=BOTH)
    assert progress.success
    assert progress.stage == progress.reward == 1.0


@pytest.mark.parametrize(
    ('objects', 'held_by'),
    [
        pytest.param(scene(), {'left': POT, 'right': ''}, id='by the left hand alone'),
        pytest.param(scene(), {'left': '', 'right': POT}, id='by the right hand alone'),
        pytest.param(scene(), {'left': '', 'right': ''}, id='by nobody'),
        pytest.param(scene(HEIGHT - 0.005), BOTH, id='too low'),
        pytest.param(scene(turn=(0.3, 0.0, 0.0)), BOTH, id='tilted'),
    ],
)
def test_it_does_not_count(objects, held_by):
    progress = judged(TwoArmLiftJudge(), objects, held_by=held_by)
    assert not progress.success
    assert progress.reward == 0.0
    assert progress.stage < 1.0


def test_the_stage_grows_along_the_way():
    nobody, left = {'left': '', 'right': ''}, {'left': POT, 'right': ''}
    stages = [
        judged(TwoArmLiftJudge(), scene(POT_HALF), 0.0, held_by=nobody, tool=(0.3, 0.0, 0.4)).stage,
        judged(TwoArmLiftJudge(), scene(POT_HALF), 0.0, held_by=nobody, tool=(0.47, 0.0, 0.1)).stage,
        judged(TwoArmLiftJudge(), scene(POT_HALF), 0.0, held_by=left, tool=(0.47, 0.0, 0.1)).stage,
        judged(TwoArmLiftJudge(), scene(POT_HALF), 0.0, held_by=BOTH).stage,
        judged(TwoArmLiftJudge(), scene(HEIGHT), 0.0, held_by=BOTH).stage,
    ]
    assert stages == sorted(set(stages))
    assert stages[-1] < 1.0
