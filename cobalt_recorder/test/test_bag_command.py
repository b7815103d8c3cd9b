import argparse
import json
import subprocess
import sys

import pytest
from rclpy.serialization import serialize_message
from std_msgs.msg import String

from cobalt_recorder import bag_command
from cobalt_recorder.bag_writer import BagWriter
from cobalt_recorder.quality_rules import Verdict
from cobalt_recorder.verdict_file import EpisodeVerdict, Label

EPISODE_ID = '01M8P1HDMH8KPVADP8EKHK24HZ'


def run(*arguments):
    parser = argparse.ArgumentParser()
    bag_command.add_parser(parser.add_subparsers())
    parsed = parser.parse_args(['bag', 'info', *map(str, arguments)])
    return parsed.func(parsed)


@pytest.fixture
def bag(tmp_path):
    folder = tmp_path / EPISODE_ID
    writer = BagWriter(folder, {})
    writer.add_facts('cobalt.episode', {'episode_id': EPISODE_ID, 'workcell_id': 'env_0', 'task': 'lift'})
    writer.add_topic('/env_0/control_step', 'std_msgs/msg/String')
    for index in range(21):
        data = bytes(serialize_message(String(data='x')))
        writer.write('/env_0/control_step', data, received_ns=10**18 + index * 50_000_000, published_ns=10**18)
    counts = json.dumps({'/env_0/control_step': {'expected': 24, 'received': 21, 'dropped': 3}})
    writer.close('cobalt.end', {'outcome': 'SUCCESS', 'outcome_source': 'PREDICATE', 'counts': counts}, {})
    EpisodeVerdict(
        workcell_id='env_0',
        episode_id=EPISODE_ID,
        task='lift',
        outcome='SUCCESS',
        outcome_source='PREDICATE',
        bag_uri=str(folder),
        rules_hash='abc',
        judged=Verdict('REJECT', ('3 messages were lost',), 'Use a faster disk.', ()),
    ).write(folder)
    return folder


def test_text_shows_facts_verdict_and_topics(bag, capsys):
    assert run(bag) == 0
    shown = capsys.readouterr().out
    for words in (EPISODE_ID, 'lift', 'SUCCESS (by predicate)', 'REJECT', '3 messages were lost', 'Use a faster disk.'):
        assert words in shown
    (row,) = (line.split() for line in shown.splitlines() if line.startswith('/env_0/control_step'))
    assert row == ['/env_0/control_step', 'std_msgs/msg/String', '21', '20.00', '3']


def test_json_is_one_object(bag, capsys):
    assert run('--json', bag / f'{EPISODE_ID}_0.mcap') == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown['episode_id'], shown['outcome'], shown['complete']) == (EPISODE_ID, 'SUCCESS', True)
    assert shown['verdict']['verdict'] == 'REJECT'
    (topic,) = shown['topics']
    assert (topic['count'], topic['expected'], topic['dropped'], topic['rate_hz']) == (21, 24, 3, 20.0)


def test_a_label_overrules(bag, capsys):
    Label(outcome='DISCARDED', outcome_source='OPERATOR', note='bumped the table', labelled_ns=1).write(bag)
    assert run(bag) == 0
    assert 'DISCARDED (by operator): bumped the table' in capsys.readouterr().out


def test_a_bag_that_nobody_judged_is_judged_now(bag, capsys):
    (bag / 'verdict.json').unlink()
    assert run('--json', bag) == 0
    verdict = json.loads(capsys.readouterr().out)['verdict']
    assert (verdict['verdict'], verdict['reasons'][0]) == ('REJECT', 'it holds no row of the episode')
    assert not (bag / 'verdict.json').exists()


def test_a_broken_file_shows_what_it_holds(bag, capsys):
    path = bag / f'{EPISODE_ID}_0.mcap'
    path.write_bytes(path.read_bytes()[:-150])
    assert run(bag) == 1
    shown = capsys.readouterr().out
    assert 'DAMAGED' in shown
    assert '/env_0/control_step' in shown


@pytest.mark.parametrize('share', [0.1, 0.25, 0.5, 0.75, 0.9])
def test_the_verdict_shown_is_of_the_file_as_it_is(bag, capsys, share):
    path = bag / f'{EPISODE_ID}_0.mcap'
    content = bytearray(path.read_bytes())
    content[int(len(content) * share)] ^= 0xFF
    path.write_bytes(content)
    assert run('--json', bag) == 1
    shown = json.loads(capsys.readouterr().out)
    assert shown['damage']
    assert shown['verdict']['verdict'] == 'REJECT'
    assert any('the file is damaged' in reason for reason in shown['verdict']['reasons'])
    assert '3 messages were lost' not in shown['verdict']['reasons']
    assert json.loads((bag / 'verdict.json').read_text())['reasons'] == ['3 messages were lost']


def test_a_verdict_of_another_episode_is_not_shown(bag, capsys):
    path = bag / 'verdict.json'
    path.write_text(path.read_text().replace(EPISODE_ID, '01M8P1HDMH8KPVADP8EKHK2000'))
    assert run(bag) == 0
    assert '3 messages were lost' not in capsys.readouterr().out


def test_control_characters_of_a_bag_do_not_reach_the_terminal(tmp_path, capsys):
    writer = BagWriter(tmp_path / 'one', {})
    writer.add_facts('cobalt.episode', {'episode_id': 'one', 'instruction': 'a\x1b[31mb\nverdict ACCEPT'})
    writer.close('cobalt.end', {}, {})
    run(tmp_path / 'one')
    assert 'a [31mb verdict ACCEPT' in capsys.readouterr().out


@pytest.mark.parametrize(('name', 'text'), [('metadata.yaml', '[' * 5000), ('verdict.json', '[' * 100_000)])
def test_deeply_nested_files_are_no_traceback(bag, capsys, name, text):
    (bag / name).write_text(text)
    assert run(bag) == int(name == 'metadata.yaml')


@pytest.mark.parametrize(
    ('make', 'words'),
    [
        (lambda path: path / 'none', 'does not exist'),
        (lambda path: path, '1 bags lie in folders below it'),
        (lambda path: (path / 'note.txt').write_text('x') and path / 'note.txt', 'is not a bag'),
        (lambda path: (path / 'noise.mcap').write_bytes(b'noise' * 9) and path / 'noise.mcap', 'is not an MCAP file'),
    ],
)
def test_no_bag_is_one_sentence_and_exit_code_1(bag, capsys, make, words):
    assert run(make(bag.parent)) == 1
    caught = capsys.readouterr()
    assert caught.out == ''
    assert words in caught.err
    assert len(caught.err.strip().splitlines()) == 1


def test_works_without_rclpy(bag):
    code = (
        'import sys; sys.modules["rclpy"] = None\n'
        'from pathlib import Path\n'
        'from cobalt_recorder import bag_command\n'
        'from argparse import Namespace\n'
        f'sys.exit(bag_command.show_info(Namespace(path=Path({str(bag)!r}), json=False)))'
    )
    assert subprocess.run([sys.executable, '-c', code], stdout=subprocess.DEVNULL, timeout=30).returncode == 0
