"""How often the guard had to change a command. Source: shares of control_step's limit bits."""

import numpy as np

from cobalt_recorder.metrics.part_record import PartRecord
from cobalt_recorder.metrics.quantity import Quantity, known, unknown
from cobalt_teleop.core.command import Limit

REACH = (
    Limit.WORKSPACE_BOX | Limit.JOINT_POSITION | Limit.SINGULARITY | Limit.IK_RESIDUAL | Limit.GRIPPER_RANGE
)  # fmt: skip
"""Where the arm could not go."""

PACE = (
    Limit.LINEAR_SPEED
    | Limit.ANGULAR_SPEED
    | Limit.LINEAR_ACCELERATION
    | Limit.ANGULAR_ACCELERATION
    | Limit.JOINT_SPEED
    | Limit.JOINT_ACCELERATION
)
"""How fast the arm could not go."""


def _share(part: PartRecord, bits: Limit) -> Quantity:
    limits = part.rows['limits'][part.driven]
    return known(float(np.mean(limits & int(bits) != 0))) if limits.size else unknown('nothing was driven')


def limit_share(part: PartRecord) -> Quantity:
    """Share of the driven rows in which the arm could not reach what was asked, 0 to 1.

    The edge of the workspace, a joint's range, a singular posture, no solution, or the gripper's range.
    """
    return _share(part, REACH)


def saturation_share(part: PartRecord) -> Quantity:
    """Share of the driven rows in which a limit of speed or acceleration slowed the arm down, 0 to 1."""
    return _share(part, PACE)


def rejected_commands(part: PartRecord) -> Quantity:
    """Rows in which an invalid command arrived and was not used."""
    return known(float(np.count_nonzero(part.rows['limits'] & int(Limit.COMMAND_REJECTED))))
