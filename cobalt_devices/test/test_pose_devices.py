"""Phones and trackers over real rclpy, against the real host with ideal arms."""

import itertools
import math
import threading
import time

import numpy as np
import pytest
import rclpy
from geometry_msgs.msg import PoseStamped
from rclpy.parameter import Parameter
from std_msgs.msg import Bool, Float32

from cobalt_devices.keyboard_node import KeyboardNode
from cobalt_devices.pose_adapter_node import PoseAdapter
from cobalt_devices.pose_device import PoseDeviceNode
from cobalt_interfaces.msg import ControlState, DeviceSample, PartStep
from cobalt_interfaces.srv import AcquireControl
from cobalt_teleop.core import topics
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.keyboard_actions import ACTIONS, BITS
from cobalt_teleop.core.pose import Pose, quaternion
from cobalt_teleop.ros.endpoints import create_publisher, create_subscription
from cobalt_teleop.ros.poses import pose_message
from cobalt_teleop.ros.process import Stop
from cobalt_teleop.ros.stamps import now_ns, to_stamp
from cobalt_teleop.workcell_host.host_node import HostNode
from cobalt_teleop.workcell_host.ideal_plant import IdealPlant
from cobalt_teleop.workcell_host.workcell import HostOptions

PERIOD_S = 0.025
AWAY = next(index for index, action in enumerate(ACTIONS) if action.name == 'away')


def until(condition, what, timeout_s=8.0):
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.01)
    pytest.fail(f'timed out: {what}')


class Hand:
    """A device of a page, as the bridge shows it to ROS: its samples come from a thread, as they would from a hand."""

    def __init__(self, operator, device='phone', part='arm'):
        self.operator = operator
        self.samples = create_publisher(operator.node, topics.operator_sample(device, part), 'env_0')
        until(self.samples.get_subscription_count, f'the node of {device}')
        self.fields = {'tracked': True, 'has_pose': True, 'scale': 1.0, 'reference': DeviceSample.REFERENCE_BASE}
        self.fields['gripper'] = math.nan
        self.pose = Pose()
        self.epoch = 100
        self.engaged = False
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()
        operator.hands.append(self)

    def work(self):
        while not self.ending.wait(PERIOD_S):
            stamp = to_stamp(now_ns())
            sample = DeviceSample(
                session_id='page', lease_id=self.operator.lease, engaged=self.engaged, clutch_epoch=self.epoch,
                device_stamp=stamp, pose=pose_message(self.pose), **self.fields,
            )  # fmt: skip
            sample.header.stamp = stamp
            self.samples.publish(sample)

    def press(self):
        self.epoch += 1
        self.engaged = True
        time.sleep(0.2)

    def release(self):
        self.engaged = False
        time.sleep(0.2)

    def move(self, way, seconds=0.5, turn=(0.0, 0.0, 0.0)):
        start = self.pose
        for share in np.linspace(0.0, 1.0, round(seconds / PERIOD_S) + 1)[1:]:
            self.pose = Pose(start.position + np.multiply(way, share), quaternion(np.multiply(turn, share)))
            time.sleep(PERIOD_S)

    def close(self):
        self.ending.set()
        self.thread.join(1.0)


class Operator:
    """A session with devices, and what it hears."""

    def __init__(self, node):
        self.node = node
        self.lease = ''
        self.steps, self.states, self.hands = [], [], []
        create_subscription(node, topics.CONTROL_STEP, 'env_0', self.steps.append)
        create_subscription(node, topics.CONTROL_STATE, 'env_0', self.states.append)
        until(lambda: self.steps, 'the first tick')

    def acquire(self, *sources):
        client = self.node.create_client(AcquireControl, topics.service_name('test_host', 'AcquireControl'))
        assert client.wait_for_service(8.0)
        request = AcquireControl.Request(workcell_id='env_0', session_id='page', operator_id='Ada', sources=sources)
        self.lease = client.call(request, timeout_sec=8.0).lease_id
        assert self.lease

    def part(self, name='arm'):
        return next(part for part in self.steps[-1].parts if part.part == name)

    def place(self, name='arm'):
        position = self.part(name).pose.position
        return np.array([position.x, position.y, position.z])


@pytest.fixture
def operator(host, spin):
    made = Operator(spin(rclpy.create_node('operator')))
    yield made
    for hand in made.hands:
        hand.close()


