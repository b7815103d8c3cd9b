"""`pose_adapter`: any topic of poses (a tracker, motion capture, another package) becomes a device."""

import math
import sys
from dataclasses import dataclass, replace
from typing import Any

from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import Joy
from std_msgs.msg import Bool, Float32

from cobalt_devices.command_sender import CommandSender
from cobalt_devices.deadman import Deadman
from cobalt_devices.fresh_press import FreshPressMapper
from cobalt_devices.local_control import LocalControl, local_operator
from cobalt_devices.operator_axes import Reference
from cobalt_devices.pose_mapper import PoseSample
from cobalt_devices.pose_parameters import PoseMotionParameters
from cobalt_interfaces.msg import WorkcellInfo
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.lease import TAKING_CONTROL_S
from cobalt_teleop.core.parameter_table import parameter
from cobalt_teleop.core.pose import InvalidPoseError
from cobalt_teleop.ros.message_executor import message_executor
from cobalt_teleop.ros.message_origin import Origin, WithOrigin, publishers_of
from cobalt_teleop.ros.parameters import read_parameters
from cobalt_teleop.ros.poses import pose_of
from cobalt_teleop.ros.process import Stop, run_node
from cobalt_teleop.ros.stamps import now_ns, to_stamp

SOURCE = 'pose_adapter'

_SAY_AGAIN_S = 2.0

_SUMMARY = """\
Drives one arm by the poses of a topic, as long as a deadman switch is pressed.

The frame of the poses has its z axis up; heading_deg turns it so that its x axis is the operator's forward. Publish
the deadman as std_msgs/Bool, or take a button of a sensor_msgs/Joy; it has to be heard again within deadman_timeout_s,
and to be heard as released before it is pressed. One publisher's poses in one frame drive during a press: when another
joins in, or the frame changes, the arm holds until the deadman is pressed anew.
A gripper topic is optional: std_msgs/Float32, 0 closed to 1 open.
"""


