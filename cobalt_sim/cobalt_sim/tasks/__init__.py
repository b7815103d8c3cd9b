"""The tasks, one file each. A new task is a file and a line in TASKS."""

from cobalt_sim.tasks.beam import BeamTask
from cobalt_sim.tasks.coffee import CoffeeTask
from cobalt_sim.tasks.lift import LiftTask
from cobalt_sim.tasks.mug_cleanup import MugCleanupTask
from cobalt_sim.tasks.pick_place import PickPlaceTask
from cobalt_sim.tasks.reach_pose import ReachPoseTask
from cobalt_sim.tasks.reach_position import ReachPositionTask
from cobalt_sim.tasks.reach_rotation import ReachRotationTask
from cobalt_sim.tasks.square_nut import SquareNutTask
from cobalt_sim.tasks.stack import StackTask
from cobalt_sim.tasks.task import Task
from cobalt_sim.tasks.threading import ThreadingTask
from cobalt_sim.tasks.three_piece_assembly import ThreePieceAssemblyTask
from cobalt_sim.tasks.two_arm_handover import TwoArmHandoverTask
from cobalt_sim.tasks.two_arm_lift import TwoArmLiftTask
from cobalt_teleop.core.errors import CobaltError

TASKS: dict[str, type[Task]] = {
    task.info.name: task
    for task in (
        LiftTask,
        StackTask,
        PickPlaceTask,
        SquareNutTask,
        ThreadingTask,
        MugCleanupTask,
        CoffeeTask,
        ThreePieceAssemblyTask,
        TwoArmLiftTask,
        TwoArmHandoverTask,
        ReachPositionTask,
        ReachRotationTask,
        ReachPoseTask,
        BeamTask,
    )
}


def load_task(name: str) -> Task:
    """Returns a task by name.

    Raises:
        CobaltError: There is no such task.
    """
    if name not in TASKS:
        raise CobaltError(f"there is no task '{name}'; known are {', '.join(TASKS)}")
    return TASKS[name]()
