"""The SROS 2 policy against the nodes: whatever they open, they may; and each finds its own enclave."""

import asyncio
import fnmatch
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import rclpy
from foxglove_client import FoxgloveClient
from page_client import PageClient
from ros_operator import Operator, until
from running_stack import free_port

from cobalt_bringup.sros2_policy import RIGHTS, policy_xml
from cobalt_interfaces.msg import EpisodeState
from cobalt_teleop.core import topics

BRINGUP = Path(__file__).parents[1] / 'cobalt_bringup'
POLICY = ElementTree.fromstring((BRINGUP / 'config' / 'sros2_policy.xml').read_text())
NOT_STARTED = ('arm_driver', 'mujoco_hardware', 'camera_encoder', 'page_devices')
RUN_KEYBOARD = 'import sys; from cobalt_devices.keyboard_node import main; sys.exit(main())'


def allowed(node, kind, what):
    """Names in the policy file, such as the topics that a node may publish."""
    (profile,) = POLICY.iterfind(f".//profile[@node='{node}']")
    groups = [group for group in profile.iterfind(kind) if group.get(what) == 'ALLOW']
    return [element.text for group in groups for element in group]


def test_the_shipped_policy_is_the_generated_one():
    assert (BRINGUP / 'config' / 'sros2_policy.xml').read_text() == policy_xml()


def test_the_launch_files_give_each_node_an_enclave_of_the_policy():
    enclaves = {element.get('path') for element in POLICY.iter('enclave')}
    given = {}
    for file in (BRINGUP / 'launch').rglob('*.launch.xml'):
        for node in ElementTree.parse(file).iter('node'):
            settings = {env.get('name'): env.get('value') for env in node.iter('env')}
            given[node.get('exec')] = settings.get('ROS_SECURITY_ENCLAVE_OVERRIDE')
    assert len(given) >= 5
    assert set(given.values()) <= enclaves


def test_only_device_nodes_may_command_and_only_hosts_may_speak_for_a_robot():
    def publishers(topic):
        name = topic.absolute('env_0')
        return {
            node for node in RIGHTS if any(fnmatch.fnmatchcase(name, p) for p in allowed(node, 'topics', 'publish'))
        }

    assert publishers(topics.teleop_command('arm')) == {
        'keyboard_node', 'phone_node', 'vr_node', 'spacemouse_node', 'gamepad_node', 'page_devices',
    }  # fmt: skip
    assert publishers(topics.CONTROL_STEP) == publishers(topics.CONTROL_STATE) == {'sim', 'arm_driver'}
    assert publishers(topics.QUALITY) == {'recorder_node'}
    assert 'sim' not in publishers(topics.operator_sample('keyboard', 'arm'))


def test_a_node_looks_for_its_own_keys_and_says_in_a_sentence_that_there_are_none(tmp_path):
    security = {
        'ROS_SECURITY_ENABLE': 'true',
        'ROS_SECURITY_STRATEGY': 'Enforce',
        'ROS_SECURITY_KEYSTORE': str(tmp_path),
        'ROS_SECURITY_ENCLAVE_OVERRIDE': '/cobalt/keyboard_node',
    }
    answer = subprocess.run(
        [sys.executable, '-c', RUN_KEYBOARD], env=os.environ | security, capture_output=True, text=True, timeout=30.0
    )
    assert answer.returncode == 2
    assert f'{tmp_path}/enclaves/cobalt/keyboard_node' in answer.stderr
    assert 'Traceback' not in answer.stderr


@pytest.fixture
def operator(monkeypatch, start_stack):
    stack = start_stack(cameras='front', width=160, height=120, foxglove='true', foxglove_port=free_port())
    monkeypatch.setenv('ROS_DOMAIN_ID', str(stack.domain))
    rclpy.init()
    made = Operator('onlooker', host_id='sim')
    made.stack = stack
    yield made
    made.close()
    rclpy.try_shutdown()


def test_whatever_the_nodes_open_the_policy_allows(operator):
    arguments = operator.stack.arguments
    for topic in (topics.EPISODE, topics.RECORDING):
        operator.listen(topic)
    foxglove = FoxgloveClient(f'ws://127.0.0.1:{arguments["foxglove_port"]}')
    foxglove.subscribe('/env_0/camera/front/video', '/env_0/control_step')

    async def with_a_page():
        async with PageClient(arguments['port'], workcell='env_0') as page:
            await page.until_live()
            lease = await asyncio.to_thread(operator.call, 'AcquireControl', session_id='s', operator_id='Ada')
            started = await asyncio.to_thread(
                operator.call, 'StartEpisode', lease_id=lease.lease_id, require_recording=True
            )
            assert started.ok, started.reason
            await asyncio.to_thread(until, runs, 'the episode')
            return await asyncio.to_thread(until, all_opened, 'the graph to know of them')

    def all_opened():
        # page_devices is a process, and an enclave, of several nodes.
        started = [node for node in RIGHTS if node not in NOT_STARTED]
        if not set(started) <= set(operator.node.get_node_names()):
            return False
        opened = {node: endpoints(operator.node, node) for node in started}
        video = ('topics', 'subscribe', '/env_0/camera/front/video')
        known = video in opened['recorder_node'] & opened['foxglove_server'] & opened['webrtc_bridge']
        return known and ('services', 'request', '/sim/start_episode') in opened['webrtc_bridge'] and opened

    def runs():
        return operator.newest(topics.EPISODE).phase == EpisodeState.PHASE_RUNNING

    try:
        opened = asyncio.run(with_a_page())
    finally:
        foxglove.close()
    forbidden = [
        (node, *entry)
        for node, entries in opened.items()
        for entry in entries
        if not any(fnmatch.fnmatchcase(entry[2], pattern) for pattern in allowed(node, *entry[:2]))
    ]
    assert not forbidden


def endpoints(node, name):
    """What a node has open now, as (kind, what, name)."""
    found = set()
    for kind, what, names_and_types in (
        ('topics', 'publish', node.get_publisher_names_and_types_by_node),
        ('topics', 'subscribe', node.get_subscriber_names_and_types_by_node),
        ('services', 'reply', node.get_service_names_and_types_by_node),
        ('services', 'request', node.get_client_names_and_types_by_node),
    ):
        found |= {(kind, what, entry) for entry, _ in names_and_types(name, '/')}
    return found
