import numpy as np
import pytest
from judged_states import judged

from cobalt_sim.tasks.mug_cleanup import DRAWER, MUG, MUG_HALF, TRAVEL, MugCleanupJudge, drawer_at
from cobalt_teleop.core.pose import Pose, quaternion

ON_TABLE = Pose(np.array([0.5, -0.15, MUG_HALF]))


def scene(opened=0.0, *, shift=(0.0, 0.0, 0.002 + MUG_HALF), turn=(0.0, 0.0, 0.0), mug=None):
    drawer = drawer_at(opened)
    return {MUG: mug or Pose(drawer.position + np.array(shift), quaternion(turn)), DRAWER: drawer}


@pytest.mark.parametrize('turn', [(0.0, 0.0, 0.0), (0.0, 0.0, 2.0)])
def test_in_the_closed_drawer_counts(turn):
    assert not judged(MugCleanupJudge(), scene(0.005, turn=turn), 0.25).success
    progress = judged(MugCleanupJudge(), scene(0.005, turn=turn), 0.3)
    assert progress.success
    assert progress.stage == progress.reward == 1.0


@pytest.mark.parametrize(
    ('objects', 'how'),
    [
        pytest.param(scene(0.0, mug=ON_TABLE), {}, id='closed, without the mug'),
        pytest.param(scene(TRAVEL), {}, id='in the open drawer'),
        pytest.param(scene(0.02), {}, id='not quite closed'),
        pytest.param(scene(0.0), {'touched': [MUG]}, id='the hand still at it'),
        pytest.param(scene(0.0, shift=(0.0, 0.0, 0.13)), {}, id='on the cabinet'),
        pytest.param(scene(0.0, shift=(0.0, 0.11, MUG_HALF)), {}, id='behind the cabinet'),
    ],
)
def test_it_does_not_count(objects, how):
    progress = judged(MugCleanupJudge(), objects, **how)
    assert not progress.success
    assert progress.reward == 0.0
    assert progress.stage < 1.0


def test_the_stage_grows_along_the_way():
    over = Pose(drawer_at(TRAVEL).position + np.array([0.0, 0.0, 0.15]))
    stages = [
        judged(MugCleanupJudge(), scene(0.0, mug=ON_TABLE), 0.0).stage,
        judged(MugCleanupJudge(), scene(TRAVEL, mug=ON_TABLE), 0.0).stage,
        judged(MugCleanupJudge(), scene(TRAVEL, mug=ON_TABLE), 0.0, held=[MUG]).stage,
        judged(MugCleanupJudge(), scene(TRAVEL, mug=over), 0.0, held=[MUG]).stage,
        judged(MugCleanupJudge(), scene(TRAVEL), 0.0).stage,
        judged(MugCleanupJudge(), scene(TRAVEL / 2), 0.0).stage,
    ]
    assert stages == sorted(set(stages))
    assert stages[-1] < 1.0
