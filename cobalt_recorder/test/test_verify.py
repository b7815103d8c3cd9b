"""`cobalt bag verify` finds each kind of fault, and nothing in a whole bag."""

import argparse
import json

import pytest
from small_bag import START_NS, STEPS, VIDEO, write_bag

from cobalt_recorder import bag_command
from cobalt_recorder.verify import verify_bag


def run(*arguments):
    parser = argparse.ArgumentParser()
    bag_command.add_parser(parser.add_subparsers())
    parsed = parser.parse_args(['bag', 'verify', *map(str, arguments)])
    return parsed.func(parsed)


def problems(folder):
    return {check.name: check.problems for check in verify_bag(folder)[1] if check.problems}


def test_a_whole_bag_has_no_problem(tmp_path):
    write_bag(tmp_path / 'one')
    _, checks = verify_bag(tmp_path / 'one')
    assert [check.name for check in checks if check.problems] == []
    assert len(checks) == 9


@pytest.mark.parametrize(
    ('changes', 'name', 'words'),
    [
        ({'skip_rows': (5, 6)}, 'rows', '2 ticks have none'),
        ({'skip_rows': (60,)}, 'rows', 'the last one is not the end of the episode'),
        ({'skip_frames': (30,)}, 'video', '1 pictures that rows refer to are missing from front'),
        ({'skip_frames': (0,)}, 'video', 'pictures of front do not decode'),
        ({'expected': 64}, 'counts', f'3 of {STEPS} are missing'),
        (
            {'extra': [('/text', 'std_msgs/msg/String', b'\x00\x01\x00\x00', START_NS)]},
            'messages',
            '1 of',
        ),
        ({'extra': [(VIDEO, 'foxglove_msgs/msg/CompressedVideo', b'', START_NS)]}, 'log times', 'goes back 1 times'),
    ],
)
def test_each_fault_is_found_and_named(tmp_path, changes, name, words):
    write_bag(tmp_path / 'one', **changes)
    found = problems(tmp_path / 'one')
    assert any(words in problem for problem in found[name]), found


def test_a_bag_that_was_recorded_slowly_is_whole_and_says_so(tmp_path, capsys):
    write_bag(tmp_path / 'one', period_ns=80_000_000)
    assert problems(tmp_path / 'one') == {}
    assert run(tmp_path) == 0
    shown = capsys.readouterr().out
    assert shown.startswith('ok ')
    assert 'note: rates: front sent 12.50 of 20 pictures a second' in shown
    assert run('--json', tmp_path) == 0
    (bag,) = json.loads(capsys.readouterr().out)['bags']
    assert bag['ok'] and bag['notes'] == {'rates': ['front sent 12.50 of 20 pictures a second']}


def test_a_file_that_was_cut_or_changed(tmp_path):
    file = write_bag(tmp_path / 'one')
    whole = file.read_bytes()
    file.write_bytes(whole[:-200])
    assert 'file' in problems(tmp_path / 'one')
    changed = bytearray(whole)
    changed[len(whole) // 2] ^= 0xFF
    file.write_bytes(changed)
    assert 'breaks off' in problems(tmp_path / 'one')['file'][0]


def test_metadata_that_tells_of_something_else(tmp_path):
    write_bag(tmp_path / 'one')
    path = tmp_path / 'one' / 'metadata.yaml'
    text = path.read_text()
    path.write_text(text.replace('message_count: 61', 'message_count: 60'))
    assert f'metadata.yaml tells of 60 messages of {STEPS}, the file holds 61' in problems(tmp_path / 'one')['metadata']
    path.unlink()
    assert problems(tmp_path / 'one')['metadata'] == ('metadata.yaml is missing',)


def test_a_data_set_and_its_exit_codes(tmp_path, capsys):
    write_bag(tmp_path / 'lift' / 'one')
    assert run(tmp_path) == 0
    assert '1 bags checked' in capsys.readouterr().out
    write_bag(tmp_path / 'lift' / 'two', skip_rows=(5,))
    (tmp_path / 'lift' / 'three').mkdir()
    (tmp_path / 'lift' / 'three' / 'three_0.mcap').write_bytes(b'noise')
    assert run('--json', tmp_path) == 1
    shown = json.loads(capsys.readouterr().out)
    assert [bag['ok'] for bag in shown['bags']] == [True, False, False]
    assert not shown['ok']
    assert run(tmp_path) == 1
    shown = capsys.readouterr().out
    assert 'rows: 1 ticks have none' in shown
    assert 'is not an MCAP file' in shown


def test_nothing_to_verify(tmp_path, capsys):
    assert run(tmp_path / 'none') == 1
    assert 'holds no bag' in capsys.readouterr().err