def test_a_phone_moves_the_tool_as_it_moves_itself(operator, spin):
    spin(PoseDeviceNode('phone', Stop()))
    operator.acquire(*topics.PAGE_DEVICES)
    phone = Hand(operator)
    phone.pose = Pose(np.array([3.0, -2.0, 1.0]), quaternion((0.4, 0.2, -0.3)))
    before = operator.place()
    phone.press()
    until(lambda: operator.part().hold_reason == PartStep.HOLD_NONE, 'the arm to follow')
    assert operator.place() == pytest.approx(before, abs=1e-3)
    phone.move((0.06, -0.04, 0.05))
    time.sleep(0.3)
    assert operator.place() == pytest.approx(np.add(before, (0.06, -0.04, 0.05)), abs=2e-3)
    phone.release()
    assert operator.part().hold_reason == PartStep.HOLD_NOT_ENGAGED
    phone.move((0.3, 0.0, 0.0), seconds=0.1)
    phone.press()
    assert operator.place() == pytest.approx(np.add(before, (0.06, -0.04, 0.05)), abs=2e-3)


def test_a_phone_that_loses_its_tracking_holds_until_a_fresh_press(operator, spin):
    spin(PoseDeviceNode('phone', Stop()))
    operator.acquire(*topics.PAGE_DEVICES)
    phone = Hand(operator)
    phone.press()
    until(lambda: operator.part().hold_reason == PartStep.HOLD_NONE, 'the arm to follow')
    phone.fields['tracked'] = False
    until(lambda: operator.part().hold_reason == PartStep.HOLD_NOT_TRACKED, 'the hold')
    phone.fields['tracked'] = True
    time.sleep(0.3)
    assert operator.part().hold_reason == PartStep.HOLD_NOT_TRACKED
    phone.press()
    until(lambda: operator.part().hold_reason == PartStep.HOLD_NONE, 'the arm to follow again')


def test_a_press_that_goes_on_over_a_restart_of_the_node_moves_nothing(operator, spin):
    first = PoseDeviceNode('phone', Stop())
    executor = spin(first).executor
    operator.acquire(*topics.PAGE_DEVICES)
    phone = Hand(operator)
    phone.press()
    until(lambda: operator.part().hold_reason == PartStep.HOLD_NONE, 'the arm to follow')
    executor.remove_node(first)
    until(lambda: operator.part().hold_reason == PartStep.HOLD_STALE, 'the hold')
    spin(PoseDeviceNode('phone', Stop()))
    until(lambda: phone.samples.get_subscription_count() == 2, 'the new node')
    before = operator.place()
    phone.move((0.05, 0.0, 0.0))
    time.sleep(1.0)
    assert operator.part().hold_reason == PartStep.HOLD_STALE
    assert operator.place() == pytest.approx(before, abs=1e-3)
    phone.release()
    phone.press()
    until(lambda: operator.part().hold_reason == PartStep.HOLD_NONE, 'the arm to follow a fresh press')


def test_two_devices_of_one_operator_take_turns(operator, spin):
    spin(PoseDeviceNode('phone', Stop()))
    spin(KeyboardNode(Stop(), parameter_overrides=[Parameter('view_yaw_deg', value=0.0)]))
    operator.acquire(*topics.PAGE_DEVICES)
    phone, keys = Hand(operator), Hand(operator, device='keyboard')
    counts = [0] * len(ACTIONS)
    keys.fields |= {'press_counts': counts, 'has_pose': False}

    def key_down():
        counts[AWAY] += 1
        keys.fields |= {'press_counts': list(counts), 'buttons': BITS['away']}
        keys.press()

    phone.press()
    until(lambda: operator.part().source == 'phone', 'the phone to drive')
    before = operator.place()
    key_down()
    time.sleep(0.4)
    assert operator.part().source == 'phone'
    assert operator.place() == pytest.approx(before, abs=1e-3)
    # What was pressed while the phone drove does not drive by itself when it lets go.
    phone.release()
    time.sleep(0.4)
    assert operator.place() == pytest.approx(before, abs=1e-3)
    keys.fields['buttons'] = 0
    keys.release()
    time.sleep(0.6)
    key_down()
    until(lambda: operator.part().source == 'keyboard', 'the keyboard to drive')
    until(lambda: operator.place()[0] - before[0] > 0.01, 'the keyboard to move the arm')
    assert not operator.states[-1].faults


