"""Where a source will want the tool a tick from now, as far as its last two steps tell. Pure."""

import numpy as np

from cobalt_teleop.core.pose import Pose, Vector, inverse, multiply, quaternion, rotation_vector
from cobalt_teleop.core.tool_motion import length


class Foresight:
    """Follows the wanted poses of one epoch, one a tick.

    It errs towards standing still: a step that has no like before it (a jump, a late sample) foretells nothing, a hand
    that slows down is taken to slow down further, and none is taken to grow faster.
    """

    def __init__(self) -> None:
        self._wanted = Pose()
        self._way = np.zeros(3)
        self._turn = np.zeros(3)

    def start_from(self, wanted: Pose) -> None:
        """Begins an epoch with a pose, at rest."""
        self._wanted = wanted
        self._way = np.zeros(3)
        self._turn = np.zeros(3)

    def after(self, wanted: Pose) -> Pose:
        """Takes this tick's wanted pose; returns what the next tick's is expected to be."""
        way = wanted.position - self._wanted.position
        turn = rotation_vector(multiply(wanted.quat_xyzw, inverse(self._wanted.quat_xyzw)))
        ahead = Pose(
            wanted.position + _next_step(way, self._way),
            multiply(quaternion(_next_step(turn, self._turn)), wanted.quat_xyzw),
        )
        self._wanted, self._way, self._turn = wanted, way, turn
        return ahead


def _next_step(step: Vector, before: Vector) -> Vector:
    """Returns (3,) the step after two steps: as long as the shorter, or as their trend, whichever is least."""
    size = length(step)
    trend = 2.0 * step - before
    if float(step @ before) <= 0.0 or float(step @ trend) <= 0.0:
        return np.zeros(3)
    return step * (min(size, length(before), length(trend)) / size)
