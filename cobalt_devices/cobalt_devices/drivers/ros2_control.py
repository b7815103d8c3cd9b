"""The driver `ros2_control`: any arm with a ros2_control controller, over its topics.

Set points go to one of four kinds of controller: `forward_position` (forward_command_controller's
ForwardCommandController, or JointGroupPositionController), `joint_trajectory` (JointTrajectoryController, over its
topic), `cartesian_pose` (a Cartesian controller that takes a PoseStamped, such as those of cartesian_controllers or
CRISP), or `cartesian_twist` (one that takes a TwistStamped). What is measured comes from `joint_states`.
"""

import array
import threading
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from builtin_interfaces.msg import Duration
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PoseStamped, TwistStamped
from rclpy.node import Node
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from cobalt_devices.arm_driver.driver import DriverCapabilities, DriverContext, DriverError, DriverState
from cobalt_devices.arm_driver.driver_options import read_options
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.parameter_table import parameter
from cobalt_teleop.core.pose import Vector, inverse, multiply, rotation_vector
from cobalt_teleop.core.topics import SENSOR_DATA, ForeignTopic, Qos
from cobalt_teleop.kinematics.arm_kinematics import ArmKinematics
from cobalt_teleop.ros.endpoints import TakenSubscription
from cobalt_teleop.ros.poses import pose_message
from cobalt_teleop.ros.stamps import now_ns, to_nanoseconds, to_stamp

NAME = 'ros2_control'

_CONNECT_S = 5.0
_ANSWER_S = 2.0
_LOOK_S = 0.01
_CLOCKS_APART_S = 1.0
_DIAGNOSTICS = Qos(reliable=True, latched=False, depth=10)


@dataclass(frozen=True, kw_only=True)
class Ros2ControlOptions:
    """Options of the driver, in robot.yaml below `drivers: ros2_control:`."""

    title: str = parameter('', 'Name of arm and controller, for people')
    real: bool = parameter(True, 'A real arm, that can hurt; false for a simulated one')
    rate_hz: float = parameter(
        250.0, 'Set points a second; not above what the controller takes [Hz]', lower=20.0, upper=1000.0
    )
    kind: str = parameter(
        'forward_position',
        'Controller that takes the set points',
        choices=('forward_position', 'joint_trajectory', 'cartesian_pose', 'cartesian_twist'),
    )
    command_topic: str = parameter('', 'Topic of the controller; empty for the usual one of its kind')
    joint_states_topic: str = parameter('/joint_states', 'Topic of sensor_msgs/JointState')
    joint_prefix: str = parameter('', 'What stands before the names of robot.yaml in joint_states and trajectories')
    base_frame: str = parameter('', 'frame_id of poses and twists; empty for the base body')
    twist_gain: float = parameter(
        4.0, 'Share of the way to the set point that a twist makes good in a second [1/s]', lower=0.0, upper=20.0
    )
    gripper_topic: str = parameter('', "Topic of the gripper's position, Float64MultiArray; empty for none")
    gripper_joint: str = parameter('', "The gripper's joint in joint_states; empty if it is not there")
    gripper_closed: float = parameter(0.0, 'Position of the gripper when it is closed [rad or m]')
    gripper_open: float = parameter(1.0, 'Likewise when it is open')
    diagnostics_topic: str = parameter('', 'Topic of DiagnosticArray, such as /diagnostics; empty for none')
    diagnostics_name: str = parameter('', 'What the names of the statuses begin with whose errors stop the arm')
    stop_service: str = parameter('', 'std_srvs/Trigger that stops the arm; empty to leave it at its last set point')
    recover_service: str = parameter('', 'std_srvs/Trigger that makes it ready after a stop; empty for none')


_USUAL_TOPICS = {
    'forward_position': '/forward_position_controller/commands',
    'joint_trajectory': '/joint_trajectory_controller/joint_trajectory',
    'cartesian_pose': '/cartesian_motion_controller/target_frame',
    'cartesian_twist': '/cartesian_controller/twist_cmd',
}


