"""The page back end over real rclpy, against the real host with an ideal arm."""

import itertools
import subprocess
import sys
import time

import pytest
import rclpy
from rclpy.parameter import Parameter

from cobalt_devices.keyboard_node import KeyboardNode
from cobalt_interfaces.msg import DeviceSample, PartStep
from cobalt_interfaces.srv import AcquireControl, StartEpisode
from cobalt_teleop.core import topics
from cobalt_teleop.core.keyboard_actions import ACTIONS, BITS
from cobalt_teleop.ros.endpoints import create_publisher, create_subscription
from cobalt_teleop.ros.process import Stop
from cobalt_teleop.ros.stamps import now_ns, to_stamp

INDEX = {action.name: index for index, action in enumerate(ACTIONS)}


def until(condition, what, timeout_s=8.0):
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.01)
    pytest.fail(f'timed out: {what}')


class Page:
    """A browser page as the bridge shows it to ROS."""

    def __init__(self, node, session='page'):
        self.node = node
        self.session = session
        self.lease = ''
        self.counts = [0] * len(ACTIONS)
        self.held = set()
        self.engaged_until = 0.0
        self.steps = []
        self.commands = []
        self.samples = create_publisher(node, topics.operator_sample('keyboard', 'arm'), 'env_0')
        create_subscription(node, topics.CONTROL_STEP, 'env_0', self.steps.append)
        create_subscription(node, topics.teleop_command('arm'), 'env_0', self.commands.append)

    def acquire(self):
        client = self.node.create_client(AcquireControl, topics.service_name('test_host', 'AcquireControl'))
        assert client.wait_for_service(8.0)
        request = AcquireControl.Request(workcell_id='env_0', session_id=self.session, operator_id='Ada')
        self.lease = client.call(request, timeout_sec=8.0).lease_id
        assert self.lease

    def send(self):
        if self.held:
            self.engaged_until = time.monotonic() + 0.5
        now = now_ns()
        sample = DeviceSample(
            kind=DeviceSample.KIND_KEYBOARD, session_id=self.session, lease_id=self.lease, tracked=True,
            engaged=time.monotonic() < self.engaged_until, buttons=sum(BITS[name] for name in self.held),
            press_counts=self.counts, device_stamp=to_stamp(now),
        )  # fmt: skip
        sample.header.stamp = to_stamp(now)
        self.samples.publish(sample)

    def hold(self, *names, seconds):
        for name in names:
            self.counts[INDEX[name]] += 1
        self.held = set(names)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.send()
            time.sleep(0.04)
        self.held = set()

    def idle(self, seconds):
        self.hold(seconds=seconds)

    @property
    def part(self):
        return self.steps[-1].parts[0]

    @property
    def place(self):
        place = self.part.pose.position
        return place.x, place.y, place.z


@pytest.fixture
def page(host, spin):
    overrides = [Parameter('view_yaw_deg', value=0.0), Parameter('linear_speed', value=0.1)]
    spin(KeyboardNode(Stop(), parameter_overrides=overrides))
    made = Page(spin(rclpy.create_node('page')))
    until(lambda: made.steps, 'the first tick')
    made.acquire()
    until(lambda: made.samples.get_subscription_count(), 'the keyboard node')

    def reaches():
        made.send()
        return made.commands and made.part.hold_reason == PartStep.HOLD_NOT_ENGAGED

    until(reaches, 'a command that reaches the host')
    return made


def test_a_held_key_moves_the_arm_and_it_rests_where_the_key_was_released(page):
    before = page.place
    page.hold('away', seconds=1.0)
    page.idle(0.7)
    after = page.place
    assert after[0] - before[0] == pytest.approx(0.1, abs=0.03)
    assert after[1:] == pytest.approx(before[1:], abs=1e-3)
    page.idle(0.3)
    assert page.place == pytest.approx(after, abs=1e-4)
    assert page.part.hold_reason == PartStep.HOLD_NOT_ENGAGED


def test_a_tap_makes_one_small_step(page):
    before = page.place
    page.hold('up', seconds=0.03)
    page.idle(0.9)
    assert 0.003 < page.place[2] - before[2] < 0.012


def test_space_closes_and_opens_the_gripper(page):
    assert page.part.gripper_target > 0.5
    page.hold('gripper', seconds=0.05)
    page.idle(0.3)
    assert page.part.gripper_target == 0.0
    page.idle(0.6)
    page.hold('gripper', seconds=0.05)
    page.idle(0.3)
    assert page.part.gripper_target == 1.0


def test_a_key_held_over_the_end_of_an_episode_goes_on_smoothly(page):
    client = page.node.create_client(StartEpisode, topics.service_name('test_host', 'StartEpisode'))
    assert client.wait_for_service(8.0)
    request = StartEpisode.Request(workcell_id='env_0', lease_id=page.lease, seed=1)
    assert client.call(request, timeout_sec=8.0).ok
    until(lambda: page.steps[-1].episode_id, 'the episode runs')
    page.idle(0.1)
    page.commands.clear()
    page.hold('up', seconds=2.8)
    assert any(step.terminal for step in page.steps), 'the goal is 0.2 m up'
    heights = [command.pose.position.z for command in page.commands if command.engaged]
    assert max(abs(later - earlier) for earlier, later in itertools.pairwise(heights)) < 0.03
    assert PartStep.HOLD_JUMP not in {step.parts[0].hold_reason for step in page.steps}


def test_commands_come_on_arrival_alone_and_never_without_a_lease(page):
    page.idle(0.2)
    time.sleep(0.2)
    count = len(page.commands)
    time.sleep(0.3)
    assert len(page.commands) == count
    lease, page.lease = page.lease, ''
    page.hold('up', seconds=0.3)
    assert len(page.commands) == count
    page.lease = lease
    page.send()
    until(lambda: len(page.commands) == count + 1, 'one command for one sample')
    assert page.commands[-1].lease_id == lease
    assert page.commands[-1].source == 'keyboard'


def test_help_shows_the_key_map_and_the_parameters():
    answer = subprocess.run(
        [sys.executable, '-m', 'cobalt_devices.keyboard_node', '--help'], capture_output=True, text=True, check=True
    )
    for action in ACTIONS:
        assert action.label in answer.stdout
    assert 'view_yaw_deg' in answer.stdout


def test_a_terminal_back_end_without_a_terminal_is_refused_in_one_sentence():
    answer = subprocess.run(
        [sys.executable, '-m', 'cobalt_devices.keyboard_node', '--ros-args', '-p', 'backend:=terminal'],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 2
    assert len(answer.stderr.strip().splitlines()) == 1
    assert "use the backend 'page'" in answer.stderr
