"""The driver of MoveIt Servo, against a stand-in for its topics and its service."""

import array
import threading
import time

import numpy as np
import pytest
import rclpy
from driver_runs import until
from geometry_msgs.msg import PoseStamped, TwistStamped
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool

from cobalt_devices.arm_driver.driver import DriverContext, DriverError
from cobalt_devices.drivers import ros2_control
from cobalt_devices.drivers.moveit_servo import MoveitServoDriver
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.kinematics.arm_kinematics import ArmKinematics
from cobalt_teleop.kinematics.robot_description import load_robot
from cobalt_teleop.ros.stamps import now_ns, to_stamp

ROBOT = load_robot('ur5e')
HOME = np.array(ROBOT.home)
PERIOD_S = 0.01


class Servo:
    """MoveIt Servo and the arm below it: it goes on with the newest twist for as long as that is fresh."""

    def __init__(self, message):
        self.node = rclpy.create_node('servo_node')
        self.heard, self.paused, self.refuses = [], False, ''
        self.joints, self.kinematics = HOME.copy(), ArmKinematics(ROBOT)
        topic = 'delta_twist_cmds' if message is TwistStamped else 'pose_target_cmds'
        self.node.create_subscription(message, f'/servo_node/{topic}', self.hear, 10)
        self.states = self.node.create_publisher(JointState, '/joint_states', 5)
        self.node.create_service(SetBool, '/servo_node/pause_servo', self.on_pause)
        self.node.create_timer(PERIOD_S, self.step)

    def hear(self, message):
        self.heard.append((time.monotonic(), message))

    def step(self):
        if self.heard and isinstance(self.heard[-1][1], TwistStamped) and not self.paused:
            at, message = self.heard[-1]
            if time.monotonic() - at < 0.1:
                _, jacobian = self.kinematics.forward_with_jacobian(self.joints)
                self.joints = self.joints + np.linalg.pinv(jacobian) @ numbers(message) * PERIOD_S
        message = JointState(name=list(ROBOT.joints), position=array.array('d', self.joints.tolist()))
        message.header.stamp = to_stamp(now_ns())
        self.states.publish(message)

    def on_pause(self, request, response):
        self.paused = request.data
        response.success, response.message = not self.refuses, self.refuses
        return response


def numbers(message):
    linear, angular = message.twist.linear, message.twist.angular
    return np.array([linear.x, linear.y, linear.z, angular.x, angular.y, angular.z])


@pytest.fixture
def start(monkeypatch):
    """Starts a stand-in and a connected driver."""
    monkeypatch.setattr(ros2_control, '_CONNECT_S', 8.0)
    rclpy.init()
    node, executor, nodes = rclpy.create_node('driver'), SingleThreadedExecutor(), []
    executor.add_node(node)
    thread = threading.Thread(target=executor.spin, daemon=True)

    def made(message=TwistStamped, **options):
        servo = Servo(message)
        nodes.append(servo.node)
        executor.add_node(servo.node)
        thread.start()
        driver = MoveitServoDriver(DriverContext(robot=ROBOT, options=options, node=node))
        driver.connect()
        return servo, driver

    yield made
    executor.shutdown()
    thread.join()
    for each in (*nodes, node):
        each.destroy_node()
    rclpy.try_shutdown()


def test_twists_bring_the_tool_where_set_points_lead(start):
    servo, driver = start()
    target = HOME + np.array([0.1, -0.05, 0.05, 0.1, 0.0, 0.1])
    for share in np.linspace(0.0, 1.0, 50):
        driver.read()
        driver.command(HOME + share * (target - HOME), (target - HOME) / (50 * PERIOD_S))
        time.sleep(PERIOD_S)

    def comes_near():
        driver.read()
        driver.command(target, np.zeros(6))
        return np.linalg.norm(servo.kinematics.forward(servo.joints).position - goal.position) < 1e-3

    goal = ArmKinematics(ROBOT).forward(target)
    until(comes_near)
    assert servo.heard[0][1].header.frame_id == ROBOT.base_body
    driver.hold()
    until(lambda: np.array_equal(numbers(servo.heard[-1][1]), np.zeros(6)))


def test_a_stop_pauses_servo_until_it_is_recovered(start):
    servo, driver = start()
    driver.stop()
    until(lambda: servo.paused)
    driver.recover()
    assert not servo.paused
    servo.refuses = 'in collision'
    with pytest.raises(DriverError, match='in collision'):
        driver.recover()


def test_poses_are_those_of_the_set_points(start):
    servo, driver = start(PoseStamped, command='pose')
    driver.command(HOME, np.zeros(6))
    until(lambda: servo.heard)
    place = servo.heard[0][1].pose.position
    assert np.allclose([place.x, place.y, place.z], ArmKinematics(ROBOT).forward(HOME).position)


def test_options_of_both_are_checked():
    with pytest.raises(CobaltError, match='command'):
        MoveitServoDriver(DriverContext(robot=ROBOT, options={'command': 'joints'}, node=None))
    with pytest.raises(CobaltError, match='no_such'):
        MoveitServoDriver(DriverContext(robot=ROBOT, options={'no_such': 1}, node=None))
