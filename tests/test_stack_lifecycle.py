"""The whole stack as a user starts and ends it, and what happens when a part of it dies."""

import os
import re
import signal
import socket
import subprocess
import time
from pathlib import Path

import psutil
import pytest
import rclpy
from ament_index_python.packages import get_package_prefix
from ros_operator import Operator, until
from rosbags.highlevel import AnyReader

from cobalt_bringup.shared_memory import dead_segments
from cobalt_interfaces.msg import ControlStep, DeviceSample, EpisodeState, PartStep, QualityReport
from cobalt_teleop.core import topics
from cobalt_teleop.core.keyboard_actions import ACTIONS, BITS
from cobalt_teleop.ros.endpoints import create_publisher
from cobalt_teleop.ros.stamps import now_ns, to_stamp

TRACEBACK = re.compile(r'Traceback|Error in|what\(\):')
NODES = {'sim_node', 'webrtc_bridge', 'recorder_node', 'page_devices'}


def shared_memory():
    """Segments that no living process holds: others on this machine come and go."""
    return {path.name for path in dead_segments(older_than_s=0.1)}


def family(stack):
    return psutil.Process(stack.process.pid).children(recursive=True)


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_it_starts_and_ends_without_a_trace(start_stack, number):
    before = shared_memory()
    stack = start_stack(workcells=2, num_envs=2)
    assert set(stack.nodes()) == NODES
    assert stack.address in stack.printed()
    children = family(stack)
    began_s = time.monotonic()
    assert stack.stop(number) == 0
    assert time.monotonic() - began_s < 5.0
    assert not [child for child in children if child.is_running()]
    assert shared_memory() <= before
    assert not TRACEBACK.search(stack.printed()), stack.printed()


@pytest.mark.parametrize(
    ('arguments', 'sentence'),
    [
        ({'num_envs': 0}, "parameter 'num_envs' is 0, but must be in 1 to 64"),
        ({'num_envs': 'many'}, "parameter 'num_envs' is 'many', but must be a whole number"),
        ({'task': 'fly'}, "parameter 'task' is 'fly', but must be one of lift, stack, "),
        ({'cameras': 'back'}, "there is no camera 'back'"),
        ({'dataset': '/proc/nowhere'}, '/proc/nowhere'),
    ],
)
def test_a_bad_value_is_refused_in_one_sentence(start_stack, arguments, sentence):
    stack = start_stack(workcells=0, **arguments)
    assert stack.process.wait(30) == 2
    assert sentence in stack.printed()
    assert not TRACEBACK.search(stack.printed()), stack.printed()


def test_a_busy_port_is_refused_in_one_sentence(start_stack):
    with socket.socket() as taken:
        taken.bind(('127.0.0.1', 0))
        taken.listen()
        stack = start_stack(workcells=0, port=taken.getsockname()[1])
        assert stack.process.wait(30) == 2
    assert re.search(r'port \d+ .*(in use|taken|busy)', stack.printed()), stack.printed()
    assert not TRACEBACK.search(stack.printed())


def node(package, executable):
    return Path(get_package_prefix(package)) / 'lib' / package / executable


def in_own_mounts(script):
    """Runs a shell script as root of mount and user namespaces of its own."""
    return subprocess.run(
        ['unshare', '--user', '--map-root-user', '--mount', 'bash', '-ec', script],
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )


def test_a_missing_gl_library_is_named_with_the_line_that_installs_it():
    hide = '\n'.join(
        f'for file in /usr/lib/*/{name}*; do [ ! -e "$file" ] || mount --bind /dev/null "$(readlink -f "$file")"; done'
        for name in ('libEGL.so', 'libOSMesa.so')
    )
    result = in_own_mounts(f'{hide}\nexec {node("cobalt_sim", "sim_node")}')
    assert result.returncode == 2, result.stdout + result.stderr
    assert 'apt' in result.stderr and 'libegl1' in result.stderr
    assert not TRACEBACK.search(result.stdout + result.stderr), result.stderr


def test_a_full_disk_is_refused_in_one_sentence(tmp_path):
    result = in_own_mounts(
        f'mount -t tmpfs -o size=1M tmpfs {tmp_path}\n'
        f'exec {node("cobalt_recorder", "recorder_node")} --ros-args -p dataset:={tmp_path}/data'
    )
    assert result.returncode == 2, result.stdout + result.stderr
    assert re.search(r'free|space|disk', result.stderr) and str(tmp_path) in result.stderr
    assert not TRACEBACK.search(result.stdout + result.stderr)


