"""The scripted experts, one a task: each solves its task through commands alone."""

from functools import partial
from typing import Protocol

from cobalt_sim.experts.beam import BeamExpert
from cobalt_sim.experts.coffee import CoffeeExpert
from cobalt_sim.experts.expert import Expert
from cobalt_sim.experts.mug_cleanup import MugCleanupExpert
from cobalt_sim.experts.pick import PickExpert
from cobalt_sim.experts.pick_place import PickPlaceExpert
from cobalt_sim.experts.reach import ReachPoseExpert, ReachPositionExpert, ReachRotationExpert
from cobalt_sim.experts.square_nut import SquareNutExpert
from cobalt_sim.experts.stack import StackExpert
from cobalt_sim.experts.threading import ThreadingExpert
from cobalt_sim.experts.three_piece_assembly import ThreePieceExpert
from cobalt_sim.tasks.lift import CUBE
from cobalt_teleop.core.errors import CobaltError


class _MakeExpert(Protocol):
    def __call__(self, *, period_s: float) -> Expert: ...


EXPERTS: dict[str, _MakeExpert] = {
    'lift': partial(PickExpert, CUBE),
    'stack': StackExpert,
    'pick_place': PickPlaceExpert,
    'square_nut': SquareNutExpert,
    'threading': ThreadingExpert,
    'mug_cleanup': MugCleanupExpert,
    'coffee': CoffeeExpert,
    'three_piece_assembly': ThreePieceExpert,
    'reach_position': ReachPositionExpert,
    'reach_rotation': ReachRotationExpert,
    'reach_pose': ReachPoseExpert,
    'beam': BeamExpert,
}


def load_expert(task: str, *, period_s: float = 0.05) -> Expert:
    """Returns the expert of a task.

    Args:
        task: Its name.
        period_s: Time between two steps of the expert [s].

    Raises:
        CobaltError: The task has none.
    """
    if task not in EXPERTS:
        raise CobaltError(f"there is no scripted expert of the task '{task}'; there are those of {', '.join(EXPERTS)}")
    return EXPERTS[task](period_s=period_s)
