"""How far a thing is on its way from the table to its place."""

import numpy as np

from cobalt_sim.tasks.task import SceneState
from cobalt_teleop.core.pose import Vector

_REACH_M = 0.30


def carry_stage(state: SceneState, name: str, place: Vector) -> float:
    """Returns 0 to 0.3 for a tool that nears the thing, 0.4 to 0.8 for a held thing that nears its place.

    Args:
        state: Of the workcell.
        name: Of the thing.
        place: (3,) where its frame shall come, in the base frame [m].
    """
    thing = state.objects[name].position
    if name not in state.held:
        return 0.3 * max(0.0, 1.0 - float(np.linalg.norm(thing - state.tool.position)) / _REACH_M)
    return 0.4 + 0.4 * max(0.0, 1.0 - float(np.linalg.norm(thing - place)) / _REACH_M)