class Ros2ControlDriver:
    """One arm behind ros2_control.

    Args:
        context: Robot, options and node.
    """

    def __init__(self, context: DriverContext) -> None:
        self._options = options = read_options(NAME, Ros2ControlOptions, context.options)
        if options.gripper_open == options.gripper_closed:
            raise CobaltError(f'the driver {NAME} has gripper_open = gripper_closed = {options.gripper_open:g}')
        self._node: Node = context.node
        self._joints = [options.joint_prefix + name for name in context.robot.joints]
        self._frame = options.base_frame or context.robot.base_body
        self._kinematics = ArmKinematics(context.robot) if options.kind.startswith('cartesian') else None
        self._states = self._taken('sensor_msgs/msg/JointState', options.joint_states_topic, SENSOR_DATA)
        self._diagnostics = (
            self._taken('diagnostic_msgs/msg/DiagnosticArray', options.diagnostics_topic, _DIAGNOSTICS)
            if options.diagnostics_topic
            else None
        )
        self._faults_of: dict[str, str] = {}
        self._order: list[int] = []
        self._gripper_at = -1
        self._state: DriverState | None = None
        topic = options.command_topic or _USUAL_TOPICS[options.kind]
        message = {
            'forward_position': Float64MultiArray,
            'joint_trajectory': JointTrajectory,
            'cartesian_pose': PoseStamped,
            'cartesian_twist': TwistStamped,
        }[options.kind]
        self._commands = self._node.create_publisher(message, topic, 1)
        self._grips = (
            self._node.create_publisher(Float64MultiArray, options.gripper_topic, 1) if options.gripper_topic else None
        )
        self._services = {
            name: self._node.create_client(Trigger, name)
            for name in (options.stop_service, options.recover_service)
            if name
        }

    def _taken(self, message: str, topic: str, qos: Qos) -> TakenSubscription:
        return TakenSubscription(self._node, ForeignTopic(topic, message, qos), '')

    @property
    def capabilities(self) -> DriverCapabilities:
        """What it can do."""
        title = self._options.title or f'{self._options.kind} controller on {self._commands.topic_name}'
        return DriverCapabilities(title=title, rate_hz=self._options.rate_hz, real=self._options.real)

    def connect(self) -> None:
        """Waits for joint states and for the controller.

        Raises:
            DriverError: One of them is not there.
        """
        self._forget()
        end_s = time.monotonic() + _CONNECT_S
        while time.monotonic() < end_s:
            self._look()
            if self._state is not None and self._commands.get_subscription_count():
                return
            time.sleep(_LOOK_S)
        if self._state is None:
            raise DriverError(
                f'nobody publishes the joints {", ".join(self._joints)} on {self._states.topic_name}: '
                "is the robot's driver running, in this ROS domain?"
            )
        raise DriverError(
            f'no controller listens on {self._commands.topic_name}: is it loaded and active? '
            '(ros2 control list_controllers)'
        )

    def _forget(self) -> None:
        """Forgets what was measured before the arm was lost."""
        self._state = None

    def read(self) -> DriverState:
        """Returns the newest measurement.

        Raises:
            DriverError: The controller has gone.
        """
        self._look()
        if self._state is None:
            raise DriverError(f'no joint states have come on {self._states.topic_name}')
        if not self._commands.get_subscription_count():
            raise DriverError(f'the controller on {self._commands.topic_name} has gone')
        return self._state

    def _look(self) -> None:
        for message, _ in self._diagnostics.take_all() if self._diagnostics else ():
            for status in message.status:
                if status.name.startswith(self._options.diagnostics_name):
                    bad = status.level in (DiagnosticStatus.ERROR, DiagnosticStatus.STALE)
                    self._faults_of[status.name] = (status.message or status.name) if bad else ''
        taken = self._states.take()
        if taken is not None:
            self._state = self._state_of(*taken)
        elif self._state is not None and self._state.faults != self._faults():
            self._state = DriverState(**{**vars(self._state), 'faults': self._faults()})

    def _state_of(self, message: Any, info: dict[str, Any]) -> DriverState | None:
        if not self._find(message.name):
            return self._state  # of other joints: another broadcaster speaks on the same topic
        stamp_ns = to_nanoseconds(message.header.stamp)
        received_ns = int(info['received_timestamp'])
        if abs(received_ns - stamp_ns) * 1e-9 > _CLOCKS_APART_S:
            stamp_ns = received_ns  # without a stamp, or from another clock
        opening = 1.0
        if self._gripper_at >= 0:
            options = self._options
            stroke = options.gripper_open - options.gripper_closed
            opening = float(np.clip((message.position[self._gripper_at] - options.gripper_closed) / stroke, 0.0, 1.0))
        return DriverState(
            stamp_ns=stamp_ns,
            joints=self._picked(message.position),
            velocities=self._picked(message.velocity),
            efforts=self._picked(message.effort),
            gripper=opening,
            faults=self._faults(),
        )

    def _find(self, names: list[str]) -> bool:
        """Finds the arm's joints in a message, in which they may stand in any order; returns whether all are there."""
        if self._order and all(
            at < len(names) and names[at] == name for at, name in zip(self._order, self._joints, strict=True)
        ):
            return True
        if not set(self._joints) <= set(names):
            return False
        self._order = [names.index(name) for name in self._joints]
        joint = self._options.gripper_joint
        self._gripper_at = names.index(joint) if joint in names else -1
        return True

    def _picked(self, values: Any) -> Vector:
        if len(values) <= max(self._order):
            return np.zeros(len(self._order))  # not measured
        return np.array([values[at] for at in self._order])

    def _faults(self) -> tuple[str, ...]:
        return tuple(text for text in self._faults_of.values() if text)

    def command(self, joints: Vector, velocities: Vector) -> None:
        """Sends set points."""
        if self._options.kind == 'forward_position':
            self._commands.publish(Float64MultiArray(data=array.array('d', joints.tolist())))
        elif self._options.kind == 'joint_trajectory':
            self._commands.publish(self._trajectory(joints, velocities))
        elif self._options.kind == 'cartesian_pose':
            assert self._kinematics is not None
            self._publish_stamped(PoseStamped(pose=pose_message(self._kinematics.forward(joints))))
        else:
            self._publish_twist(self._twist(joints, velocities))

    def _publish_stamped(self, message: Any) -> None:
        message.header.stamp = to_stamp(now_ns())
        message.header.frame_id = self._frame
        self._commands.publish(message)

    def _publish_twist(self, twist: Vector) -> None:
        message = TwistStamped()
        linear, angular = message.twist.linear, message.twist.angular
        linear.x, linear.y, linear.z, angular.x, angular.y, angular.z = twist.tolist()
        self._publish_stamped(message)

    def _twist(self, joints: Vector, velocities: Vector) -> Vector:
        """Returns the (6,) velocity of the set point, and what brings the tool closer to it [m/s, rad/s]."""
        assert self._kinematics is not None and self._state is not None
        here = self._kinematics.forward(self._state.joints)
        goal, jacobian = self._kinematics.forward_with_jacobian(joints)
        turn = rotation_vector(multiply(goal.quat_xyzw, inverse(here.quat_xyzw)))
        error = np.concatenate([goal.position - here.position, turn])
        twist: Vector = jacobian @ velocities + self._options.twist_gain * error
        return twist

    def _trajectory(self, joints: Vector, velocities: Vector) -> JointTrajectory:
        """Returns a trajectory of one point, a period away, without a stamp: it begins when it comes."""
        point = JointTrajectoryPoint(
            positions=array.array('d', joints.tolist()),
            velocities=array.array('d', velocities.tolist()),
            time_from_start=Duration(nanosec=round(1e9 / self._options.rate_hz)),
        )
        return JointTrajectory(joint_names=self._joints, points=[point])

    def grip(self, opening: float) -> None:
        """Brings the gripper to 0 closed to 1 open."""
        if self._grips is not None:
            options = self._options
            position = options.gripper_closed + opening * (options.gripper_open - options.gripper_closed)
            self._grips.publish(Float64MultiArray(data=array.array('d', [position])))

    def hold(self) -> None:
        """Sends a twist of zero, or else nothing: controllers keep their last set point."""
        if self._options.kind == 'cartesian_twist':
            self._publish_twist(np.zeros(6))

    def stop(self) -> None:
        """Calls the stop service if there is one. Without it the arm stands at its last set point."""
        if self._options.stop_service:
            self._services[self._options.stop_service].call_async(Trigger.Request())

    def recover(self) -> None:
        """Calls the recover service if there is one.

        Raises:
            DriverError: It does not answer, or refuses.
        """
        if self._options.recover_service:
            ask(self._services[self._options.recover_service], Trigger.Request())

    def close(self) -> None:
        """Leaves the arm at its last set point."""


def ask(client: Any, request: Any, hint: str = '') -> None:
    """Calls a service whose answer has `success` and `message`, from a thread other than the executor's.

    Raises:
        DriverError: It does not answer, or refuses.
    """
    answered = threading.Event()
    future = client.call_async(request)
    future.add_done_callback(lambda _: answered.set())
    if not answered.wait(_ANSWER_S):
        raise DriverError(f'{client.srv_name} does not answer{hint}')
    answer = future.result()
    if answer is None or not answer.success:
        raise DriverError(f'{client.srv_name} refused: {answer.message if answer else "no answer"}')
