"""foxglove_server as a process, between a host of the ROS graph and real clients of Foxglove's protocol."""

import array
import json
import random
import re
import signal
import ssl
import struct
import subprocess
import sys
import time
from contextlib import ExitStack

import av
import psutil
import pytest
import rclpy
from bridge_process import free_port, running_host
from foxglove_client import FoxgloveClient
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import serialize_message
from robo_ws_bridge.client import ServiceCallError
from ros_operator import until
from std_msgs.msg import String, UInt8MultiArray
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from cobalt_interfaces.msg import EpisodeState
from cobalt_interfaces.srv import EmergencyStop
from cobalt_teleop.core import topics
from cobalt_teleop.ros.endpoints import TakenSubscription

RUN_SERVER = 'import sys; from cobalt_teleop.foxglove.foxglove_server_node import main; sys.exit(main())'
PROTOCOL = ['foxglove.sdk.v1']


def start_server(state_dir, *options):
    options = [f'state_dir:={state_dir}', *options]
    return subprocess.Popen(
        [sys.executable, '-c', RUN_SERVER, '--ros-args', *(part for option in options for part in ('-p', option))],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.fixture(scope='module')
def host(private_ros_domain):
    rclpy.init()
    with running_host('env_0') as node:
        yield node
    rclpy.try_shutdown()


@pytest.fixture(scope='module')
def server(host, tmp_path_factory):
    process = start_server(tmp_path_factory.mktemp('state'), f'port:={free_port()}', 'backlog:=64', 'max_clients:=4')
    line = process.stdout.readline()
    assert line.startswith('Foxglove: open a connection to ws://127.0.0.1:'), line + process.communicate()[0]
    process.url = line.split()[-1]
    yield process
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=8.0)
    assert process.returncode == 0
    assert 'Traceback' not in output


@pytest.fixture
def client(server):
    made = FoxgloveClient(server.url)
    yield made
    made.close()


@pytest.fixture
def late_client(server):
    made = FoxgloveClient(server.url)
    yield made
    made.close()


@pytest.fixture
def node(host):
    made = rclpy.create_node('talker')
    yield made
    made.destroy_node()


def test_a_control_step_arrives_as_it_is_and_its_schema_suffices_to_read_it(client):
    channel = client.channel('/env_0/control_step')
    assert (channel['encoding'], channel['schemaEncoding']) == ('cdr', 'ros2msg')
    assert channel['schemaName'] == 'cobalt_interfaces/msg/ControlStep'
    client.subscribe('/env_0/control_step')
    until(lambda: client.count('/env_0/control_step') >= 3, 'control steps')
    steps = [client.decoded('/env_0/control_step', index) for index in range(3)]
    assert [step.step - steps[0].step for step in steps] == [0, 1, 2]
    assert steps[0].workcell_id == 'env_0'
    assert steps[0].parts[0].part == 'arm' and steps[0].parts[0].pose.orientation.w
    received_ns = client.received['/env_0/control_step'][-1][0]
    assert abs(received_ns - time.time_ns()) < 30e9


def test_video_decodes_as_h264(client):
    client.subscribe('/env_0/camera/front/video')
    until(lambda: client.count('/env_0/camera/front/video') >= 3, 'frames')
    decoder = av.CodecContext.create('h264', 'r')
    frames = [client.decoded('/env_0/camera/front/video', index) for index in range(3)]
    assert {frame.format for frame in frames} == {'h264'}
    pictures = [picture for frame in frames for picture in decoder.decode(av.Packet(frame.data.tobytes()))]
    assert (pictures[0].width, pictures[0].height) == (320, 240)
    assert pictures[0].to_ndarray(format='gray').std() > 1.0


def test_for_each_client_of_a_camera_a_key_frame_is_asked_for(client, late_client, node):
    requests = TakenSubscription(node, topics.request_key_frame('front'), 'env_0')
    for each in (client, late_client):
        each.subscribe('/env_0/camera/front/video')
        until(requests.take, 'a request for a key frame')


def test_a_late_client_gets_the_latched_message_and_the_others_not_again(client, late_client):
    client.subscribe('/env_0/workcell')
    until(lambda: client.count('/env_0/workcell'), 'the latched message')
    late_client.subscribe('/env_0/workcell')
    until(lambda: late_client.count('/env_0/workcell'), 'the latched message, late')
    assert late_client.decoded('/env_0/workcell').host_id == 'test_host'
    late_client.subscribe('/env_0/control_step')
    until(lambda: late_client.count('/env_0/control_step'), 'something later')
    assert client.count('/env_0/workcell') == late_client.count('/env_0/workcell') == 1


