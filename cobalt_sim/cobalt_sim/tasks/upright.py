"""Whether a thing stands upright."""

import math

from cobalt_teleop.core.pose import Vector


def is_upright(quat_xyzw: Vector, tilt_rad: float = 0.1) -> bool:
    """Returns whether the z axis of a rotation (4,) xyzw leans from the vertical by less than an angle [rad]."""
    x, y = quat_xyzw[:2]
    return float(1.0 - 2.0 * (x * x + y * y)) > math.cos(tilt_rad)
