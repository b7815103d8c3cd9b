"""ROS 2 over network namespaces: on one machine nothing is open to others; over several they work together."""

import json
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import namespaces
import pytest
import rclpy
from mcap.reader import make_reader
from namespaces import CLIENT_ADDRESS, SERVER_ADDRESS, SmallInternet
from ros_operator import Operator, until
from running_stack import RunningStack, free_domain

from cobalt_bringup.machines_profile import machines_profile
from cobalt_interfaces.msg import EpisodeState, RecordingState
from cobalt_teleop.core import topics

pytestmark = pytest.mark.skipif(bool(namespaces.why_not()), reason=namespaces.why_not())

START_S = 40.0
RUN_SIM = 'import sys; from cobalt_sim.sim_node import main; sys.exit(main())'
RUN_RECORDER = 'import sys; from cobalt_recorder.recorder_node import main; sys.exit(main())'
STRANGER = """
import sys, time, rclpy
from std_msgs.msg import String
rclpy.init()
node = rclpy.create_node('stranger')
node.create_publisher(String, sys.argv[1], 1)
print('here', flush=True)
sys.stdin.readline()
print([name for name, _ in node.get_topic_names_and_types()], flush=True)
"""
ASK = """
import json, sys
from cobalt_bringup.machines_check import ask_machines
print(json.dumps(ask_machines(sys.argv[3:], int(sys.argv[1]), limit_s=float(sys.argv[2]))))
"""


@pytest.fixture
def internet():
    with SmallInternet() as made:
        yield made


@pytest.fixture
def domain(monkeypatch):
    number = free_domain()
    monkeypatch.setenv('ROS_DOMAIN_ID', str(number))
    return number


def start_on_another_machine(namespace, folder, code, *options):
    """Starts Python on a host that shares no memory and no machine id with this one."""
    machine_id = folder / f'machine-id-{namespace.name}'
    machine_id.write_text(f'{uuid.uuid4().hex}\n')
    mounts = f'mount -t tmpfs tmpfs /dev/shm && mount --bind {machine_id} /etc/machine-id && exec "$@"'
    return namespace.popen(
        ['unshare', '--mount', 'sh', '-c', mounts, 'sh', sys.executable, '-c', code, *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def end(process):
    process.send_signal(signal.SIGINT)
    try:
        process.communicate(timeout=10.0)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()


def test_on_one_machine_no_socket_of_ros_is_open_to_others(internet, domain, tmp_path):
    stranger = start_on_another_machine(internet.router, tmp_path, STRANGER, 'from_outside')
    careless = None
    try:
        with internet.server.entered():
            arguments = {'dataset': tmp_path / 'dataset', 'cameras': '', 'foxglove': 'true', 'foxglove_port': 8765}
            with RunningStack(tmp_path / 'stack.log', arguments=arguments, domain=domain) as stack:
                stack.wait_until_live(1)
                assert len(stack.nodes()) == 5
                sockets = internet.server.run('ss', '--no-header', '-ntul').split('\n')
                multicast = internet.server.run('cat', '/proc/net/igmp')
                careless = start_on_another_machine(internet.server, tmp_path, STRANGER, 'from_careless')
                for process in (stranger, careless):
                    assert process.stdout.readline() == 'here\n'
                time.sleep(4.0)  # two announcements of each side
                outside, _ = stranger.communicate('now\n', timeout=20.0)
    finally:
        for process in filter(None, (stranger, careless)):
            process.kill()
            process.communicate()
    addresses = {line.split()[4].rpartition(':')[0] for line in sockets if line}
    assert '127.0.0.1' in addresses
    assert all(address.startswith(('127.', '239.255.0.1', '[::1]')) for address in addresses), addresses
    groups_of_network = multicast.partition('server')[2]
    assert '0100FFEF' in multicast and '0100FFEF' not in groups_of_network
    # What ROS 2 does by default is seen over this network, and nothing of Cobalt is.
    assert '/from_careless' in outside
    assert '/env_0' not in outside


@pytest.fixture
def two_machines(internet, domain, tmp_path, monkeypatch):
    """A simulator on the server; this process and what it starts live on the client."""
    profile = tmp_path / 'machines.xml'
    profile.write_text(machines_profile([CLIENT_ADDRESS, SERVER_ADDRESS]))
    monkeypatch.setenv('FASTDDS_DEFAULT_PROFILES_FILE', str(profile))
    options = ('num_envs:=1', 'cameras:=front', 'width:=160', 'height:=120')
    sim = start_on_another_machine(
        internet.server, tmp_path, RUN_SIM, '--ros-args', *(part for option in options for part in ('-p', option))
    )
    with internet.client.entered():
        rclpy.init()
        yield sim
        rclpy.try_shutdown()
    end(sim)


def asked(domain, limit_s):
    command = [sys.executable, '-c', ASK, str(domain), str(limit_s), CLIENT_ADDRESS, SERVER_ADDRESS]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, timeout=60.0).stdout)


def test_an_episode_on_one_machine_is_recorded_on_another_and_doctor_sees_them(
    two_machines, internet, domain, tmp_path
):
    recorder = subprocess.Popen([sys.executable, '-c', RUN_RECORDER, '--ros-args', '-p', f'dataset:={tmp_path}/bags'])
    operator = Operator('operator', host_id='sim')
    for topic in (topics.CONTROL_STEP, topics.EPISODE, topics.RECORDING):
        operator.listen(topic)
    try:
        until(lambda: operator.newest(topics.CONTROL_STEP), 'the simulator', START_S)
        until(lambda: operator.newest(topics.RECORDING), 'the recorder', START_S)
        record_episode(operator)
        answered, silent = asked(domain, START_S)
        assert 'sim' in answered[SERVER_ADDRESS] and not silent

        internet.block_udp()
        answered, silent = asked(domain, 3.0)
        assert not answered and 'through its firewall' in silent[SERVER_ADDRESS]
        internet.open()
    finally:
        operator.close()
        end(recorder)
    end(two_machines)
    answered, silent = asked(domain, 3.0)
    assert not answered and 'it is reachable, but no ROS 2 answers' in silent[SERVER_ADDRESS]


def record_episode(operator):
    lease = operator.call('AcquireControl', session_id='s', operator_id='Ada')
    started = operator.call('StartEpisode', lease_id=lease.lease_id, require_recording=True)
    assert started.ok, started.reason
    until(lambda: operator.newest(topics.EPISODE).phase == EpisodeState.PHASE_RUNNING, 'the episode', START_S)
    first = operator.newest(topics.CONTROL_STEP).step
    until(lambda: operator.newest(topics.CONTROL_STEP).step > first + 30, 'some steps', START_S)
    assert operator.call('EndEpisode', lease_id=lease.lease_id, outcome=EpisodeState.OUTCOME_SUCCESS).ok
    until(lambda: operator.newest(topics.RECORDING).state == RecordingState.STATE_SAVED, 'the bag', START_S)
    assert operator.newest(topics.RECORDING).dropped == 0
    (file,) = Path(operator.newest(topics.RECORDING).uri).glob('*.mcap')
    with file.open('rb') as bag:
        summary = make_reader(bag).get_summary()
    counts = {
        channel.topic: summary.statistics.channel_message_counts.get(number, 0)
        for number, channel in summary.channels.items()
    }
    assert counts['/env_0/control_step'] > 30
    assert counts['/env_0/camera/front/video'] > 20