def test_subscribed_only_while_a_client_is_and_asks_no_more_than_the_publisher_offers(client, late_client, node):
    publisher = node.create_publisher(String, 'whisper', QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT))

    def subscriptions():
        return node.get_subscriptions_info_by_topic('/whisper')

    client.channel('/whisper')
    assert not subscriptions()
    client.subscribe('/whisper')
    late_client.subscribe('/whisper')
    until(lambda: publisher.get_subscription_count(), 'the subscription')
    publisher.publish(String(data='psst'))
    for each in (client, late_client):
        until(lambda each=each: each.count('/whisper'), 'the message')
        assert each.decoded('/whisper').data == 'psst'
    assert [info.qos_profile.reliability for info in subscriptions()] == [ReliabilityPolicy.BEST_EFFORT]
    client.unsubscribe('/whisper')
    late_client.close()
    until(lambda: not subscriptions(), 'the end of the subscription')


def test_a_channel_goes_with_its_topic_and_another_type_may_come_in_its_place(client, node):
    publisher = node.create_publisher(String, 'passing', 1)
    client.channel('/passing')
    node.destroy_publisher(publisher)
    until(lambda: '/passing' not in client.channels(), 'the channel to go')
    node.create_publisher(UInt8MultiArray, 'passing', 1)
    assert client.channel('/passing')['schemaName'] == 'std_msgs/msg/UInt8MultiArray'


def test_many_topics_that_come_and_go_at_once_cost_no_client_its_connection(client, node):
    publishers = [node.create_publisher(String, f'crowd/topic_{number}', 1) for number in range(200)]
    until(lambda: sum('/crowd/' in name for name in client.channels()) == 200, 'all channels', 20.0)
    client.subscribe(*(f'/crowd/topic_{number}' for number in range(0, 200, 10)))
    for publisher in publishers:
        node.destroy_publisher(publisher)
    until(lambda: not any('/crowd/' in name for name in client.channels()), 'the channels to go', 20.0)
    assert client.lost_connections == 0


def test_a_publisher_that_offers_less_is_heard_as_well(client, node):
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    first = node.create_publisher(String, 'mixed', latched)
    first.publish(String(data='kept'))
    client.subscribe('/mixed')
    until(lambda: client.count('/mixed'), 'the latched message')
    second = node.create_publisher(String, 'mixed', QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT))

    def heard():
        second.publish(String(data='new'))
        return client.decoded('/mixed').data == 'new'

    until(heard, 'the weaker publisher')


def test_a_client_that_does_not_read_costs_bounded_memory_and_slows_nobody(server, client, node):
    publisher = node.create_publisher(UInt8MultiArray, 'fat', QoSProfile(depth=10))
    channel = client.channel('/fat')
    client.subscribe('/fat')
    with connect(server.url, subprotocols=PROTOCOL, max_queue=1, close_timeout=0.1) as sleeper:
        sleeper.send(f'{{"op":"subscribe","subscriptions":[{{"id":1,"channelId":{channel["id"]}}}]}}')
        until(lambda: publisher.get_subscription_count(), 'the subscription')
        memory = psutil.Process(server.pid).memory_info
        message = UInt8MultiArray(data=array.array('B', bytes(50_000)))
        before = memory().rss
        for count in range(1, 801):
            publisher.publish(message)
            if count % 8 == 0:
                until(lambda count=count: client.count('/fat') >= count, f'message {count} at the client that reads')
        # 40 MB passed by; 64 messages, 3.2 MB, may wait for the sleeper.
        assert memory().rss - before < 20e6


def test_services_start_an_episode_and_stop_the_arm(client):
    lease = client.call('/test_host/acquire_control', workcell_id='env_0', session_id='s', operator_id='Ada')
    assert lease.ok and lease.lease_id
    client.subscribe('/env_0/episode', '/env_0/control_state')
    started = client.call('/test_host/start_episode', workcell_id='env_0', lease_id=lease.lease_id, seed=3)
    assert started.ok and started.episode_id

    def runs():
        episode = client.newest('/env_0/episode')
        return episode and (episode.episode_id, episode.phase) == (started.episode_id, EpisodeState.PHASE_RUNNING)

    until(runs, 'the episode to run')
    assert client.call('/test_host/emergency_stop', workcell_id='env_0', who='Ada').ok
    until(lambda: client.newest('/env_0/control_state').estop_by == 'Ada', 'the emergency stop')
    assert client.call('/test_host/clear_emergency_stop', workcell_id='env_0', who='Ada', confirm=True).ok
    assert client.call('/test_host/release_control', workcell_id='env_0', lease_id=lease.lease_id).ok


