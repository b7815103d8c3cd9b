"""Bags that were cut short or altered, and what becomes of them."""

import argparse
import hashlib
import json
import random

import pytest
from rclpy.serialization import deserialize_message
from rosbags.highlevel import AnyReader
from small_bag import STEPS, write_bag

from cobalt_interfaces.msg import ControlStep
from cobalt_recorder import bag_command
from cobalt_recorder.bag_reader import read_bag
from cobalt_recorder.judge import judge_bag
from cobalt_recorder.reserved_file import ReservedFile
from cobalt_recorder.rules_file import load_rules, shipped_rules
from cobalt_recorder.verify import verify_bag

SEED = 6
DATA_END = 24_100
"""About where the data of the fixture's file ends, and its index begins."""


def run(*arguments):
    parser = argparse.ArgumentParser()
    bag_command.add_parser(parser.add_subparsers())
    parsed = parser.parse_args(['bag', 'recover', *map(str, arguments)])
    return parsed.func(parsed)


def info(folder):
    return bag_command.show_info(argparse.Namespace(path=folder, json=False))


@pytest.fixture
def file(tmp_path, monkeypatch):
    """A bag of several chunks."""
    monkeypatch.setattr('cobalt_recorder.mcap_file.CHUNK_BYTES', 8192)
    return write_bag(tmp_path / 'lift' / 'one', count=61)


def rows(folder):
    """Returns the numbers of the rows, read by others."""
    with AnyReader([folder]) as reader:
        wanted = [connection for connection in reader.connections if connection.topic == STEPS]
        return [deserialize_message(bytes(data), ControlStep).step for _, _, data in reader.messages(wanted)]


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize('share', [0.42, 0.6, 0.8])
def test_a_file_cut_short_becomes_a_whole_bag_of_what_is_there(file, capsys, share):
    content = file.read_bytes()
    file.write_bytes(content[: int(DATA_END * share)])
    found = sha256(file)
    there = read_bag(file).topics[STEPS].count
    assert run('--json', file.parent) == 0
    (told,) = json.loads(capsys.readouterr().out)['recovered']
    assert sha256(file.with_name('one_0.mcap.damaged')) == found
    assert rows(file.parent) == list(range(100, 100 + there))
    bag, checks = verify_bag(file.parent)
    assert {check.name for check in checks if check.problems} <= {'rows', 'video'}
    assert bag.fact('cobalt.recovery', 'source_sha256') == found
    assert told['messages'][STEPS] == there
    assert told['cut_off'] and any('not closed' in text for text in told['lost'])
    assert info(file.parent) == 0
    shown = capsys.readouterr().out
    assert f'recovered from one_0.mcap.damaged, SHA-256 {found}' in shown and 'lost: the file was not closed' in shown
    verdict = judge_bag(file.parent, load_rules(shipped_rules()))[1]
    assert verdict.judged.verdict == 'REJECT'
    assert verdict.faults == ('the recording broke off: the recorder ended in the midst of it',)
    assert not list(file.parent.glob('.recovering*'))


def test_a_damaged_chunk_is_left_out_and_what_it_held_is_told(file, capsys):
    content = bytearray(file.read_bytes())
    for place in range(11_000, 11_040):
        content[place] ^= 0x55
    file.write_bytes(content)
    assert read_bag(file).damage
    assert run('--json', file.parent) == 0
    (told,) = json.loads(capsys.readouterr().out)['recovered']
    assert not told['cut_off']
    (damage,) = told['damage']
    kept = rows(file.parent)
    assert 61 - damage['messages'][STEPS] == len(kept) == told['messages'][STEPS] < 61
    assert kept[0] == 100 and kept[-1] == 160
    assert read_bag(file.parent).topics[STEPS].dropped == 61 - len(kept)


