"""`mujoco_hardware`: a simulated arm reached over the topics of ros2_control, with a clock of its own.

It stands where the driver of a real arm and its ros2_control would, for tests and for trying out `robot.launch.xml`:
joint states out, a forward position controller in, raw pictures of its cameras. What a motion capture system and a
watcher would add it tells, too: where the objects are, and whether the task is done.
"""

import array
import sys
import threading
import time
from typing import Any

import mujoco
import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import PoseStamped
from rclpy.node import Node
from sensor_msgs.msg import Image, JointState
from std_msgs.msg import Bool
from std_srvs.srv import Trigger

from cobalt_sim import scene
from cobalt_sim.hardware.mujoco_arm import MujocoArm
from cobalt_sim.hardware.mujoco_hardware_parameters import MujocoHardwareParameters
from cobalt_sim.mujoco_plant import PART, MujocoPlant
from cobalt_sim.render_profile import load_profile
from cobalt_sim.scene import camera_model
from cobalt_sim.sim_world import SimWorld
from cobalt_sim.tasks import load_task
from cobalt_teleop.core import topics
from cobalt_teleop.core.topics import REPORTS, SENSOR_DATA, ForeignTopic
from cobalt_teleop.kinematics.robot_description import load_robot
from cobalt_teleop.ros.endpoints import TakenSubscription, create_publisher
from cobalt_teleop.ros.parameters import read_parameters
from cobalt_teleop.ros.poses import pose_message
from cobalt_teleop.ros.process import Stop, run_node
from cobalt_teleop.ros.stamps import now_ns, to_stamp

_SUMMARY = 'Simulates an arm that is reached as hardware is: over the topics of ros2_control.'

COMMANDS = ForeignTopic('/forward_position_controller/commands', 'std_msgs/msg/Float64MultiArray', REPORTS)
GRIPS = ForeignTopic('/gripper_controller/commands', 'std_msgs/msg/Float64MultiArray', REPORTS)
JOINT_STATES = ForeignTopic('/joint_states', 'sensor_msgs/msg/JointState', SENSOR_DATA)
DIAGNOSTICS = ForeignTopic('/diagnostics', 'diagnostic_msgs/msg/DiagnosticArray', REPORTS)
SUCCESS = ForeignTopic('/mujoco_hardware/success', 'std_msgs/msg/Bool', REPORTS)
INJECT = ForeignTopic('/mujoco_hardware/inject', 'std_msgs/msg/String', REPORTS)

_SWITCH_INTERVAL_S = 2e-4
_TOLD_HZ = 20.0

FAULTS = ('joint_fault', 'emergency_stop', 'silence', 'encoder_jump', 'clock_jump', 'well')
"""What can be injected: a text of one of these and, where it has one, a number [s or rad]."""


