"""The scripted experts, one a task and arm: they solve their task through commands alone."""

from collections.abc import Mapping
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
from cobalt_sim.experts.two_arm_handover import two_arm_handover_experts
from cobalt_sim.experts.two_arm_lift import two_arm_lift_experts
from cobalt_sim.tasks.lift import CUBE
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.kinematics.arm_set import ARM


class _MakeExpert(Protocol):
    def __call__(self, *, period_s: float) -> Expert: ...


class _MakeExperts(Protocol):
    def __call__(self, *, period_s: float) -> Mapping[str, Expert]: ...


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


TWO_ARM_EXPERTS: dict[str, _MakeExperts] = {
    'two_arm_lift': two_arm_lift_experts,
    'two_arm_handover': two_arm_handover_experts,
}


def load_experts(task: str, *, period_s: float = 0.05) -> Mapping[str, Expert]:
    """Returns the experts of a task, one for each of the workcell's parts.

    Args:
        task: Its name.
        period_s: Time between two steps of an expert [s].

    Raises:
        CobaltError: The task has none.
    """
    if task in TWO_ARM_EXPERTS:
        return TWO_ARM_EXPERTS[task](period_s=period_s)
    return {ARM: load_expert(task, period_s=period_s)}


def load_expert(task: str, *, period_s: float = 0.05) -> Expert:
    """Returns the expert of a task for one arm.

    Args:
        task: Its name.
        period_s: Time between two steps of the expert [s].

    Raises:
        CobaltError: The task has none.
    """
    if task not in EXPERTS:
        raise CobaltError(f"there is no scripted expert of the task '{task}'; there are those of {', '.join(EXPERTS)}")
    return EXPERTS[task](period_s=period_s)
