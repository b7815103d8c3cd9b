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
from mcap.reader import make_reader
from namespaces import CLIENT_ADDRESS, SERVER_ADDRESS, SmallInternet
from running_stack import RunningStack, free_domain

from cobalt_bringup.machines_profile import machines_profile

pytestmark = pytest.mark.skipif(bool(namespaces.why_not()), reason=namespaces.why_not())

RUN_SIM = 'import sys; from cobalt_sim.sim_node import main; sys.exit(main())'
RUN_RECORDER = 'import sys; from cobalt_recorder.recorder_node import main; sys.exit(main())'
STRANGER = """
import os, sys
os.environ.pop('FASTDDS_DEFAULT_PROFILES_FILE', None)
import rclpy
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
    own_id = f'{{ [ ! -e /etc/machine-id ] || mount --bind {machine_id} /etc/machine-id; }}'
    mounts = f'mount -t tmpfs tmpfs /dev/shm && {own_id} && exec "$@"'
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
    """A simulator on the server; what this thread starts lives on the client."""
    profile = tmp_path / 'machines.xml'
    profile.write_text(machines_profile([CLIENT_ADDRESS, SERVER_ADDRESS]))
    monkeypatch.setenv('FASTDDS_DEFAULT_PROFILES_FILE', str(profile))
    options = ('num_envs:=1', 'cameras:=front', 'width:=160', 'height:=120')
    sim = start_on_another_machine(
        internet.server, tmp_path, RUN_SIM, '--ros-args', *(part for option in options for part in ('-p', option))
    )
    with internet.client.entered():
        yield sim
    end(sim)


def output_of(*command):
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=150.0)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def asked(domain, limit_s):
    return output_of('-c', ASK, str(domain), str(limit_s), CLIENT_ADDRESS, SERVER_ADDRESS)


def test_an_episode_on_one_machine_is_recorded_on_another_and_doctor_sees_them(
    two_machines, internet, domain, tmp_path
):
    recorder = subprocess.Popen([sys.executable, '-c', RUN_RECORDER, '--ros-args', '-p', f'dataset:={tmp_path}/bags'])
    try:
        saved = output_of(str(Path(__file__).with_name('recorded_episode.py')))
        answered, silent = asked(domain, 40.0)
        assert 'sim' in answered[SERVER_ADDRESS] and not silent

        internet.block_udp()
        answered, silent = asked(domain, 3.0)
        assert not answered and 'through its firewall' in silent[SERVER_ADDRESS]
        internet.open()
    finally:
        end(recorder)
    end(two_machines)
    answered, silent = asked(domain, 3.0)
    assert not answered and 'it is reachable, but no ROS 2 answers' in silent[SERVER_ADDRESS]

    assert saved['dropped'] == 0
    (file,) = Path(saved['uri']).glob('*.mcap')
    with file.open('rb') as bag:
        summary = make_reader(bag).get_summary()
    counts = {
        channel.topic: summary.statistics.channel_message_counts.get(number, 0)
        for number, channel in summary.channels.items()
    }
    assert counts['/env_0/control_step'] > 30
    assert counts['/env_0/camera/front/video'] > 20
