"""What the guard asks of an arm's kinematics."""

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
    """

    joints: Vector
    position_error: float
    rotation_error: float


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