def test_a_device_that_the_lease_does_not_name_is_refused_and_named(operator, spin):
    spin(PoseDeviceNode('phone', Stop()))
    spin(PoseDeviceNode('vr', Stop()))
    operator.acquire('keyboard', 'phone')
    phone, stranger = Hand(operator), Hand(operator, device='vr')
    phone.press()
    until(lambda: operator.part().source == 'phone', 'the phone to drive')
    stranger.press()
    until(lambda: any('vr_node' in fault for fault in operator.states[-1].faults), 'the stranger to be named')
    assert operator.part().source == 'phone'


def test_two_phones_drive_two_arms_at_once(spin):
    host = HostNode('test_host')
    host.host({'env_0': IdealPlant(('left', 'right'))}, HostOptions(render_threads=1))
    spin(host)
    spin(PoseDeviceNode('phone', Stop()))
    operator = Operator(spin(rclpy.create_node('operator')))
    operator.acquire(*topics.PAGE_DEVICES)
    left, right = Hand(operator, part='left'), Hand(operator, part='right')
    before = {name: operator.place(name) for name in ('left', 'right')}
    left.press()
    right.press()
    for hand, way in ((left, (0.05, 0.0, 0.0)), (right, (0.0, 0.05, 0.0))):
        threading.Thread(target=hand.move, args=(way,)).start()
    time.sleep(1.0)
    assert operator.place('left') == pytest.approx(np.add(before['left'], (0.05, 0.0, 0.0)), abs=2e-3)
    assert operator.place('right') == pytest.approx(np.add(before['right'], (0.0, 0.05, 0.0)), abs=2e-3)
    left.release()
    assert operator.part('left').hold_reason == PartStep.HOLD_NOT_ENGAGED
    assert operator.part('right').hold_reason == PartStep.HOLD_NONE
    left.close()
    right.close()


class Tracker:
    """A tracker and its deadman, on plain topics of another package."""

    def __init__(self, node):
        self.poses = node.create_publisher(PoseStamped, 'tracker/pose', 5)
        self.deadman = node.create_publisher(Bool, 'tracker/deadman', 5)
        self.gripper = node.create_publisher(Float32, 'tracker/gripper', 5)
        self.down, self.heard, self.place = False, True, np.zeros(3)
        node.create_timer(PERIOD_S, self.tell)

    def tell(self):
        if self.heard:
            self.deadman.publish(Bool(data=self.down))
        self.poses.publish(PoseStamped(pose=pose_message(Pose(self.place))))
        self.gripper.publish(Float32(data=0.25))


def adapter(**parameters):
    named = {'pose_topic': 'tracker/pose', 'deadman_topic': 'tracker/deadman', 'gripper_topic': 'tracker/gripper'}
    overrides = [Parameter(name, value=value) for name, value in (named | parameters).items()]
    return PoseAdapter(Stop(), parameter_overrides=overrides)


def test_any_topic_of_poses_is_a_device_with_a_deadman(operator, spin):
    tracker = Tracker(spin(rclpy.create_node('tracker')))
    spin(adapter(scale=0.5))
    before = operator.place()
    tracker.place = np.array([0.5, 0.5, 0.5])
    time.sleep(0.3)
    assert operator.part().hold_reason == PartStep.HOLD_NO_LEASE
    tracker.down = True
    until(lambda: operator.part().source == 'pose_adapter', 'the tracker to drive')
    for _ in itertools.repeat(None, 20):
        tracker.place = np.add(tracker.place, (0.005, 0.0, 0.0))
        time.sleep(PERIOD_S)
    until(lambda: operator.place() == pytest.approx(np.add(before, (0.05, 0.0, 0.0)), abs=2e-3), 'the arm to be there')
    assert operator.part().gripper_target == pytest.approx(0.25)
    # A deadman that is not heard any more is released.
    tracker.heard = False
    until(lambda: operator.part().hold_reason == PartStep.HOLD_NOT_ENGAGED, 'the hold')
    assert isinstance(operator.states[-1], ControlState) and operator.states[-1].holder


def test_an_adapter_without_a_deadman_does_not_start(spin):
    with pytest.raises(CobaltError, match='deadman_topic'):
        adapter(deadman_topic='')
