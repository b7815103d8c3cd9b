"""How the operator's forward, left and up lie in the arm's base frame."""

import math
from enum import IntEnum

import numpy as np
from transforms3d import quaternions

from cobalt_teleop.core.pose import Vector, multiply, quaternion, xyzw


class Reference(IntEnum):
    """Along whose axes a device moves the tool. Values of DeviceSample.REFERENCE_*."""

    VIEW = 0
    BASE = 1
    TOOL = 2


# Forward is where the gripper points (tool z), left is tool y, up is away from tool x: as the wrist camera shows it.
_TOOL_FROM_OPERATOR = xyzw(quaternions.mat2quat(np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])))


def base_from_operator(
    reference: Reference, view_yaw_deg: float, tool_quat_xyzw: Vector, heading: float = 0.0
) -> Vector:
    """Returns the rotation (4,) xyzw from a device's axes (x forward, y left, z up; REP 103) to the base frame's.

    Args:
        reference: Which axes the operator moves along.
        view_yaw_deg: Yaw of who looks at the main camera's picture, in the base frame [deg].
        tool_quat_xyzw: (4,) the tool in the base frame.
        heading: Yaw of the operator's forward in the device's frame [rad].
    """
    operator_from_device = quaternion((0.0, 0.0, -heading))
    if reference is Reference.TOOL:
        return multiply(multiply(tool_quat_xyzw, _TOOL_FROM_OPERATOR), operator_from_device)
    yaw = math.radians(view_yaw_deg) if reference is Reference.VIEW else 0.0
    return multiply(quaternion((0.0, 0.0, yaw)), operator_from_device)


_REFERENCES = {int(reference): reference for reference in Reference}


def reference_of(value: int) -> Reference:
    """Returns the reference of a DeviceSample; the view for a value that is none."""
    return _REFERENCES.get(value, Reference.VIEW)
