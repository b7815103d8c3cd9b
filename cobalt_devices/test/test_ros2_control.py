"""The driver of ros2_control, against topics of a stand-in for robot and controller."""

import array
import threading

import numpy as np
import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from driver_runs import until
from geometry_msgs.msg import PoseStamped
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from cobalt_devices.arm_driver.driver import DriverContext, DriverError
from cobalt_devices.drivers import ros2_control
from cobalt_devices.drivers.ros2_control import Ros2ControlDriver
from cobalt_teleop.kinematics.arm_kinematics import ArmKinematics
from cobalt_teleop.kinematics.robot_description import load_robot
from cobalt_teleop.ros.stamps import now_ns, to_stamp

ROBOT = load_robot('franka_panda')
HOME = np.array(ROBOT.home)


class Controller:
    """A robot that tells its joints, among others and in an order of its own, and hears commands."""

    def __init__(self, message, topic):
        self.node = rclpy.create_node('controller')
        self.heard, self.asked = [], []
        self.joints, self.stamp_offset_ns, self.refuses = HOME.copy(), 0, ''
        self.node.create_subscription(message, topic, self.heard.append, 10)
        self.states = self.node.create_publisher(JointState, '/joint_states', 5)
        self.diagnostics = self.node.create_publisher(DiagnosticArray, '/diagnostics', 10)
        self.node.create_service(Trigger, '/recover', self.on_recover)
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(self.node)
        self.node.create_timer(0.01, self.tell)
        self.thread = threading.Thread(target=self.executor.spin, daemon=True)
        self.thread.start()

    def tell(self):
        names = ['lid', *reversed(ROBOT.joints), ROBOT.gripper.joint]
        message = JointState(name=names)
        message.header.stamp = to_stamp(now_ns() + self.stamp_offset_ns)
        message.position = array.array('d', [9.0, *reversed(self.joints), 0.4])
        message.velocity = array.array('d', [9.0, *reversed(np.arange(7.0)), 0.0])
        self.states.publish(message)

    def fault(self, level, text):
        self.diagnostics.publish(
            DiagnosticArray(
                status=[
                    DiagnosticStatus(level=DiagnosticStatus.ERROR, name='lamp', message='broken'),
                    DiagnosticStatus(level=level, name='arm: safety', message=text),
                ]
            )
        )

    def on_recover(self, _, response):
        self.asked.append('recover')
        response.success, response.message = not self.refuses, self.refuses
        return response

    def close(self):
        self.executor.shutdown()
        self.thread.join()
        self.node.destroy_node()


@pytest.fixture
def ros():
    rclpy.init()
    yield
    rclpy.try_shutdown()


@pytest.fixture
def start(ros, monkeypatch):
    """Starts a controller and a connected driver."""
    monkeypatch.setattr(ros2_control, '_CONNECT_S', 8.0)
    node, closing = rclpy.create_node('driver'), []
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    thread = threading.Thread(target=executor.spin, daemon=True)
    thread.start()

    def made(message=Float64MultiArray, topic='/forward_position_controller/commands', **options):
        controller = Controller(message, topic)
        closing.append(controller)
        driver = Ros2ControlDriver(DriverContext(robot=ROBOT, options=options, node=node))
        driver.connect()
        return controller, driver

    yield made
    executor.shutdown()
    thread.join()
    for controller in closing:
        controller.close()
    node.destroy_node()


def test_joints_are_found_by_name_whatever_their_order(start):
    _, driver = start(gripper_joint=ROBOT.gripper.joint, gripper_closed=0.8, gripper_open=0.0)
    state = driver.read()
    assert np.array_equal(state.joints, HOME)
    assert np.array_equal(state.velocities, np.arange(7.0))
    assert np.array_equal(state.efforts, np.zeros(7)), 'efforts were not told'
    assert state.gripper == pytest.approx(0.5)


def test_set_points_of_a_forward_controller(start):
    controller, driver = start()
    driver.command(HOME + 0.01, np.zeros(7))
    until(lambda: controller.heard)
    assert np.allclose(controller.heard[0].data, HOME + 0.01)


def test_set_points_of_a_trajectory_controller(start):
    controller, driver = start(
        JointTrajectory, '/joint_trajectory_controller/joint_trajectory', kind='joint_trajectory', rate_hz=50.0
    )
    driver.command(HOME, np.full(7, 0.1))
    until(lambda: controller.heard)
    message = controller.heard[0]
    (point,) = message.points
    assert message.joint_names == list(ROBOT.joints) and np.allclose(point.velocities, 0.1)
    assert point.time_from_start.nanosec == 20_000_000


def test_set_points_of_a_cartesian_controller(start):
    controller, driver = start(
        PoseStamped, '/crisp/target_pose', kind='cartesian_pose', command_topic='/crisp/target_pose'
    )
    driver.command(HOME, np.zeros(7))
    until(lambda: controller.heard)
    pose = ArmKinematics(ROBOT).forward(HOME)
    place = controller.heard[0].pose.position
    assert np.allclose([place.x, place.y, place.z], pose.position)
    assert controller.heard[0].header.frame_id == ROBOT.base_body


def test_an_error_in_diagnostics_is_a_fault_until_it_is_over(start):
    controller, driver = start(diagnostics_topic='/diagnostics', diagnostics_name='arm')
    until(lambda: controller.diagnostics.get_subscription_count())
    controller.fault(DiagnosticStatus.ERROR, 'protective stop')
    until(lambda: driver.read().faults == ('protective stop',))
    controller.fault(DiagnosticStatus.OK, '')
    until(lambda: driver.read().faults == ())


def test_it_is_made_ready_again_by_a_service_that_may_refuse(start):
    controller, driver = start(recover_service='/recover')
    driver.recover()
    assert controller.asked == ['recover']
    controller.refuses = 'the key switch is off'
    with pytest.raises(DriverError, match='the key switch is off'):
        driver.recover()


def test_stamps_of_another_clock_are_those_of_arrival(start):
    controller, driver = start()
    controller.stamp_offset_ns = 10**12
    until(lambda: abs(driver.read().stamp_ns - now_ns()) < 10**9)


def test_a_controller_that_goes_is_noticed(start):
    controller, driver = start()
    controller.close()
    with pytest.raises(DriverError, match='has gone'):
        until(lambda: driver.read() is None, 8.0)
    controller.close = lambda: None


def test_who_is_not_there_is_named(ros, monkeypatch):
    monkeypatch.setattr(ros2_control, '_CONNECT_S', 0.2)
    node = rclpy.create_node('driver')
    driver = Ros2ControlDriver(DriverContext(robot=ROBOT, options={}, node=node))
    with pytest.raises(DriverError, match='nobody publishes the joints joint1'):
        driver.connect()
    node.destroy_node()
