"""The node of a device of browser pages that knows its pose: a phone, or the controllers of a headset."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from rclpy.node import Node

from cobalt_devices.command_sender import NextEpoch
from cobalt_devices.operator_axes import reference_of
from cobalt_devices.page_device import PageDevice, device_time_ns
from cobalt_devices.pose_filters import NAMES, filter_maker
from cobalt_devices.pose_mapper import PoseMapper, PoseSample
from cobalt_interfaces.msg import DeviceSample
from cobalt_teleop.core.pose import InvalidPoseError
from cobalt_teleop.ros.message_executor import message_executor
from cobalt_teleop.ros.parameters import parameter, read_parameters
from cobalt_teleop.ros.poses import pose_of
from cobalt_teleop.ros.process import Stop, run_node


@dataclass(frozen=True, kw_only=True)
class PoseMotionParameters:
    """Parameters of how poses move an arm."""

    workcells: tuple[str, ...] = parameter((), 'Workcells to serve, as names or patterns; empty for all')
    view_yaw_deg: float = parameter(
        180.0, 'Yaw of the view in the base frame [deg]: 180 for a camera that faces the arm', lower=-360.0, upper=360.0
    )
    smoothing: str = parameter('none', 'Smoothing of the motion', choices=NAMES)
    smoothing_lag_s: float = parameter(0.06, 'Lag of fixed_lag [s]', lower=0.005, upper=0.5)
    smoothing_cutoff_hz: float = parameter(2.0, 'Cut-off of one_euro at rest [Hz]', lower=0.1, upper=20.0)

    def make_mapper(self, next_epoch: NextEpoch) -> PoseMapper:
        """Returns the mapper of a session."""
        make_filter = filter_maker(self.smoothing, lag_s=self.smoothing_lag_s, min_cutoff_hz=self.smoothing_cutoff_hz)
        return PoseMapper(self.view_yaw_deg, make_filter, next_epoch)


@dataclass(frozen=True, kw_only=True)
class PoseDeviceParameters(PoseMotionParameters):
    """Parameters of a device of pages that knows its pose."""

    parts: tuple[str, ...] = parameter((), 'Parts that it may drive; empty for all')


def pose_sample(sample: DeviceSample) -> PoseSample:
    """Returns what the mapper takes of a page's sample. A pose with numbers that are none counts as lost tracking."""
    try:
        pose = pose_of(sample.pose) if sample.has_pose else None
    except InvalidPoseError:
        pose = None
    return PoseSample(
        stamp_ns=device_time_ns(sample),
        pose=pose,
        tracked=sample.tracked,
        engaged=sample.engaged,
        clutch_epoch=sample.clutch_epoch,
        gripper=sample.gripper,
        reference=reference_of(sample.reference),
        heading=sample.heading,
        scale=sample.scale or 1.0,
    )


class PoseDeviceNode(Node):
    """Drives arms by the poses of one kind of device.

    Args:
        device: One of topics.PAGE_DEVICES.
        options: Of rclpy's Node.
    """

    def __init__(self, device: str, _: Stop, **options: Any) -> None:
        super().__init__(f'{device}_node', **options)
        parameters = read_parameters(self, PoseDeviceParameters)
        self._device = PageDevice(
            self,
            device,
            workcells=parameters.workcells,
            parts=parameters.parts,
            make_mapper=parameters.make_mapper,
            read=pose_sample,
        )


def run_pose_device(device: str, summary: str) -> int:
    """Entry point of a node for one kind of device; returns the exit code.

    Args:
        device: One of topics.PAGE_DEVICES.
        summary: For `--help`.
    """
    make_node = partial(PoseDeviceNode, device)
    return run_node(f'{device}_node', summary, PoseDeviceParameters, make_node, make_executor=message_executor)