class MujocoHardware(Node):
    """One simulated arm, its cameras, and who watches it."""

    def __init__(self, stop: Stop) -> None:
        super().__init__('mujoco_hardware')
        self._parameters = parameters = read_parameters(self, MujocoHardwareParameters)
        sys.setswitchinterval(_SWITCH_INTERVAL_S)
        robot = load_robot(parameters.robot)
        cameras = [
            camera_model(
                robot, PART, name, width=parameters.width, height=parameters.height, rate_hz=parameters.camera_rate_hz
            )
            for name in parameters.cameras
        ]
        self._world = SimWorld(
            robot, load_task(parameters.task), cameras, load_profile('fast'), tick_s=scene.TIMESTEP_S
        )
        self._plant = MujocoPlant(self._world, seed=parameters.seed)
        self._arm = MujocoArm(
            self._plant,
            latency_steps=max(1, round(parameters.latency_ms * 1e-3 / scene.TIMESTEP_S)),
            noise_rad=parameters.noise_rad,
            encoder_offset_rad=parameters.encoder_offset_rad,
            largest_jump_rad=parameters.largest_jump_rad,
        )
        self._names = [*robot.joints, *((robot.gripper.joint,) if robot.gripper else ())]
        self._commands, self._grips, self._injected = (
            TakenSubscription(self, topic, '') for topic in (COMMANDS, GRIPS, INJECT)
        )
        self._states, self._diagnostics, self._success = (
            create_publisher(self, topic, '') for topic in (JOINT_STATES, DIAGNOSTICS, SUCCESS)
        )
        self._objects = {
            name: create_publisher(self, topics.object_pose(name), parameters.workcell)
            for name in self._world.task.objects
        }
        self._orders: list[Any] = []
        self.create_service(Trigger, '~/stop', self._on_stop)
        self.create_service(Trigger, '~/recover', self._on_recover)
        self._silent_until_s = 0.0
        self._clock_offset_s = 0.0
        self._ending = threading.Event()
        self._film = _Film(self, self._world, parameters) if cameras else None
        self._thread = threading.Thread(target=self._run, name='physics', daemon=True)
        self._thread.start()
        self.get_logger().info(
            f'ready: {robot.title} at {1 / scene.TIMESTEP_S:g} Hz, set points on {COMMANDS.name}, '
            f'states on {JOINT_STATES.name}'
        )

    def close(self) -> None:
        """Ends the arm's clock."""
        self._ending.set()
        self._thread.join(timeout=2.0)
        if self._film is not None:
            self._film.close()

    def _run(self) -> None:
        due_s = time.monotonic()
        state_steps = max(1, round(1.0 / (self._parameters.state_rate_hz * scene.TIMESTEP_S)))
        told_steps = round(1.0 / (_TOLD_HZ * scene.TIMESTEP_S))
        film_steps = round(1.0 / (self._parameters.camera_rate_hz * scene.TIMESTEP_S))
        count = 0
        while not self._ending.is_set():
            self._take()
            self._arm.step()
            if count % state_steps == 0 and time.monotonic() > self._silent_until_s:
                self._states.publish(self._joint_state())
            if count % told_steps == 0:
                self._tell()
            if self._film is not None and count % film_steps == 0:
                self._film.show(self._plant.data)
            count += 1
            due_s += scene.TIMESTEP_S
            wait_s = due_s - time.monotonic()
            if wait_s > 0:
                time.sleep(wait_s)
            elif wait_s < -0.1:
                due_s = time.monotonic()  # a machine that is too slow has a slow arm, not one that hurries

    def _take(self) -> None:
        for message, _ in self._commands.take_all():
            self._arm.command(np.array(message.data))
        for message, _ in self._grips.take_all():
            if len(message.data) == 1 and np.isfinite(message.data[0]):
                self._arm.grip(float(np.clip(message.data[0], 0.0, 1.0)))
        for message, _ in self._injected.take_all():
            self._inject(message.data)
        while self._orders:
            self._orders.pop(0)()

    def _inject(self, text: str) -> None:
        kind, _, number = text.partition(' ')
        size = float(number or 0.0)
        if kind == 'joint_fault':
            self._arm.stop('protective stop: joint 3 reports a fault')
        elif kind == 'emergency_stop':
            self._arm.stop('the emergency stop at the arm is pressed')
        elif kind == 'silence':
            self._silent_until_s = time.monotonic() + size
        elif kind == 'encoder_jump':
            self._arm.encoder_offset_rad += size
        elif kind == 'clock_jump':
            self._clock_offset_s = size
        elif kind == 'well':
            self._arm.recover()
            self._arm.encoder_offset_rad = self._parameters.encoder_offset_rad
            self._silent_until_s = self._clock_offset_s = 0.0
        else:
            self.get_logger().warning(f"'{text}' cannot be injected; there are {', '.join(FAULTS)}")

    def _stamp(self) -> Any:
        return to_stamp(now_ns() + round(self._clock_offset_s * 1e9))

    def _joint_state(self) -> JointState:
        measured = self._arm.measure()
        message = JointState(name=self._names)
        message.header.stamp = self._stamp()
        own = [measured.gripper] if len(self._names) > len(measured.joints) else []
        message.position = array.array('d', [*measured.joints, *own])
        message.velocity = array.array('d', [*measured.velocities, *(0.0 for _ in own)])
        message.effort = array.array('d', [*measured.efforts, *(0.0 for _ in own)])
        return message

    def _tell(self) -> None:
        stamp = self._stamp()
        fault = self._arm.fault
        status = DiagnosticStatus(
            level=DiagnosticStatus.ERROR if fault else DiagnosticStatus.OK, name='mujoco_hardware: arm', message=fault
        )
        array_message = DiagnosticArray(status=[status])
        array_message.header.stamp = stamp
        self._diagnostics.publish(array_message)
        self._success.publish(Bool(data=self._plant.progress().success))
        for name, pose in self._plant.observe().objects.items():
            message = PoseStamped(pose=pose_message(pose))
            message.header.stamp = stamp
            message.header.frame_id = topics.base_frame(self._parameters.workcell, PART)
            self._objects[name].publish(message)

    def _on_stop(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._orders.append(lambda: self._arm.stop('stopped by a service call'))
        response.success = True
        return response

    def _on_recover(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success = not self._arm.fault.startswith('the emergency stop')
        if response.success:
            self._orders.append(self._arm.recover)
        else:
            response.message = self._arm.fault
        return response


class _Film:
    """Draws the newest state, in a thread of its own, while somebody takes its pictures."""

    def __init__(self, node: Node, world: SimWorld, parameters: MujocoHardwareParameters) -> None:
        self._node = node
        self._world = world
        self._workcell = parameters.workcell
        self._data = mujoco.MjData(world.model)
        self._publishers = {
            name: create_publisher(node, topics.image_raw(name), parameters.workcell) for name in world.cameras
        }
        self._newest: tuple[int, Any, Any, Any] | None = None
        self._ready = threading.Condition()
        self._ended = False
        self._thread = threading.Thread(target=self._run, name='film', daemon=True)
        self._thread.start()

    def show(self, data: Any) -> None:
        """Takes the state of a mujoco.MjData."""
        with self._ready:
            self._newest = now_ns(), data.qpos.copy(), data.mocap_pos.copy(), data.mocap_quat.copy()
            self._ready.notify()

    def close(self) -> None:
        with self._ready:
            self._ended = True
            self._ready.notify()
        self._thread.join(timeout=2.0)

    def _run(self) -> None:
        while True:
            with self._ready:
                self._ready.wait_for(lambda: self._newest is not None or self._ended)
                if self._ended or self._newest is None:
                    break
                stamp_ns, qpos, mocap_pos, mocap_quat = self._newest
                self._newest = None
            self._data.qpos[:], self._data.mocap_pos[:], self._data.mocap_quat[:] = qpos, mocap_pos, mocap_quat
            mujoco.mj_forward(self._world.model, self._data)
            for name, publisher in self._publishers.items():
                if publisher.get_subscription_count():
                    publisher.publish(self._image(name, stamp_ns))
        self._world.close_thread()

    def _image(self, name: str, stamp_ns: int) -> Image:
        picture = self._world.draw(self._data, name)
        height, width = picture.shape[:2]
        message = Image(height=height, width=width, encoding='rgb8', step=3 * width)
        message.header.stamp = to_stamp(stamp_ns)
        message.header.frame_id = topics.optical_frame(self._workcell, name)
        message.data = array.array('B', picture.tobytes())
        return message


def main() -> int:
    """Entry point of `mujoco_hardware`."""
    return run_node('mujoco_hardware', _SUMMARY, MujocoHardwareParameters, MujocoHardware)


if __name__ == '__main__':
    sys.exit(main())