def test_a_refusal_by_the_host_and_a_request_that_is_none_are_told_in_words(client):
    answer = client.call('/test_host/start_episode', workcell_id='env_9')
    assert not answer.ok and "there is no workcell 'env_9' here" in answer.reason
    with pytest.raises(ServiceCallError, match=r'the request is no cobalt_interfaces/srv/StartEpisode_Request'):
        client.call_raw('/test_host/start_episode', b'\x00\x01\x00\x00\xff\xff\xff\xff')
    with pytest.raises(ServiceCallError, match='65536 are allowed'):
        client.call_raw('/test_host/start_episode', bytes(70_000))


def test_garbage_is_survived(server, client):
    channel = client.channel('/env_0/control_step')
    generator = random.Random(1)
    for _ in range(30):
        with connect(server.url, subprotocols=PROTOCOL, close_timeout=0.1) as stranger:
            for _ in range(20):
                garbage = generator.randbytes(generator.randrange(200))
                orders = ('{"op":"subscribe"}', '{"op":"subscribe","subscriptions":[{"id":-1,"channelId":"x"}]}', '[]')
                stranger.send(generator.choice((garbage, *orders, '{' * 1000)))
    client.subscribe('/env_0/control_step')
    until(lambda: client.count('/env_0/control_step'), f'messages of {channel["topic"]} after that')


def test_only_listed_services_are_offered_and_nobody_may_publish(client):
    client.channel('/env_0/control_step')
    until(lambda: len(client.services()) == len(topics.SERVICES), 'the services')
    assert set(client.services()) == {topics.service_name('test_host', name) for name in topics.SERVICES}
    assert client.server_info['capabilities'] == ['services']


@pytest.mark.parametrize(
    ('headers', 'reason'),
    [
        ({'Origin': 'https://evil.example'}, "pages of 'https://evil.example' may not connect"),
        ({'Origin': 'null'}, "pages of 'null' may not connect"),
        ({'Host': 'rebound.example'}, "the host '.*rebound.example', which is not this machine"),
    ],
)
def test_a_strange_page_is_refused(server, headers, reason):
    with (
        pytest.raises(InvalidStatus) as refused,
        connect(server.url, subprotocols=PROTOCOL, additional_headers=headers),
    ):
        pass
    assert refused.value.response.status_code == 403
    assert re.search(reason, refused.value.response.body.decode())


def test_foxglove_s_own_page_may_connect(server):
    with connect(server.url, subprotocols=PROTOCOL, origin='https://app.foxglove.dev') as page:
        assert '"serverInfo"' in page.recv(timeout=5.0)


def test_no_more_clients_than_allowed(server):
    with ExitStack() as clients:
        for _ in range(4):
            clients.enter_context(connect(server.url, subprotocols=PROTOCOL))
        with pytest.raises(InvalidStatus):
            clients.enter_context(connect(server.url, subprotocols=PROTOCOL))


def test_it_ends_at_once_though_a_call_waits_for_an_answer(node, tmp_path):
    node.create_service(EmergencyStop, '/mute/emergency_stop', lambda request, response: response)  # nobody spins it
    process = start_server(tmp_path, f'port:={free_port()}', 'service_timeout_s:=60.0')
    with connect(process.stdout.readline().split()[-1], subprotocols=PROTOCOL, close_timeout=0.1) as client:
        while 'mute' not in (order := client.recv(timeout=10.0)):
            pass
        (service,) = (each for each in json.loads(order)['services'] if each['name'] == '/mute/emergency_stop')
        request = bytes(serialize_message(EmergencyStop.Request(who='Ada')))
        client.send(struct.pack('<BIII3s', 2, service['id'], 1, 3, b'cdr') + request)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=20.0)
    assert process.returncode == 0 and 'Traceback' not in output


def test_beyond_loopback_it_speaks_tls_and_wants_the_owner_s_token(private_ros_domain, tmp_path):
    port = free_port()
    process = start_server(tmp_path, 'host:=0.0.0.0', f'port:={port}')
    try:
        assert f':{port}/?token=TOKEN' in process.stdout.readline()
        trust = ssl.create_default_context(cafile=tmp_path / 'certificate.pem')
        url, token = f'wss://localhost:{port}/', (tmp_path / 'owner_token').read_text()
        for wrong in (url, f'{url}?token={"x" * 43}'):
            with pytest.raises(InvalidStatus) as refused:
                connect(wrong, subprotocols=PROTOCOL, ssl=trust).__enter__()
            assert 'A valid link is needed' in refused.value.response.body.decode()
        with connect(f'{url}?token={token}', subprotocols=PROTOCOL, ssl=trust) as client:
            assert '"serverInfo"' in client.recv(timeout=5.0)
    finally:
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=8.0)
    assert 'Traceback' not in output and token not in output
