"""What the guard asks of an arm's kinematics."""

import math
from dataclasses import dataclass
from typing import Protocol

from cobalt_teleop.core.pose import Pose, Vector


@dataclass(frozen=True)
class JointSolution:
    """An answer of the inverse kinematics.

    Attributes:
        joints: (n,) [rad].
        position_error: Distance of the tool from the target [m].
        rotation_error: Angle of the tool from the target [rad].
        at_end: A joint would have gone further but for the end of its range.
        near_singular: The solver goes only a part of the way, as the posture is nearly singular.
        seed_dexterity: Of the posture that the solution was sought from: the share of the tool's largest speed that the
            joints' largest speeds suffice for, in the direction in which they suffice least; 0 in a singular posture,
            infinite where nobody knows.
        dexterity: Likewise of the solution.
    """

    joints: Vector
    position_error: float
    rotation_error: float
    at_end: bool = False
    near_singular: bool = False
    seed_dexterity: float = math.inf
    dexterity: float = math.inf


class Kinematics(Protocol):
    """Forward and inverse kinematics of one arm, in its base frame. Used by one thread at a time."""

    def forward(self, joints: Vector) -> Pose:
        """Returns the tool's pose for (n,) joint positions [rad]."""
        ...

    def solve(self, target: Pose, seed: Vector) -> JointSolution:
        """Returns the joints near `seed` (n,) [rad] that bring the tool to the target in the base frame.

        A seed that already reaches the target comes back unchanged, also where it lies outside a joint's range.
        """
        ...