class Page:
    """Plays the bridge: holds control, and sends the samples of held keys."""

    def __init__(self, operator):
        self.operator = operator
        self.publisher = create_publisher(operator.node, topics.operator_sample('keyboard', 'arm'), 'env_0')
        self.lease_id = operator.call('AcquireControl', session_id='page', operator_id='Ada').lease_id
        self.sequence = 0
        self.presses = [0] * len(ACTIONS)
        until(lambda: self.publisher.get_subscription_count(), 'page_devices listens')

    def send(self, buttons):
        self.sequence += 1
        stamp = to_stamp(now_ns())
        sample = DeviceSample(
            kind=DeviceSample.KIND_KEYBOARD,
            device_id='keys',
            session_id='page',
            lease_id=self.lease_id,
            device_stamp=stamp,
            sequence=self.sequence,
            tracked=True,
            engaged=bool(buttons),
            clutch_epoch=1,
            buttons=buttons,
            press_counts=self.presses,
            gripper=float('nan'),
        )
        sample.header.stamp = stamp
        self.publisher.publish(sample)

    def hold(self, action, condition, what, timeout_s=10.0):
        for _ in range(5):
            self.send(0)
            time.sleep(0.04)
        self.presses[[a.name for a in ACTIONS].index(action)] += 1
        end = time.monotonic() + timeout_s
        while time.monotonic() < end:
            self.send(BITS[action])
            if condition():
                return
            time.sleep(0.04)
        raise AssertionError(f'timed out: {what}')


@pytest.fixture
def recording(start_stack, request):
    """A stack with one saved episode, and another that is being recorded while the arm is driven."""
    stack = start_stack()
    os.environ['ROS_DOMAIN_ID'] = str(stack.domain)
    rclpy.init()
    operator = Operator('page_double', host_id='sim')
    request.addfinalizer(rclpy.try_shutdown)
    request.addfinalizer(operator.close)
    for topic in (topics.CONTROL_STEP, topics.CONTROL_STATE, topics.EPISODE, topics.RECORDING, topics.QUALITY):
        operator.listen(topic)
    until(lambda: operator.newest(topics.CONTROL_STEP), 'the first tick')
    page = Page(operator)

    def start_episode():
        answer = operator.call('StartEpisode', lease_id=page.lease_id, seed=3, require_recording=True)
        assert answer.ok, answer.reason
        until(lambda: operator.newest(topics.EPISODE).phase == EpisodeState.PHASE_RUNNING, 'the episode runs')
        return answer.episode_id

    start_episode()
    page.hold('up', lambda: moving(operator), 'the arm moves')
    time.sleep(1.0)
    assert operator.call('EndEpisode', lease_id=page.lease_id, outcome=EpisodeState.OUTCOME_FAILURE).ok
    saved = until(lambda: final_report(operator), 'the verdict')
    start_episode()
    page.hold('up', lambda: moving(operator), 'the arm moves again')
    return stack, operator, page, Path(saved.bag_uri)


def moving(operator):
    return operator.newest(topics.CONTROL_STEP).authority == ControlStep.AUTHORITY_HUMAN


def final_report(operator):
    reports = operator.heard[(topics.QUALITY.name, 'env_0')]
    return next((report for report in reports if report.stage == QualityReport.STAGE_FINAL), None)


def rows_in(bag):
    with AnyReader([bag]) as reader:
        return sum(1 for connection, _, _ in reader.messages() if connection.topic.endswith('/control_step'))


@pytest.mark.parametrize('victim', sorted(NODES))
def test_one_node_killed_while_recording(recording, victim):
    stack, operator, page, earlier = recording
    rows = rows_in(earlier)
    assert rows > 15
    others = NODES - {victim}
    stack.nodes()[victim].kill()
    until(lambda: f'{victim} died (killed by SIGKILL)' in stack.printed(), 'the message names what died')
    time.sleep(1.0)
    assert set(stack.nodes()) == others, 'it starts again after two seconds'
    newest = operator.newest(topics.CONTROL_STEP)
    if victim == 'page_devices':
        for _ in range(10):
            page.send(BITS['up'])
            time.sleep(0.04)
        newest = operator.newest(topics.CONTROL_STEP)
        assert newest.parts[0].hold_reason == PartStep.HOLD_STALE
    if victim == 'sim_node':
        report = until(
            lambda: next(
                (r for r in operator.heard[(topics.QUALITY.name, 'env_0')] if r.bag_uri != str(earlier) and r.bag_uri),
                None,
            ),
            'the running episode is saved all the same',
            15.0,
        )
        assert report.verdict != QualityReport.VERDICT_ACCEPT
        assert rows_in(Path(report.bag_uri)) > 0
        until(lambda: operator.newest(topics.CONTROL_STEP).step < newest.step, 'it ticks from the beginning', 20.0)
        assert operator.call('AcquireControl', session_id='page', operator_id='Ada').ok
    else:
        step = newest.step
        until(lambda: operator.newest(topics.CONTROL_STEP).step > step + 5, 'ticks go on')
    if victim == 'recorder_node':
        assert operator.call('EndEpisode', lease_id=page.lease_id, outcome=EpisodeState.OUTCOME_FAILURE).ok
        until(lambda: operator.newest(topics.EPISODE).phase == EpisodeState.PHASE_ENDED, 'the episode ends', 15.0)
    until(lambda: set(stack.nodes()) == NODES, 'it starts again', 15.0)
    assert rows_in(earlier) == rows
    stack.stop()
    assert not TRACEBACK.search(stack.printed()), stack.printed()
