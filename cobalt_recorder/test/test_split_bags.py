"""Bags that grew long and go on in further files: written, read, cut, joined, and made whole like any other."""

import argparse
import json

import pytest
from mcap.reader import make_reader
from rclpy.serialization import deserialize_message
from rosbags.highlevel import AnyReader
from rosbags.rosbag2 import Reader
from small_bag import STEPS, VIDEO, write_bag

from cobalt_interfaces.msg import ControlStep
from cobalt_recorder import bag_command, bag_writer
from cobalt_recorder.bag_reader import read_bag
from cobalt_recorder.judge import judge_bag
from cobalt_recorder.merge import merge
from cobalt_recorder.rosbag2_metadata import FILE_NAME, read_metadata
from cobalt_recorder.rules_file import load_rules, shipped_rules
from cobalt_recorder.trim import trim
from cobalt_recorder.verify import verify_bag

COUNT = 600


def run(*arguments):
    parser = argparse.ArgumentParser()
    bag_command.add_parser(parser.add_subparsers())
    parsed = parser.parse_args(['bag', *map(str, arguments)])
    return parsed.func(parsed)


def rows(folder):
    """Returns the numbers of the rows, read by others."""
    with AnyReader([folder]) as reader:
        wanted = [connection for connection in reader.connections if connection.topic == STEPS]
        return [deserialize_message(bytes(data), ControlStep).step for _, _, data in reader.messages(wanted)]


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr('cobalt_recorder.mcap_file.CHUNK_BYTES', 8192)


@pytest.fixture
def folder(tmp_path):
    """A bag of eleven files or more: the tenth is read after the second."""
    write_bag(tmp_path / 'lift' / 'one', count=COUNT, split_bytes=14_000)
    made = tmp_path / 'lift' / 'one'
    assert len(list(made.glob('*.mcap'))) > 10
    return made


def test_others_read_all_of_it_and_each_file_by_itself(folder):
    assert rows(folder) == list(range(100, 100 + COUNT))
    told = read_metadata(folder)
    held = []
    for entry in told['files']:
        with (folder / entry['path']).open('rb') as stream:
            reader = make_reader(stream)
            messages = list(reader.iter_messages())
            assert len(messages) == entry['message_count'] > 0
            assert {STEPS, VIDEO} <= {channel.topic for channel in reader.get_summary().channels.values()}
        held += messages
        times = [message.log_time for _, _, message in messages]
        assert entry['starting_time']['nanoseconds_since_epoch'] == min(times)
        assert entry['duration']['nanoseconds'] == max(times) - min(times)
    with Reader(folder) as reader:
        assert reader.message_count == told['message_count'] == len(held)


def test_it_is_judged_as_if_it_were_one_file(folder, tmp_path):
    write_bag(tmp_path / 'whole' / 'one', count=COUNT)
    bag, checks = verify_bag(folder)
    assert not [problem for check in checks for problem in check.problems]
    assert bag.complete and bag.size_bytes == sum(file.stat().st_size for file in folder.glob('*.mcap'))
    rules = load_rules(shipped_rules())
    (_, split), (_, whole) = (judge_bag(one, rules) for one in (folder, tmp_path / 'whole' / 'one'))
    assert split.judged == whole.judged


def test_it_is_cut_and_joined(folder, tmp_path):
    trim(folder, tmp_path / 'cut', 10.0, 20.0)
    assert rows(tmp_path / 'cut') == list(range(300, 500))
    write_bag(tmp_path / 'other', count=20)
    counts = merge([folder, tmp_path / 'other'], tmp_path / 'both')
    assert counts[STEPS] == COUNT + 20


def test_a_power_failure_in_a_later_file_loses_no_earlier_one(folder, capsys):
    files = sorted(folder.glob('*.mcap'), key=lambda file: int(file.stem.rpartition('_')[2]))
    before = {file.name: file.read_bytes() for file in files}
    files[-1].write_bytes(before[files[-1].name][:9_000])
    (folder / FILE_NAME).unlink()
    assert read_bag(folder).damage.startswith(files[-1].name)
    there = read_bag(folder).topics[STEPS].count
    assert run('recover', '--json', folder) == 0
    (told,) = json.loads(capsys.readouterr().out)['recovered']
    assert rows(folder) == list(range(100, 100 + there))
    assert told['lost'] and all(text.startswith(f'{files[-1].name}: ') for text in told['lost'])
    assert [file.name for file in folder.glob('*.mcap')] == ['one_0.mcap']
    for file in files[:-1]:
        assert file.with_name(f'{file.name}.damaged').read_bytes() == before[file.name]
    assert run('recover', folder) == 0
    assert '0 recovered, 1 whole already' in capsys.readouterr().out


def test_a_file_of_it_that_is_missing_is_named(folder, capsys):
    (folder / 'one_3.mcap').unlink()
    assert run('info', folder) == 1
    assert 'one_3.mcap is missing' in capsys.readouterr().err
    assert run('recover', folder) == 0
    assert rows(folder) == sorted(rows(folder)) and 0 < len(rows(folder)) < COUNT


def test_where_there_is_no_room_for_another_file_it_stays_in_the_one_it_has(tmp_path, monkeypatch):
    made = bag_writer.McapFile

    def refuse(path):
        if not path.name.endswith('_0.mcap'):
            raise OSError(28, 'No space left on device', str(path))
        return made(path)

    monkeypatch.setattr(bag_writer, 'McapFile', refuse)
    file = write_bag(tmp_path / 'one', count=COUNT, split_bytes=14_000)
    assert rows(file.parent) == list(range(100, 100 + COUNT))
    assert [one.name for one in file.parent.glob('*.mcap')] == ['one_0.mcap']
