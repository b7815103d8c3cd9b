import numpy as np
import pytest
from judged_states import judged

from cobalt_sim.tasks.three_piece_assembly import BASE, CAP, CAP_HALF, TOWER, ThreePieceJudge, cap_place, tower_place
from cobalt_teleop.core.pose import Pose, quaternion

THE_BASE = Pose(np.array([0.5, 0.15, 0.0]))


def scene(tower=(0.0, 0.0, 0.0), cap=(0.0, 0.0, 0.0), turn=(0.0, 0.0, 0.0)):
    """Tower and cap so far from where they belong."""
    the_tower = Pose(tower_place(THE_BASE) + np.array(tower), quaternion(turn))
    return {BASE: THE_BASE, TOWER: the_tower, CAP: Pose(cap_place(the_tower) + np.array(cap), quaternion(turn))}


LYING_CAP = (0.0, -0.3, CAP_HALF - cap_place(Pose(tower_place(THE_BASE)))[2])


@pytest.mark.parametrize('turn', [0.0, np.pi / 2, 1.0])
def test_all_together_and_let_go_of_counts(turn):
    assert not judged(ThreePieceJudge(), scene(turn=(0.0, 0.0, turn)), 0.25).success
    progress = judged(ThreePieceJudge(), scene(turn=(0.0, 0.0, turn)), 0.3)
    assert progress.success
    assert progress.stage == progress.reward == 1.0


@pytest.mark.parametrize(
    ('objects', 'how'),
    [
        pytest.param(scene(cap=LYING_CAP), {}, id='the cap on the table'),
        pytest.param(scene(tower=(0.0, -0.2, -0.006)), {}, id='the tower with its cap beside the base'),
        pytest.param(scene(cap=(0.0, 0.0, 0.02)), {}, id='the cap over the tower'),
        pytest.param(scene(tower=(0.01, 0.0, 0.02)), {}, id='the tower on the rim'),
        pytest.param(scene(), {'held': [CAP]}, id='the cap still in the hand'),
        pytest.param(scene(), {'touched': [TOWER]}, id='the hand still at the tower'),
        pytest.param(scene(turn=(0.3, 0.0, 0.0)), {}, id='tilted'),
    ],
)
def test_it_does_not_count(objects, how):
    progress = judged(ThreePieceJudge(), objects, **how)
    assert not progress.success
    assert progress.reward == 0.0
    assert progress.stage < 1.0


def test_the_stage_grows_along_the_way():
    apart = {
        BASE: THE_BASE,
        TOWER: Pose(np.array([0.45, -0.15, 0.0])),
        CAP: Pose(np.array([0.5, 0.0, CAP_HALF])),
    }
    stages = [
        judged(ThreePieceJudge(), apart, 0.0).stage,
        judged(ThreePieceJudge(), apart, 0.0, held=[TOWER]).stage,
        judged(ThreePieceJudge(), scene(tower=(0.0, 0.0, 0.03), cap=LYING_CAP), 0.0, held=[TOWER]).stage,
        judged(ThreePieceJudge(), scene(cap=LYING_CAP), 0.0).stage,
        judged(ThreePieceJudge(), scene(cap=(0.0, -0.2, 0.0)), 0.0, held=[CAP]).stage,
        judged(ThreePieceJudge(), scene(cap=(0.0, 0.0, 0.03)), 0.0, held=[CAP]).stage,
        judged(ThreePieceJudge(), scene(), 0.0).stage,
    ]
    assert stages == sorted(set(stages))
    assert stages[-1] < 1.0
