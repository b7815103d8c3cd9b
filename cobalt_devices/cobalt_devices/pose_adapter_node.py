"""`pose_adapter`: any topic of poses (a tracker, motion capture, another package) becomes a device."""

import math
import sys
from dataclasses import dataclass
from typing import Any

from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import Joy
from std_msgs.msg import Bool, Float32

from cobalt_devices.command_sender import CommandSender
from cobalt_devices.deadman import Deadman
from cobalt_devices.local_control import LocalControl, local_operator
from cobalt_devices.operator_axes import Reference
from cobalt_devices.pose_mapper import PoseSample
from cobalt_devices.pose_parameters import PoseMotionParameters
from cobalt_interfaces.msg import WorkcellInfo
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.parameter_table import parameter
from cobalt_teleop.core.pose import InvalidPoseError
from cobalt_teleop.ros.message_executor import message_executor
from cobalt_teleop.ros.parameters import read_parameters
from cobalt_teleop.ros.poses import pose_of
from cobalt_teleop.ros.process import Stop, run_node
from cobalt_teleop.ros.stamps import now_ns, to_nanoseconds, to_stamp

SOURCE = 'pose_adapter'

_SUMMARY = """\
Drives one arm by the poses of a topic, as long as a deadman switch is pressed.

The frame of the poses has its z axis up; heading_deg turns it so that its x axis is the operator's forward. Publish
the deadman as std_msgs/Bool, or take a button of a sensor_msgs/Joy; it has to be heard again within deadman_timeout_s.
A gripper topic is optional: std_msgs/Float32, 0 closed to 1 open.
"""


@dataclass(frozen=True, kw_only=True)
class PoseAdapterParameters(PoseMotionParameters):
    """Parameters of pose_adapter."""

    pose_topic: str = parameter('', 'Topic of geometry_msgs/PoseStamped that moves the arm')
    deadman_topic: str = parameter('', 'Topic of the deadman switch: the arm moves only while it says true')
    deadman_type: str = parameter('bool', 'Type of deadman_topic', choices=('bool', 'joy'))
    deadman_button: int = parameter(0, 'Button of the Joy that is the deadman', lower=0, upper=63)
    deadman_timeout_s: float = parameter(0.5, 'A deadman not heard for so long is released [s]', lower=0.05, upper=5.0)
    gripper_topic: str = parameter('', 'Topic of std_msgs/Float32 for the gripper; empty for none')
    part: str = parameter('arm', 'Part that the poses move')
    operator: str = parameter('', 'Name shown to others; who is logged in if empty')
    reference: str = parameter('base', 'Along whose axes it moves', choices=('view', 'base', 'tool'))
    heading_deg: float = parameter(
        0.0, "Yaw of the operator's forward in the frame of the poses [deg]", lower=-360.0, upper=360.0
    )
    scale: float = parameter(1.0, 'Metres of the tool for a metre of the poses', lower=0.05, upper=4.0)


class PoseAdapter(Node):
    """Answers each pose at once with a command. It has no timer of its own.

    Args:
        options: Of rclpy's Node.

    Raises:
        CobaltError: No topic of poses, or no deadman, was named.
    """

    def __init__(self, _: Stop, **options: Any) -> None:
        super().__init__('pose_adapter', **options)
        self._parameters = parameters = read_parameters(self, PoseAdapterParameters)
        for name in ('pose_topic', 'deadman_topic'):
            if not getattr(parameters, name):
                raise CobaltError(f"name a topic by the parameter '{name}'; see pose_adapter --help")
        self._reference = Reference[parameters.reference.upper()]
        self._deadman = Deadman(parameters.deadman_timeout_s)
        self._gripper = math.nan
        self._sender: CommandSender[PoseSample] | None = None
        self._control = LocalControl(
            self,
            source=SOURCE,
            operator=parameters.operator or local_operator(),
            workcells=parameters.workcells,
            part=parameters.part,
            on_workcell=self._on_workcell,
        )
        self.create_subscription(PoseStamped, parameters.pose_topic, self._on_pose, qos_profile_sensor_data)
        kind, take = (Bool, self._on_bool) if parameters.deadman_type == 'bool' else (Joy, self._on_joy)
        self.create_subscription(kind, parameters.deadman_topic, take, qos_profile_sensor_data)
        if parameters.gripper_topic:
            self.create_subscription(Float32, parameters.gripper_topic, self._on_gripper, qos_profile_sensor_data)

    def close(self) -> None:
        """Gives control back."""
        self._control.give_back()

    def _on_workcell(self, info: WorkcellInfo) -> None:
        parameters = self._parameters
        self._sender = CommandSender(self, info.workcell_id, parameters.part, SOURCE, parameters.make_mapper)
        self.get_logger().info(f'drives {info.workcell_id} while {self._parameters.deadman_topic} is pressed')

    def _on_bool(self, message: Bool) -> None:
        self._deadman.hear(message.data)

    def _on_joy(self, message: Joy) -> None:
        button = self._parameters.deadman_button
        self._deadman.hear(button < len(message.buttons) and bool(message.buttons[button]))

    def _on_gripper(self, message: Float32) -> None:
        if math.isfinite(message.data):
            self._gripper = message.data

    def _on_pose(self, message: PoseStamped) -> None:
        pressed = self._deadman.pressed
        if pressed:
            self._control.ask()
        sender, lease_id = self._sender, self._control.lease_id
        if sender is None or not lease_id:
            return
        try:
            pose = pose_of(message.pose)
        except InvalidPoseError as error:
            pose = None
            self.get_logger().warning(f'{self._parameters.pose_topic}: {error}', throttle_duration_sec=2.0)
        # Stamps of a tracker may be of another machine's clock: what counts here is when it was heard.
        heard_ns = now_ns()
        sender.send(
            PoseSample(
                stamp_ns=heard_ns,
                pose=pose,
                tracked=pose is not None,
                engaged=pressed,
                clutch_epoch=self._deadman.presses,
                gripper=self._gripper,
                reference=self._reference,
                heading=math.radians(self._parameters.heading_deg),
                scale=self._parameters.scale,
            ),
            session_id=self._control.session_id,
            lease_id=lease_id,
            stamp=to_stamp(heard_ns),
            device_stamp=to_stamp(to_nanoseconds(message.header.stamp)),
            shown_frame_stamp=Time(),
        )


def main() -> int:
    """Entry point of `pose_adapter`."""
    return run_node('pose_adapter', _SUMMARY, PoseAdapterParameters, PoseAdapter, make_executor=message_executor)


if __name__ == '__main__':
    sys.exit(main())
