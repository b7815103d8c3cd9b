"""From the pose of a phone, a controller or a tracker to the motion since engage, without ROS.

The clutch is the device's own: what counts is how the device has moved since it was pressed. The host anchors that
motion to its own measured pose, so a mapper never needs to know where the arm is.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cobalt_devices.device_command import DeviceCommand, Feedback
from cobalt_devices.operator_axes import Reference, base_from_operator
from cobalt_devices.pose_filters import PoseFilter
from cobalt_teleop.core.pose import Pose, Vector, continuous, inverse, multiply, rotation_matrix

_RESTART_NS = 1_000_000_000


@dataclass(frozen=True, kw_only=True)
class PoseSample:
    """Where a device is at one moment.

    Attributes:
        stamp_ns: On the device's own clock [ns].
        pose: In the device's frame, whose z axis points up; None if it does not know.
        tracked: The device knows its pose.
        engaged: Its clutch is pressed.
        clutch_epoch: The device's count of presses.
        gripper: 0 closed to 1 open, NaN to leave it.
        reference: Along whose axes it moves the tool.
        heading: Yaw of the operator's forward in the device's frame [rad].
        scale: Metres of the tool for a metre of the device.
    """

    stamp_ns: int
    pose: Pose | None
    tracked: bool
    engaged: bool
    clutch_epoch: int
    gripper: float = math.nan
    reference: Reference = Reference.VIEW
    heading: float = 0.0
    scale: float = 1.0


@dataclass
class _Press:
    """One press of the clutch, with the axes and the scale that held when it began.

    Attributes:
        zero_position: (3,) of the device at the press, in its frame [m].
        zero_inverse: (4,) xyzw, opposite of its rotation then.
        base_from_device: (3, 3) rotation.
    """

    number: int
    device_epoch: int
    zero_position: Vector
    zero_inverse: Vector
    base_from_device: Vector
    scale: float
    motion: Pose
    filter: PoseFilter | None


class PoseMapper:
    """Turns the poses of one operator's device into commands for one part.

    Args:
        view_yaw_deg: Yaw of who looks at the main camera's picture, in the base frame [deg].
        make_filter: Makes what smooths the motion of a press; None to leave it as it is.
        next_epoch: Returns the number of a new epoch, one that the host has not seen yet.
    """

    def __init__(
        self, view_yaw_deg: float, make_filter: Callable[[], PoseFilter] | None, next_epoch: Callable[[], int]
    ) -> None:
        self._view_yaw_deg = view_yaw_deg
        self._make_filter = make_filter
        self._next_epoch = next_epoch
        self._newest_ns = 0
        self._press: _Press | None = None
        self._last_number = 0

    def listens(self, sample: PoseSample) -> bool:
        """Returns whether `update` has a use for feedback with this sample: for the tool's axes, at a fresh press."""
        return sample.engaged and sample.reference is Reference.TOOL and self._is_fresh(sample)

    def update(self, sample: PoseSample, feedback: Feedback | None = None) -> DeviceCommand | None:
        """Takes one sample and returns the command that it makes.

        A repeated sample changes nothing, a lost one costs nothing but its moment: a motion counts from its press.

        Args:
            sample: Newest state of the device.
            feedback: Newest tick of the host, if there is one.

        Returns:
            None for a sample that is older than the one before, or for a press along the axes of a tool whose pose is
            not known yet.
        """
        if self._newest_ns - _RESTART_NS <= sample.stamp_ns < self._newest_ns:
            return None
        self._newest_ns = sample.stamp_ns
        tracked = sample.tracked and sample.pose is not None
        if not sample.engaged:
            self._press = None
            return self._command(sample, engaged=False, tracked=tracked)
        if self._is_fresh(sample):
            if sample.reference is Reference.TOOL and feedback is None:
                return None
            self._begin(sample, feedback)
        press = self._press
        if press is not None and tracked and sample.pose is not None:
            motion = _motion(press, sample.pose)
            press.motion = motion if press.filter is None else press.filter.smooth(sample.stamp_ns * 1e-9, motion)
        return self._command(sample, engaged=True, tracked=tracked)

    def _is_fresh(self, sample: PoseSample) -> bool:
        return self._press is None or self._press.device_epoch != sample.clutch_epoch

    def _begin(self, sample: PoseSample, feedback: Feedback | None) -> None:
        tool = feedback.measured.quat_xyzw if feedback is not None else Pose().quat_xyzw
        self._last_number = self._next_epoch()
        zero = sample.pose or Pose()
        axes = base_from_operator(sample.reference, self._view_yaw_deg, tool, sample.heading)
        self._press = _Press(
            number=self._last_number,
            device_epoch=sample.clutch_epoch,
            zero_position=zero.position,
            zero_inverse=inverse(zero.quat_xyzw),
            base_from_device=rotation_matrix(axes),
            scale=sample.scale,
            motion=Pose(),
            filter=self._make_filter() if self._make_filter is not None else None,
        )

    def _command(self, sample: PoseSample, *, engaged: bool, tracked: bool) -> DeviceCommand:
        return DeviceCommand(
            pose=self._press.motion if self._press is not None else Pose(),
            gripper=sample.gripper if engaged else math.nan,
            engaged=engaged,
            tracked=tracked,
            clutch_epoch=self._last_number,
            filter_delay_s=self._press.filter.delay_s
            if self._press is not None and self._press.filter is not None
            else 0.0,
        )


def _motion(press: _Press, pose: Pose) -> Pose:
    """Returns the motion since the press, in axes of the base frame; the sign of its quaternion stays continuous."""
    axes = press.base_from_device
    moved = axes @ (pose.position - press.zero_position) * press.scale
    turned = multiply(pose.quat_xyzw, press.zero_inverse)
    # In other axes a rotation is the same about an axis that is turned with them.
    in_base = np.append(axes @ turned[:3], turned[3])
    return Pose(moved, continuous(in_base, press.motion.quat_xyzw))
