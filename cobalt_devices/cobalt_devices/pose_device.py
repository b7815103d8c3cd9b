"""The node of a device of browser pages that knows its pose: a phone, or the controllers of a headset."""

from functools import partial
from typing import Any

from rclpy.node import Node

from cobalt_devices.fresh_press import FreshPressMapper
from cobalt_devices.operator_axes import reference_of
from cobalt_devices.page_device import PageDevice, device_time_ns
from cobalt_devices.pose_mapper import PoseSample
from cobalt_devices.pose_parameters import PoseDeviceParameters
from cobalt_devices.sample_publishers import SamplePublishers
from cobalt_interfaces.msg import DeviceSample
from cobalt_teleop.core.pose import InvalidPoseError
from cobalt_teleop.ros.message_executor import message_executor
from cobalt_teleop.ros.parameters import read_parameters
from cobalt_teleop.ros.poses import pose_of
from cobalt_teleop.ros.process import Stop, run_node


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
        publishers: Tells whose samples count.
        options: Of rclpy's Node.
    """

    def __init__(self, device: str, _: Stop, publishers: SamplePublishers | None = None, **options: Any) -> None:
        super().__init__(f'{device}_node', **options)
        parameters = read_parameters(self, PoseDeviceParameters)
        self._device = PageDevice(
            self,
            device,
            workcells=parameters.workcells,
            parts=parameters.parts,
            make_mapper=FreshPressMapper.around(parameters.make_mapper),
            read=pose_sample,
            publishers=publishers or SamplePublishers(),
        )


def run_pose_device(device: str, summary: str) -> int:
    """Entry point of a node for one kind of device; returns the exit code.

    Args:
        device: One of topics.PAGE_DEVICES.
        summary: For `--help`.
    """
    make_node = partial(PoseDeviceNode, device)
    return run_node(f'{device}_node', summary, PoseDeviceParameters, make_node, make_executor=message_executor)
