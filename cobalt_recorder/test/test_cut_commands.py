"""`cobalt bag trim`, `merge` and `label`."""

import argparse
import json

import pytest
from rosbags.highlevel import AnyReader
from small_bag import LINK, START_NS, STEPS, VIDEO, write_bag

from cobalt_recorder import bag_command
from cobalt_recorder.verdict_file import read_verdict
from cobalt_recorder.verify import verify_bag


def run(*arguments):
    parser = argparse.ArgumentParser()
    bag_command.add_parser(parser.add_subparsers())
    parsed = parser.parse_args(['bag', *map(str, arguments)])
    return parsed.func(parsed)


@pytest.fixture
def bag(tmp_path):
    return write_bag(tmp_path / 'lift' / 'one').parent


def stamps(folder, topic):
    with AnyReader([folder]) as reader:
        wanted = [connection for connection in reader.connections if connection.topic == topic]
        return [stamp for _, stamp, _ in reader.messages(wanted)]


def test_trim_keeps_the_stretch_and_the_video_since_its_key_frame(bag, tmp_path, capsys):
    output = tmp_path / 'part'
    assert run('trim', bag, '-o', output, '--start', 1.0, '--end', 2.0, '--json') == 0
    told = json.loads(capsys.readouterr().out)
    rows = stamps(output, STEPS)
    assert told['messages'][STEPS] == len(rows) == 20
    assert rows[0] >= START_NS + 1_000_000_000 and rows[-1] <= START_NS + 2_000_000_000
    assert stamps(output, VIDEO)[0] == START_NS, 'the only key frame is the first'
    trimmed, checks = verify_bag(output)
    assert [problem for check in checks for problem in check.problems] == []
    assert trimmed.fact('cobalt.trim', 'source') == 'one'
    assert trimmed.episode_id == 'one'


def test_trim_copies_what_it_cannot_decode(tmp_path):
    odd = [(STEPS, 'cobalt_interfaces/msg/ControlStep', b'\0\1\0\0' + b'\xff' * 40, START_NS + 900_000_000)]
    bag = write_bag(tmp_path / 'one', extra=odd).parent
    assert run('trim', bag, '-o', tmp_path / 'part', '--end', 1.0) == 0
    assert len(stamps(tmp_path / 'part', STEPS)) == 21


@pytest.mark.parametrize(
    ('arguments', 'words'),
    [
        (('--start', 9), 'from 9 to inf s is no part of the bag, which has 3.05 s'),
        (('--start', 2, '--end', 1), 'is no part of the bag'),
    ],
)
def test_trim_refuses_what_is_no_stretch(bag, tmp_path, capsys, arguments, words):
    assert run('trim', bag, '-o', tmp_path / 'part', *arguments) == 1
    assert words in capsys.readouterr().err
    assert not (tmp_path / 'part').exists()


def test_neither_overwrites(bag, capsys):
    before = (bag / 'one_0.mcap').read_bytes()
    assert run('trim', bag, '-o', bag) == 1
    assert run('merge', bag, '-o', bag) == 1
    assert 'cannot be made' in (told := capsys.readouterr().err) and 'is there already' in told
    assert (bag / 'one_0.mcap').read_bytes() == before


def test_a_damaged_bag_is_to_be_recovered_first(bag, tmp_path, capsys):
    (bag / 'one_0.mcap').open('r+b').truncate(12_000)
    assert run('trim', bag, '-o', tmp_path / 'part') == 1
    assert 'cobalt bag recover' in capsys.readouterr().err


def test_merge_orders_the_messages_of_both(bag, tmp_path, capsys):
    other = write_bag(tmp_path / 'lift' / 'two', count=31).parent
    assert run('merge', bag, other, '-o', tmp_path / 'both') == 0
    assert f'{61 * 2 + 31 * 2 + 2} messages of 3 topics' in capsys.readouterr().out
    rows = stamps(tmp_path / 'both', STEPS)
    assert len(rows) == 92 and rows == sorted(rows)
    assert len(stamps(tmp_path / 'both', LINK)) == 2
    assert [problem for check in verify_bag(tmp_path / 'both')[1] for problem in check.problems] == []


def test_a_label_overrules_and_is_judged_at_once(bag, capsys):
    assert run('label', bag, '--outcome', 'DISCARDED', '--note', 'bumped the table') == 0
    assert 'DISCARDED, REJECT: the episode was discarded' in capsys.readouterr().out
    verdict = read_verdict(bag)
    assert (verdict.outcome, verdict.outcome_source) == ('DISCARDED', 'REVIEWER')
    assert run('label', bag.parents[1], '--outcome', 'SUCCESS') == 1
    assert 'not one bag' in capsys.readouterr().err
