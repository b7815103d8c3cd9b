"""Phones and trackers over real rclpy, against the real host with ideal arms."""

import itertools
import math
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import rclpy
from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped
from rclpy.parameter import Parameter
from rclpy.serialization import serialize_message
from std_msgs.msg import Bool, Float32

from cobalt_devices.keyboard_node import KeyboardNode
from cobalt_devices.pose_adapter_node import PoseAdapter
from cobalt_devices.pose_device import PoseDeviceNode
from cobalt_devices.sample_publishers import SamplePublishers
from cobalt_interfaces.msg import ControlState, DeviceSample, PartInfo, PartStep, WorkcellInfo
from cobalt_interfaces.srv import AcquireControl, ReleaseControl
from cobalt_teleop.core import topics
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.keyboard_actions import ACTIONS, BITS
from cobalt_teleop.core.pose import Pose, quaternion
from cobalt_teleop.ros.endpoints import create_publisher, create_subscription
from cobalt_teleop.ros.poses import pose_message
from cobalt_teleop.ros.process import Stop
from cobalt_teleop.ros.stamps import now_ns, to_nanoseconds, to_stamp
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
        self.clutch = False, 100  # pressed, and the number of the press
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()
        operator.hands.append(self)
        time.sleep(4 * PERIOD_S)  # it is heard at rest

    def work(self):
        while not self.ending.wait(PERIOD_S):
            stamp = to_stamp(now_ns())
            engaged, number = self.clutch
            sample = DeviceSample(
                session_id='page', lease_id=self.operator.lease, engaged=engaged, clutch_epoch=number,
                device_stamp=stamp, pose=pose_message(self.pose), **self.fields,
            )  # fmt: skip
            sample.header.stamp = stamp
            self.samples.publish(sample)

    def press(self):
        self.clutch = True, self.clutch[1] + 1
        time.sleep(0.2)

    def release(self):
        self.clutch = False, self.clutch[1]
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

    def release(self):
        client = self.node.create_client(ReleaseControl, topics.service_name('test_host', 'ReleaseControl'))
        assert client.wait_for_service(8.0)
        assert client.call(ReleaseControl.Request(workcell_id='env_0', lease_id=self.lease), timeout_sec=8.0).ok
        self.lease = ''

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


def test_commands_tell_since_when_the_clutch_is_pressed(operator, spin):
    spin(PoseDeviceNode('phone', Stop()))
    operator.acquire(*topics.PAGE_DEVICES)
    phone, told = Hand(operator), []
    for _ in range(2):
        before_ns = now_ns()
        phone.press()
        rows = [operator.part().human]
        phone.move((0.02, 0.0, 0.0), seconds=0.3)
        rows.append(operator.part().human)
        assert all(row.engaged for row in rows)
        assert rows[0].engaged_since == rows[1].engaged_since
        assert before_ns <= to_nanoseconds(rows[0].engaged_since) <= to_nanoseconds(rows[0].header.stamp) + 10**8
        told.append(to_nanoseconds(rows[0].engaged_since))
        phone.release()
        assert to_nanoseconds(operator.part().human.engaged_since) == 0
    assert told[0] < told[1]


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
    assert operator.part().hold_reason == PartStep.HOLD_NOT_ENGAGED
    assert operator.place() == pytest.approx(before, abs=1e-3)
    phone.release()
    phone.press()
    until(lambda: operator.part().hold_reason == PartStep.HOLD_NONE, 'the arm to follow a fresh press')


def way_m(operator, hand):
    """Moves a hand to and fro; returns how far the tool went from its place [m]."""
    first = len(operator.steps)
    for way in (0.04, -0.04):
        hand.move((way, 0.0, 0.0))
    places = [step.parts[0].pose.position for step in operator.steps[first:]]
    return max(math.dist((place.x, place.y, place.z), (places[0].x, places[0].y, places[0].z)) for place in places)


def test_a_press_from_before_control_moves_nothing_as_control_comes(operator, spin):
    spin(PoseDeviceNode('phone', Stop()))
    phone = Hand(operator)
    phone.press()
    operator.acquire(*topics.PAGE_DEVICES)
    assert way_m(operator, phone) < 1e-3
    phone.release()
    phone.press()
    until(lambda: operator.part().hold_reason == PartStep.HOLD_NONE, 'the arm to follow a fresh press')
    # Neither does one that goes on from one lease to the next, though the node has heard it all the while.
    operator.release()
    until(lambda: operator.part().hold_reason == PartStep.HOLD_NO_LEASE, 'control to end')
    operator.acquire(*topics.PAGE_DEVICES)
    assert way_m(operator, phone) < 1e-3


