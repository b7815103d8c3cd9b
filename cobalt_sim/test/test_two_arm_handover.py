import numpy as np
import pytest
from judged_states import judged

from cobalt_sim.tasks.two_arm_handover import BAR, BAR_HALF, BOX, FLOOR, WALL_HEIGHT, TwoArmHandoverJudge
from cobalt_teleop.core.pose import Pose

THE_BOX = Pose(np.array([0.47, -0.36, 0.0]))
NOBODY = {'left': '', 'right': ''}


def scene(shift=(0.0, 0.0, 0.0)):
    """The bar so far from where it lies in the box."""
    return {BAR: Pose(THE_BOX.position + np.array([0.0, 0.0, FLOOR + BAR_HALF[2]]) + shift), BOX: THE_BOX}


def test_in_the_box_and_let_go_of_counts():
    assert not judged(TwoArmHandoverJudge(), scene(), 0.25, held_by=NOBODY).success
    progress = judged(TwoArmHandoverJudge(), scene(), 0.3, held_by=NOBODY)
    assert progress.success
    assert progress.stage == progress.reward == 1.0


@pytest.mark.parametrize(
    ('objects', 'how'),
    [
        pytest.param(scene(), {'held_by': {'left': '', 'right': BAR}}, id='still in the hand'),
        pytest.param(scene(), {'held_by': NOBODY, 'touched': [BAR]}, id='the hand still at it'),
        pytest.param(scene((0.0, 0.0, WALL_HEIGHT)), {'held_by': NOBODY}, id='over the box'),
        pytest.param(scene((0.0, 0.14, 0.0)), {'held_by': NOBODY}, id='beside it'),
        pytest.param(scene((0.0, 0.65, 0.0)), {'held_by': NOBODY}, id='where it began'),
    ],
)
def test_it_does_not_count(objects, how):
    progress = judged(TwoArmHandoverJudge(), objects, **how)
    assert not progress.success
    assert progress.reward == 0.0
    assert progress.stage < 1.0


def test_the_stage_grows_along_the_way():
    table, middle, over = scene((0.0, 0.65, 0.0)), scene((0.0, 0.36, 0.2)), scene((0.0, 0.0, 0.1))
    stages = [
        judged(TwoArmHandoverJudge(), table, 0.0, held_by=NOBODY).stage,
        judged(TwoArmHandoverJudge(), table, 0.0, held_by={'left': BAR, 'right': ''}).stage,
        judged(TwoArmHandoverJudge(), middle, 0.0, held_by={'left': BAR, 'right': ''}).stage,
        judged(TwoArmHandoverJudge(), middle, 0.0, held_by={'left': BAR, 'right': BAR}).stage,
        judged(TwoArmHandoverJudge(), middle, 0.0, held_by={'left': '', 'right': BAR}).stage,
        judged(TwoArmHandoverJudge(), over, 0.0, held_by={'left': '', 'right': BAR}).stage,
        judged(TwoArmHandoverJudge(), scene(), 0.0, held_by=NOBODY).stage,
    ]
    assert stages == sorted(set(stages))
    assert stages[-1] < 1.0
