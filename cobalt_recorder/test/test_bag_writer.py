import random
import signal
import subprocess
import sys
import time

import pytest
import yaml
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from rclpy.serialization import serialize_message
from rosbags.highlevel import AnyReader
from rosbags.interfaces import QosDurability, QosHistory, QosReliability
from rosbags.rosbag2 import Reader
from std_msgs.msg import String

from cobalt_interfaces.msg import EpisodeState
from cobalt_recorder.bag_reader import read_bag
from cobalt_recorder.bag_thread import BagThread, NewTopic, RawMessage
from cobalt_recorder.bag_writer import BagWriter
from cobalt_recorder.offered_qos import OfferedQos

STRING = 'std_msgs/msg/String'
EPISODE = 'cobalt_interfaces/msg/EpisodeState'
LATCHED = OfferedQos(history='keep_last', depth=1, durability='transient_local')
COMMAND = OfferedQos(history='keep_last', depth=1, reliability='best_effort')
START_NS = 1_796_036_147_000_000_000

WRITE_UNTIL_KILLED = """
import sys, time
from pathlib import Path
from rclpy.serialization import serialize_message
from std_msgs.msg import String
from cobalt_recorder.bag_thread import BagThread, NewTopic, RawMessage
from cobalt_recorder.bag_writer import BagWriter
bag = BagThread(BagWriter(Path(sys.argv[1]), {}), queue_bytes=10**8)
bag.add_topic(NewTopic('/text', 'std_msgs/msg/String', (), ''))
for index in range(1, 10**6):
    data = bytes(serialize_message(String(data=f'{index} ' + 'x' * (index % 997))))
    assert bag.write(RawMessage('/text', data, time.time_ns(), time.time_ns(), index))
    print(index, flush=True)
    time.sleep(0.002)
"""


def text(content):
    return bytes(serialize_message(String(data=content)))


def write_bag(folder, count=100):
    writer = BagWriter(folder, {'task': 'lift'})
    writer.add_facts('cobalt.episode', {'episode_id': folder.name})
    writer.add_topic('/env_0/text', STRING, (LATCHED, COMMAND))
    writer.add_topic('/env_0/episode', EPISODE, (LATCHED,))
    writer.add_topic('/env_0/silent', STRING, ())
    for index in range(count):
        stamp_ns = START_NS + index * 1_000_000
        writer.write(
            '/env_0/text', text(f'text {index}'), received_ns=stamp_ns, published_ns=stamp_ns - 7, sequence=index
        )
    episode = EpisodeState(episode_id=folder.name, task='lift', last_step=2**40)
    writer.write('/env_0/episode', bytes(serialize_message(episode)), received_ns=START_NS, published_ns=START_NS)
    writer.close('cobalt.end', {'outcome': 'SUCCESS'}, {'outcome': 'SUCCESS'})


def test_independent_reader_finds_types_counts_qos_and_content(tmp_path):
    write_bag(tmp_path / 'one')
    with Reader(tmp_path / 'one') as reader:
        found = {connection.topic: connection for connection in reader.connections}
        assert {name: one.msgtype for name, one in found.items()} == {
            '/env_0/text': STRING,
            '/env_0/episode': EPISODE,
            '/env_0/silent': STRING,
        }
        assert [found[name].msgcount for name in ('/env_0/text', '/env_0/episode', '/env_0/silent')] == [100, 1, 0]
        first, second = found['/env_0/text'].ext.offered_qos_profiles
        assert (first.history, first.depth) == (QosHistory.KEEP_LAST, 1)
        assert (first.durability, second.durability) == (QosDurability.TRANSIENT_LOCAL, QosDurability.VOLATILE)
        assert (first.reliability, second.reliability) == (QosReliability.RELIABLE, QosReliability.BEST_EFFORT)
        assert reader.message_count == 101
        assert (reader.start_time, reader.duration) == (START_NS, 99_000_001)
    with AnyReader([tmp_path / 'one']) as reader:
        read = [
            (stamp_ns, reader.deserialize(data, connection.msgtype)) for connection, stamp_ns, data in reader.messages()
        ]
    texts = [(stamp_ns, message.data) for stamp_ns, message in read if hasattr(message, 'data')]
    assert texts == [(START_NS + index * 1_000_000, f'text {index}') for index in range(100)]
    (episode,) = (message for _, message in read if hasattr(message, 'last_step'))
    assert (episode.episode_id, episode.last_step) == ('one', 2**40)


