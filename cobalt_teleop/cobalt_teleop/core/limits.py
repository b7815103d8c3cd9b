"""What the guard keeps a part within."""

from dataclasses import dataclass

import numpy as np

from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.pose import Vector


@dataclass(frozen=True, kw_only=True)
class PartLimits:
    """Limits of one arm. Sliding joints have metres where turning ones have radians.

    Attributes:
        workspace_min: (3,) [m], corner of the box for the tool, in the base frame.
        workspace_max: (3,) [m].
        linear_speed: [m/s] of the tool's target.
        angular_speed: [rad/s].
        linear_acceleration: [m/s^2].
        angular_acceleration: [rad/s^2].
        joint_lower: (n,) [rad].
        joint_upper: (n,) [rad].
        joint_speed: (n,) [rad/s].
        joint_acceleration: (n,) [rad/s^2].
        joint_margin: What targets keep free at both ends of a joint's range [rad].
        watchdog_s: Age of a command above which the part holds [s].
        jump_m: Change of a command's position between two samples that is taken for lost tracking [m].
        jump_rad: Likewise of its rotation [rad].
        following_error: Distance of a joint from its target above which the arm is taken to be blocked [rad].

    Raises:
        CobaltError: A speed, an acceleration or the following error is not above 0, or a margin leaves nothing of a
            range.
    """

    workspace_min: Vector
    workspace_max: Vector
    linear_speed: float
    angular_speed: float
    linear_acceleration: float
    angular_acceleration: float
    joint_lower: Vector
    joint_upper: Vector
    joint_speed: Vector
    joint_acceleration: Vector
    joint_margin: float = 0.05
    watchdog_s: float = 0.2
    jump_m: float = 0.05
    jump_rad: float = 0.61
    following_error: float = 0.2

    def __post_init__(self) -> None:
        for name in (
            'linear_speed',
            'angular_speed',
            'linear_acceleration',
            'angular_acceleration',
            'joint_speed',
            'joint_acceleration',
            'following_error',
        ):
            if not np.all(np.asarray(getattr(self, name)) > 0.0):
                raise CobaltError(f"the limit '{name}' must be above 0, not {getattr(self, name)}")
        if not (self.joint_margin >= 0.0 and np.all(self.joint_upper - self.joint_lower > 2.0 * self.joint_margin)):
            raise CobaltError(
                f"the limit 'joint_margin' must be 0 or more, and less than half of each joint's range,"
                f' not {self.joint_margin}'
            )

    def joint_bounds(self, joints: Vector) -> tuple[Vector, Vector]:
        """Returns the (n,) lower and upper bounds of the next targets from (n,) joints [rad].

        They keep the margin, but a joint that is in it or outside its range already is not thrown back: it may stay or
        come nearer.
        """
        return (
            np.minimum(self.joint_lower + self.joint_margin, joints),
            np.maximum(self.joint_upper - self.joint_margin, joints),
        )
