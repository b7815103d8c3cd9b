import numpy as np
import pytest
from judged_states import judged

from cobalt_sim.tasks.threading import NEEDLE, RING, RING_HEIGHT, THROUGH_M, TIP, ThreadingJudge, ring_at
from cobalt_teleop.core.pose import Pose, quaternion

PLACE = np.array([0.55, 0.1])


def scene(through, *, aside=0.0, turn=(0.0, 0.0, 0.0), from_behind=False):
    """The needle with its tip so far beyond the ring."""
    yaw = np.pi if from_behind else 0.0
    way = -1.0 if from_behind else 1.0
    place = np.array([PLACE[0] - way * (TIP - through), PLACE[1] + aside, RING_HEIGHT])
    x, y, z = turn
    return {NEEDLE: Pose(place, quaternion([x, y, z + yaw])), RING: ring_at(PLACE, 0.0)}


@pytest.mark.parametrize('from_behind', [False, True])
@pytest.mark.parametrize('held', [(), (NEEDLE,)])
def test_through_the_ring_counts_from_either_side_in_the_hand_or_not(from_behind, held):
    objects = scene(THROUGH_M + 0.001, from_behind=from_behind)
    assert not judged(ThreadingJudge(), objects, 0.25, held=held).success
    progress = judged(ThreadingJudge(), objects, 0.3, held=held)
    assert progress.success
    assert progress.stage == progress.reward == 1.0


@pytest.mark.parametrize(
    'objects',
    [
        pytest.param(scene(THROUGH_M - 0.002), id='not far enough'),
        pytest.param(scene(-0.01), id='before the ring'),
        pytest.param(scene(0.05, aside=0.03), id='past it on the outside'),
        pytest.param(scene(TIP + 0.01), id='all of it beyond'),
        pytest.param(scene(0.05, turn=(0.0, 0.0, 1.2)), id='across, beside the hole'),
    ],
)
def test_it_does_not_count(objects):
    progress = judged(ThreadingJudge(), objects, held=[NEEDLE])
    assert not progress.success
    assert progress.reward == 0.0
    assert progress.stage < 1.0


def test_the_stage_grows_along_the_way():
    stages = [
        judged(ThreadingJudge(), scene(-0.2), 0.0).stage,
        judged(ThreadingJudge(), scene(-0.2), 0.0, held=[NEEDLE]).stage,
        judged(ThreadingJudge(), scene(-0.01), 0.0, held=[NEEDLE]).stage,
        judged(ThreadingJudge(), scene(0.01), 0.0, held=[NEEDLE]).stage,
        judged(ThreadingJudge(), scene(0.02), 0.0, held=[NEEDLE]).stage,
    ]
    assert stages == sorted(set(stages))
    assert stages[-1] < 1.0
