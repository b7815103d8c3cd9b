"""Taking a cube from the table. Pure."""

from collections.abc import Generator
from typing import Any

import numpy as np

from cobalt_sim.experts.carrying import CarryingExpert, least_turn, pointing_down
from cobalt_sim.experts.scripted import Wish
from cobalt_sim.experts.steady_hand import ExpertSkill
from cobalt_teleop.core.pose import Pose, rotate


class PickExpert(CarryingExpert):
    """Takes a cube, lifts it and holds it there.

    Args:
        cube: Name of the object that it takes.
        period_s: Time between two calls of `step` [s].
        skill: How it moves.
    """

    def __init__(self, cube: str, *, period_s: float = 0.05, skill: ExpertSkill | None = None) -> None:
        super().__init__(period_s=period_s, skill=skill)
        self._cube = cube

    def _script(self) -> Generator[Wish, None, Any]:
        if (yield from self._take(self._grasp)):
            yield from self._stay(gripper=0.0, unless=lambda: self._lost(self._grasp))

    def _grasp(self) -> Pose:
        return grasp_of_cube(self.objects[self._cube], self._skill.lowest)


def grasp_of_cube(cube: Pose, lowest: float) -> Pose:
    """Returns the pose of a tool that grasps a cube from above.

    Args:
        cube: In the base frame.
        lowest: Height below which the tool does not go [m].
    """
    x, y, z = cube.position
    return Pose(np.array([x, y, max(z, lowest)]), pointing_down(grasp_yaw(cube)))


def grasp_yaw(cube: Pose) -> float:
    """Returns the turn about z [rad], between -45 and 45 deg, at which the fingers meet two faces of the cube."""
    level = min((rotate(cube.quat_xyzw, axis) for axis in np.eye(3)), key=lambda axis: abs(axis[2]))
    return least_turn(float(np.arctan2(level[1], level[0])), np.pi / 2)