@dataclass(frozen=True, kw_only=True)
class PoseAdapterParameters(PoseMotionParameters):
    """Parameters of pose_adapter."""

    workcells: tuple[str, ...] = parameter(
        (), 'It drives the first workcell found of these names or patterns; empty for whichever is found first'
    )
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
        self._lease_id = ''
        self._press = _PosesOfPress()
        self._sender: CommandSender[PoseSample] | None = None
        self._control = LocalControl(
            self,
            source=SOURCE,
            operator=parameters.operator or local_operator(),
            workcells=parameters.workcells,
            part=parameters.part,
            on_workcell=self._on_workcell,
        )
        take_pose = WithOrigin(self._on_pose)
        self.create_subscription(PoseStamped, parameters.pose_topic, take_pose, qos_profile_sensor_data)
        kind, take = (Bool, self._on_bool) if parameters.deadman_type == 'bool' else (Joy, self._on_joy)
        self.create_subscription(kind, parameters.deadman_topic, WithOrigin(take), qos_profile_sensor_data)
        if parameters.gripper_topic:
            self.create_subscription(Float32, parameters.gripper_topic, self._on_gripper, qos_profile_sensor_data)

    def close(self) -> None:
        """Gives control back."""
        self._control.give_back()

    def _on_workcell(self, info: WorkcellInfo) -> None:
        parameters = self._parameters
        make_mapper = FreshPressMapper.around(parameters.make_mapper)
        self._sender = CommandSender(self, info.workcell_id, parameters.part, SOURCE, make_mapper)
        self.get_logger().info(f'drives {info.workcell_id} while {self._parameters.deadman_topic} is pressed')

    def _on_bool(self, message: Bool, origin: Origin) -> None:
        self._deadman.hear(message.data, origin.gid)

    def _on_joy(self, message: Joy, origin: Origin) -> None:
        button = self._parameters.deadman_button
        self._deadman.hear(button < len(message.buttons) and bool(message.buttons[button]), origin.gid)

    def _on_gripper(self, message: Float32) -> None:
        if math.isfinite(message.data):
            self._gripper = message.data

    def _on_pose(self, message: PoseStamped, origin: Origin) -> None:
        self._control.attend(pressed=self._deadman.pressed)
        if self._deadman.pressed:
            self._control.ask()
            self._follow_press(message, origin)
            if self._control.refusal:
                self._say(f'no control: {self._control.refusal}')
        elif self._deadman.objection:
            self._say(f'{self._parameters.deadman_topic} does not count as pressed: {self._deadman.objection}')
        sender, lease_id = self._sender, self._control.lease_id
        if sender is None or not lease_id:
            return
        try:
            if lease_id != self._lease_id:
                self._lease_id = lease_id
                self._vouch_for_press(sender, lease_id)
            sender.send(self._sample(message), lease_id=lease_id, **self._stamps(message))
        except Exception as error:
            # Whatever a message holds, the node lives on; a press that it came in is over.
            sender.forget(lease_id)
            self._say(f'a pose of {self._parameters.pose_topic} is left out: {type(error).__name__}: {error}')

    def _follow_press(self, message: PoseStamped, origin: Origin) -> None:
        parameters, press = self._parameters, self._press
        was_broken = bool(press.broken)
        if not press.admits(self._deadman.presses, origin.gid, message.header.frame_id) and not was_broken:
            names = publishers_of(self, parameters.pose_topic)
            heard = ' and '.join(names.get(gid, 'somebody') for gid in press.publishers)
            self.get_logger().warning(
                f'{parameters.pose_topic}: the arm holds, as {press.broken}, heard from {heard}; '
                f'release {parameters.deadman_topic}, then press it again'
            )

    def _vouch_for_press(self, sender: CommandSender[PoseSample], lease_id: str) -> None:
        """Control has come: the press that asked for it may drive by it, but not one that is much older."""
        if not self._deadman.pressed:
            return
        if self._deadman.pressed_for_s > TAKING_CONTROL_S:
            self._say(f'{self._parameters.deadman_topic} was pressed before there was control; release it, press again')
            return
        rest = self._sample(PoseStamped())
        rest = replace(rest, engaged=False, clutch_epoch=rest.clutch_epoch - 1)
        sender.send(rest, lease_id=lease_id, **self._stamps(PoseStamped()))

    def _sample(self, message: PoseStamped) -> PoseSample:
        parameters = self._parameters
        pressed = self._deadman.pressed
        try:
            pose = pose_of(message.pose)
        except InvalidPoseError as error:
            pose = None
            self._say(f'{parameters.pose_topic}: {error}')
        if pressed and self._press.broken:
            pose = None
        return PoseSample(
            # Stamps of a tracker may be of another machine's clock: what counts here is when it was heard.
            stamp_ns=now_ns(),
            pose=pose,
            tracked=pose is not None,
            engaged=pressed,
            clutch_epoch=self._deadman.presses,
            gripper=self._gripper,
            reference=self._reference,
            heading=math.radians(parameters.heading_deg),
            scale=parameters.scale,
        )

    @staticmethod
    def _stamps(message: PoseStamped) -> dict[str, Time]:
        return {
            'stamp': to_stamp(now_ns()),
            'device_stamp': message.header.stamp,
            'shown_frame_stamp': Time(),
        }

    def _say(self, words: str) -> None:
        self.get_logger().warning(words, throttle_duration_sec=_SAY_AGAIN_S)


class _PosesOfPress:
    """Where the poses of one press come from: one publisher, in one frame."""

    def __init__(self) -> None:
        self._number = 0
        self._publisher = b''
        self._frame = ''
        self.publishers: list[bytes] = []
        """Of the poses of this press."""
        self.broken = ''
        """Why nothing that comes in this press moves the arm any more, in words; empty if it does."""

    def admits(self, number: int, publisher: bytes, frame: str) -> bool:
        """Takes where a pose comes from, and returns whether it may move the arm.

        Args:
            number: Of the press.
            publisher: Its gid.
            frame: Of the pose.
        """
        if number != self._number:
            self._number, self._publisher, self._frame = number, publisher, frame
            self.publishers, self.broken = [publisher], ''
        elif publisher != self._publisher and not self.broken:
            self.publishers.append(publisher)
            self.broken = 'two publish poses on it'
        elif frame != self._frame and not self.broken:
            self.broken = f"the frame of the poses changed from '{self._frame}' to '{frame}'"
        return not self.broken


def main() -> int:
    """Entry point of `pose_adapter`."""
    return run_node('pose_adapter', _SUMMARY, PoseAdapterParameters, PoseAdapter, make_executor=message_executor)


if __name__ == '__main__':
    sys.exit(main())