def test_a_press_held_while_control_goes_the_node_dies_and_both_come_again_moves_nothing(operator, spin):
    first = PoseDeviceNode('phone', Stop())
    executor = spin(first).executor
    operator.acquire(*topics.PAGE_DEVICES)
    phone = Hand(operator)
    phone.press()
    until(lambda: operator.part().hold_reason == PartStep.HOLD_NONE, 'the arm to follow')
    operator.release()
    executor.remove_node(first)
    until(lambda: operator.part().hold_reason == PartStep.HOLD_NO_LEASE, 'control to end')
    spin(PoseDeviceNode('phone', Stop()))
    until(lambda: phone.samples.get_subscription_count() == 2, 'the new node')
    operator.acquire(*topics.PAGE_DEVICES)
    assert way_m(operator, phone) < 1e-3


def test_samples_of_a_stranger_under_the_holder_s_lease_are_refused_and_he_is_named(operator, spin, capfd):
    publishers = SamplePublishers()
    spin(PoseDeviceNode('phone', Stop(), publishers))
    spin(PoseDeviceNode('vr', Stop(), publishers))
    operator.acquire(*topics.PAGE_DEVICES)
    phone = Hand(operator)
    context = rclpy.Context()
    rclpy.init(context=context)
    stranger = rclpy.create_node('stranger', context=context)
    other = Operator.__new__(Operator)
    other.node, other.hands, other.lease = stranger, operator.hands, operator.lease
    headset, second_phone = Hand(other, device='vr'), Hand(other)
    headset.press()
    second_phone.press()
    assert way_m(operator, headset) < 1e-3
    until(lambda: 'stranger publishes on /env_0/operator/' in ''.join(capfd.readouterr()), 'the stranger to be named')
    phone.press()
    until(lambda: operator.part().source == 'phone', 'the phone of the holder to drive')
    for hand in (headset, second_phone):
        hand.close()
    rclpy.shutdown(context=context)


def test_samples_of_random_bytes_and_workcells_without_a_name_end_no_node(operator, spin):
    spin(PoseDeviceNode('phone', Stop()))
    operator.acquire(*topics.PAGE_DEVICES)
    hand = Hand(operator)
    other = create_publisher(operator.node, topics.WORKCELL, 'other')
    for name in ('no name', ''):
        other.publish(WorkcellInfo(workcell_id='other', parts=[PartInfo(name=name)]))
    like = DeviceSample(lease_id=operator.lease, engaged=True, tracked=True, has_pose=True, axes=[0.5] * 6, scale=1.0)
    chance = random.Random(4)
    for _ in range(150):
        bytes_ = bytearray(serialize_message(like))
        for _ in range(4):
            bytes_[chance.randrange(4, len(bytes_))] = chance.randrange(256)
        hand.samples.publish(bytes(bytes_))
        time.sleep(2e-3)
    hand.release()
    hand.press()
    until(lambda: operator.part().source == 'phone', 'it to drive all the same')
    operator.node.destroy_publisher(other)


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
        self.down, self.heard, self.seen, self.place, self.frame = False, True, True, np.zeros(3), 'room'
        node.create_timer(PERIOD_S, self.tell)

    def tell(self):
        if self.heard:
            self.deadman.publish(Bool(data=self.down))
        if self.seen:
            pose = PoseStamped(pose=pose_message(Pose(self.place)))
            pose.header.frame_id = self.frame
            pose.header.stamp = Time(sec=2**31 - 1, nanosec=2**32 - 1)  # its clock is its own
            self.poses.publish(pose)
        self.gripper.publish(Float32(data=0.25))

    def press(self):
        self.down = False
        time.sleep(0.2)
        self.down = True

    def move(self, way_m=0.05):
        for _ in itertools.repeat(None, 10):
            self.place = np.add(self.place, (way_m / 10, 0.0, 0.0))
            time.sleep(PERIOD_S)
        time.sleep(0.1)


def adapter(**parameters):
    named = {'pose_topic': 'tracker/pose', 'deadman_topic': 'tracker/deadman', 'gripper_topic': 'tracker/gripper'}
    overrides = [Parameter(name, value=value) for name, value in (named | parameters).items()]
    return PoseAdapter(Stop(), parameter_overrides=overrides)