def test_a_second_independent_reader_decodes_and_sees_both_times(tmp_path):
    write_bag(tmp_path / 'one')
    with (tmp_path / 'one' / 'one_0.mcap').open('rb') as stream:
        reader = make_reader(stream, decoder_factories=[DecoderFactory()])
        assert reader.get_header().profile == 'ros2'
        messages = list(reader.iter_decoded_messages(topics=['/env_0/text']))
        assert [record.name for record in reader.iter_metadata()] == ['cobalt.episode', 'cobalt.end']
    assert [one.decoded_message.data for one in messages] == [f'text {index}' for index in range(100)]
    assert all(one.message.log_time - one.message.publish_time == 7 for one in messages)


def test_metadata_is_there_from_the_start_and_says_more_at_the_end(tmp_path):
    writer = BagWriter(tmp_path / 'one', {'task': 'lift'})
    begun = yaml.safe_load((tmp_path / 'one' / 'metadata.yaml').read_text())['rosbag2_bagfile_information']
    assert (begun['version'], begun['storage_identifier'], begun['message_count']) == (9, 'mcap', 0)
    assert begun['custom_data'] == {'task': 'lift'}
    writer.add_topic('/a', STRING)
    writer.write('/a', text('x'), received_ns=5, published_ns=4)
    writer.close('cobalt.end', {}, {'outcome': 'FAILURE'})
    ended = yaml.safe_load((tmp_path / 'one' / 'metadata.yaml').read_text())['rosbag2_bagfile_information']
    assert ended['message_count'] == ended['files'][0]['message_count'] == 1
    assert ended['custom_data'] == {'task': 'lift', 'outcome': 'FAILURE'}


def test_a_bag_that_is_there_is_never_touched(tmp_path):
    write_bag(tmp_path / 'one')
    before = (tmp_path / 'one' / 'one_0.mcap').read_bytes()
    with pytest.raises(FileExistsError):
        BagWriter(tmp_path / 'one', {})
    assert (tmp_path / 'one' / 'one_0.mcap').read_bytes() == before


def test_old_chunks_are_closed_though_little_arrives(tmp_path):
    bag = BagThread(BagWriter(tmp_path / 'one', {}), queue_bytes=10_000)
    bag.add_topic(NewTopic('/a', STRING, (), ''))
    assert bag.write(RawMessage('/a', text('x'), 5, 4, 1))
    time.sleep(1.2)
    assert read_bag(tmp_path / 'one').topics['/a'].count == 1
    bag.finish('cobalt.end', {}, {})
    assert bag.wait(5.0)


def test_a_full_queue_refuses(tmp_path):
    bag = BagThread(BagWriter(tmp_path / 'one', {}), queue_bytes=100)
    bag.add_topic(NewTopic('/a', STRING, (), ''))
    assert not bag.write(RawMessage('/a', bytes(200), 5, 4, 1))
    assert bag.write(RawMessage('/a', text('x'), 5, 4, 1))
    bag.finish('cobalt.end', {}, {})
    assert bag.wait(5.0)
    assert read_bag(tmp_path / 'one').topics['/a'].count == 1


def test_kill_9_costs_less_than_a_second_and_no_earlier_bag(tmp_path):
    write_bag(tmp_path / 'earlier')
    process = subprocess.Popen(
        [sys.executable, '-c', WRITE_UNTIL_KILLED, str(tmp_path / 'killed')], stdout=subprocess.PIPE, text=True
    )
    process.stdout.readline()
    written = []
    until = time.monotonic() + random.uniform(1.5, 2.5)
    while time.monotonic() < until:
        written.append((time.monotonic(), int(process.stdout.readline())))
    process.send_signal(signal.SIGKILL)
    process.wait()
    killed = read_bag(tmp_path / 'killed')
    assert not killed.complete
    assert killed.damage
    safe = max(index for when, index in written if when < written[-1][0] - 1.0)
    assert killed.topics['/text'].count >= safe
    assert (tmp_path / 'killed' / 'metadata.yaml').exists()
    assert read_bag(tmp_path / 'earlier').complete
    with Reader(tmp_path / 'earlier') as reader:
        assert sum(1 for _ in reader.messages()) == 101


def test_a_file_cut_anywhere_reads_up_to_its_last_whole_chunk(tmp_path):
    write_bag(tmp_path / 'one', count=50)
    path = tmp_path / 'one' / 'one_0.mcap'
    whole = path.read_bytes()
    counts = []
    for size in range(len(whole) - 1, 100, -97):
        path.write_bytes(whole[:size])
        bag = read_bag(path)
        assert bag.damage
        counts.append(sum(topic.count for topic in bag.topics.values()))
    assert counts == sorted(counts, reverse=True)
    assert set(counts) == {51, 0}
