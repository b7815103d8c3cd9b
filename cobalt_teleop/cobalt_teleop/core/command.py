"""A command for one part, as the guard sees it: pure, checked for form, with its age on this machine's clock."""

from dataclasses import dataclass, field
from enum import IntEnum, IntFlag

import numpy as np

from cobalt_teleop.core.pose import Pose, Vector

Press = tuple[str, int]
"""One press of a clutch: its source, and the source's epoch."""

NOTHING_SHOWN_NS = 1
"""What stands for the stamp of the picture that somebody sees who sees none [ns]: too old to drive by."""


class Mode(IntEnum):
    """What of a command counts. Values of TeleopCommand.MODE_*."""

    POSE = 0
    TWIST = 1
    JOINT = 2


class Reference(IntEnum):
    """What a pose is measured from. Values of TeleopCommand.REFERENCE_*."""

    ENGAGE = 0
    ABSOLUTE = 1


class Authority(IntEnum):
    """Who drives. Values of ControlStep.AUTHORITY_*."""

    HOLD = 0
    HUMAN = 1
    POLICY = 2
    HOMING = 3


class HoldReason(IntEnum):
    """Why a part holds. Values of PartStep.HOLD_*."""

    NONE = 0
    NO_COMMAND = 1
    NOT_ENGAGED = 2
    STALE = 3
    NOT_TRACKED = 4
    NO_LEASE = 5
    FOREIGN_LEASE = 6
    FOREIGN_PUBLISHER = 7
    INVALID = 8
    JUMP = 9
    REENGAGE = 10
    EMERGENCY_STOP = 11
    AUTHORITY = 12
    RESETTING = 13
    FAULT = 14
    FRAME_STALE = 15
    UNSUPPORTED = 16
    BLOCKED = 17


class Limit(IntFlag):
    """What shortened a command. Values of PartStep.LIMIT_*."""

    NONE = 0
    WORKSPACE_BOX = 1
    LINEAR_SPEED = 2
    ANGULAR_SPEED = 4
    LINEAR_ACCELERATION = 8
    ANGULAR_ACCELERATION = 16
    JOINT_POSITION = 32
    JOINT_SPEED = 64
    SINGULARITY = 128
    IK_RESIDUAL = 256
    GRIPPER_RANGE = 512
    COMMAND_REJECTED = 1024
    JOINT_ACCELERATION = 2048


@dataclass(frozen=True, kw_only=True)
class MotionCommand:
    """The newest command of one source.

    Attributes:
        mode: What counts.
        reference: What the pose is measured from.
        pose: Of the tool or its motion; None if the numbers were no pose.
        twist: (6,) linear [m/s], angular [rad/s], axes of the base frame; None if not finite.
        gripper: 0 closed to 1 open; NaN leaves it.
        engaged: The clutch is pressed.
        tracked: The device knows its pose.
        clutch_epoch: +1 at each press.
        source: Name of the device or policy.
        sample: +1 at each message that was admitted: tells a new sample from one that is held.
        age_s: Since the middleware received it [s], on the monotonic clock.
        frame_age_s: Age of the picture that the operator saw [s]; 0 if the device does not tell.
    """

    mode: Mode | None
    reference: Reference | None
    pose: Pose | None
    twist: Vector | None = field(default_factory=lambda: np.zeros(6))
    gripper: float = float('nan')
    engaged: bool
    tracked: bool
    clutch_epoch: int
    source: str = ''
    sample: int = 0
    age_s: float
    frame_age_s: float = 0.0

    @property
    def press(self) -> Press:
        """The press of the clutch that it belongs to."""
        return self.source, self.clutch_epoch