def test_the_documented_example_circles_while_its_switch_is_pressed(operator, spin):
    script = Path(__file__).parents[2] / 'docs' / 'examples' / 'circling_tracker.py'
    spin(adapter(pose_topic='/hand', deadman_topic='/hand_pressed'))
    example = subprocess.Popen([sys.executable, script], stdout=subprocess.DEVNULL)
    try:
        until(lambda: operator.part().source == 'pose_adapter', 'the example to drive', timeout_s=20.0)
        places = []
        until(lambda: places.append(operator.place()) or np.ptp(places, axis=0)[0] > 0.06, 'half a circle')
        until(lambda: operator.part().hold_reason == PartStep.HOLD_NOT_ENGAGED, 'the switch to be let go')
    finally:
        example.send_signal(signal.SIGINT)
        assert example.wait(10.0) == 0


def test_who_is_refused_control_is_told_why(operator, spin, capfd):
    operator.acquire('phone')
    tracker = Tracker(spin(rclpy.create_node('tracker')))
    spin(adapter())
    tracker.press()
    told = []
    until(lambda: told.append(capfd.readouterr().err) or 'no control: Ada holds control' in ''.join(told), 'the reason')
    assert operator.part().hold_reason != PartStep.HOLD_NONE


def test_who_asks_a_tracker_for_control_gets_it_once_its_switch_was_released_for_a_while(host, operator, spin, capfd):
    tracker = Tracker(spin(rclpy.create_node('tracker')))
    spin(adapter())
    tracker.press()
    until(lambda: operator.part().source == 'pose_adapter', 'the tracker to drive')
    with pytest.raises(CobaltError):
        host._workcells['env_0'].acquire('page', 'Grace', [], True, [])
    until(lambda: operator.states[-1].requested_by == 'Grace', 'the request')
    assert operator.states[-1].sources == ['pose_adapter']
    time.sleep(3.5)
    assert operator.states[-1].holder, 'who drives keeps it'
    tracker.down = False
    until(lambda: not operator.states[-1].holder, 'control to be given')
    told = capfd.readouterr().err
    assert 'Grace asks for control: press nothing for 3 s' in told and 'control was given to Grace' in told
    tracker.press()
    until(lambda: operator.states[-1].holder, 'control to be asked for with the next press')


def test_any_topic_of_poses_is_a_device_with_a_deadman(operator, spin):
    tracker = Tracker(spin(rclpy.create_node('tracker')))
    tracker.down = True
    spin(adapter(scale=0.5))
    before = operator.place()
    tracker.place = np.array([0.5, 0.5, 0.5])
    time.sleep(1.0)
    assert operator.part().hold_reason == PartStep.HOLD_NO_LEASE
    tracker.press()
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
    # Heard again as pressed, it moves nothing: nobody has released it.
    tracker.heard = True
    here = operator.place()
    tracker.move()
    assert operator.place() == pytest.approx(here, abs=1e-3)
    tracker.press()
    until(lambda: operator.part().source == 'pose_adapter', 'the tracker to drive after a fresh press')


def test_a_second_tracker_or_another_frame_in_a_press_holds_the_arm_and_is_named(operator, spin, capfd):
    tracker = Tracker(spin(rclpy.create_node('tracker')))
    second = Tracker(spin(rclpy.create_node('second_tracker')))
    second.heard = second.seen = False
    spin(adapter())
    time.sleep(0.5)

    def drives():
        tracker.press()
        until(lambda: operator.part().source == 'pose_adapter', 'the tracker to drive')
        return operator.place()

    def holds(what):
        # On a machine that is too busy the watchdog may have been first.
        reasons = PartStep.HOLD_NOT_TRACKED, PartStep.HOLD_STALE
        until(lambda: operator.part().hold_reason in reasons, f'the hold for {what}')
        here = operator.place()
        tracker.move()
        assert operator.place() == pytest.approx(here, abs=1e-3)
        return here

    before = drives()
    second.place, second.seen = np.add(tracker.place, (0.04, 0.0, 0.0)), True
    assert holds('two trackers') == pytest.approx(before, abs=1e-3)
    said = ''.join(capfd.readouterr())
    assert 'two publish poses' in said and '/tracker' in said and '/second_tracker' in said
    second.seen = False
    time.sleep(0.3)
    assert holds('what was') is not None, 'the press is over'
    drives()
    tracker.frame = 'world'
    holds('another frame')
    assert "from 'room' to 'world'" in ''.join(capfd.readouterr())
    drives()
    second.heard = True
    until(lambda: operator.part().hold_reason == PartStep.HOLD_NOT_ENGAGED, 'the hold for a deadman that says no')
    second.heard = False
    here = operator.place()
    time.sleep(0.8)
    tracker.move()
    assert operator.place() == pytest.approx(here, abs=1e-3)


def test_an_adapter_without_a_deadman_does_not_start(spin):
    with pytest.raises(CobaltError, match='deadman_topic'):
        adapter(deadman_topic='')
