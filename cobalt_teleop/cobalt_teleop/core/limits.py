"""What the guard keeps a part within."""

from dataclasses import dataclass

from cobalt_teleop.core.pose import Vector


@dataclass(frozen=True, kw_only=True)
class PartLimits:
    """Limits of one arm.

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
        watchdog_s: Age of a command above which the part holds [s].
        jump_m: Change of a command's position between two samples that is taken for lost tracking [m].
        jump_rad: Likewise of its rotation [rad].
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
    watchdog_s: float = 0.2
    jump_m: float = 0.05
    jump_rad: float = 0.61