def test_without_the_chunk_that_describes_the_topics_metadata_tells_them(file, capsys):
    content = bytearray(file.read_bytes()[: int(DATA_END * 0.7)])
    content[3000:3040] = bytes(40)
    file.write_bytes(content)
    assert run(file.parent) == 0
    kept = rows(file.parent)
    assert kept[-1] > 130 and kept == list(range(kept[0], kept[-1] + 1))
    assert [check.name for check in verify_bag(file.parent)[1] if check.problems] in (['video'], ['rows', 'video'])


def test_an_episode_that_ended_before_its_first_chunk_is_a_bag_without_messages(file):
    file.open('r+b').truncate(2000)
    assert run(file.parent) == 0
    assert not read_bag(file.parent).damage
    assert judge_bag(file.parent, load_rules(shipped_rules()))[1].judged.verdict == 'REJECT'


def test_a_hole_of_zeros_costs_what_it_covers_alone(file, capsys):
    content = bytearray(file.read_bytes())
    content[10_500:14_000] = bytes(3500)
    file.write_bytes(content)
    assert run(file.parent) == 0
    assert 'are no records' in capsys.readouterr().out
    kept = rows(file.parent)
    assert kept[0] == 100 and kept[-1] == 160 and 50 > len(kept) >= 30


def test_whatever_is_altered_what_is_kept_is_as_it_was(file, tmp_path):
    content = file.read_bytes()
    with AnyReader([file.parent]) as reader:
        written = {(connection.topic, stamp, data) for connection, stamp, data in reader.messages()}
    chance = random.Random(SEED)
    for index in range(10):
        altered = bytearray(content[: chance.randint(len(content) // 3, len(content))])
        for _ in range(chance.randint(1, 4)):
            altered[chance.randrange(len(altered) // 4, len(altered))] = chance.randrange(256)
        file.write_bytes(altered)
        output = tmp_path / f'out{index}'
        assert run(file, '-o', output) == 0, index
        assert file.read_bytes() == altered
        with AnyReader([output]) as reader:
            kept = {(connection.topic, stamp, data) for connection, stamp, data in reader.messages()}
        assert kept and kept <= written, index


def test_whole_bags_of_a_data_set_are_left_as_they_are(file, capsys):
    before = sha256(file)
    write_bag(file.parents[1] / 'two').open('r+b').truncate(9000)
    assert run(file.parents[2]) == 0
    assert '1 recovered, 1 whole already, 0 failed' in capsys.readouterr().out
    assert sha256(file) == before and not list(file.parent.glob('*.damaged*'))
    assert run(file.parents[2]) == 0
    assert '0 recovered, 2 whole already' in capsys.readouterr().out


def test_a_lost_metadata_file_is_made_anew(file, capsys):
    (file.parent / 'metadata.yaml').unlink()
    assert run(file.parent) == 0
    assert 'nothing but the index' in capsys.readouterr().out
    assert len(rows(file.parent)) == 61


@pytest.mark.parametrize(
    ('make', 'words'),
    [
        (lambda file: file.write_bytes(b''), 'is empty'),
        (lambda file: file.write_bytes(b'noise' * 999), 'holds nothing of an MCAP file'),
        (lambda file: file.open('r+b').truncate(60), 'holds nothing that is intact'),
    ],
)
def test_what_cannot_be_recovered_is_left_and_said(file, capsys, make, words):
    make(file)
    before = file.read_bytes()
    assert run(file.parent) == 1
    assert words in capsys.readouterr().out
    assert file.read_bytes() == before and sorted(path.name for path in file.parent.iterdir()) == [
        'metadata.yaml',
        'one_0.mcap',
    ]


def test_a_bag_that_is_being_recorded_is_left_alone(tmp_path, capsys):
    (tmp_path / 'one').mkdir()
    with ReservedFile(tmp_path / 'one' / 'one_0.mcap', reserve_bytes=1000):
        assert run(tmp_path) == 1
    assert 'is being recorded' in capsys.readouterr().out
