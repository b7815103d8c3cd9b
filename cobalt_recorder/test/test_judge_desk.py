"""Every bag gets a verdict, whatever it is."""

import json
import time

import pytest

from cobalt_recorder.bag_writer import BagWriter
from cobalt_recorder.judge_desk import JudgeDesk
from cobalt_recorder.rules_file import shipped_rules
from cobalt_recorder.verdict_file import Label, RecordedEpisode


def judged(folder, fault='', timeout_s=20.0):
    desk = JudgeDesk(shipped_rules())
    desk.submit(
        RecordedEpisode(
            folder=folder,
            workcell_id='cell_0',
            episode_id='one',
            task='lift',
            outcome='SUCCESS',
            outcome_source='OPERATOR',
            fault=fault,
        )
    )
    until = time.monotonic() + timeout_s
    done = []
    while not done and time.monotonic() < until:
        done = desk.poll()
        time.sleep(0.02)
    (verdict,) = done
    assert (verdict.workcell_id, verdict.episode_id, verdict.task) == ('cell_0', 'one', 'lift')
    return verdict.judged


def bag(folder, facts=None, end=None):
    writer = BagWriter(folder, {})
    for name, values in (facts or {}).items():
        writer.add_facts(name, values)
    writer.close('cobalt.end', {'outcome': 'SUCCESS', **(end or {})}, {})
    return folder / f'{folder.name}_0.mcap'


def test_a_bag_that_is_not_there(tmp_path):
    verdict = judged(tmp_path / 'one', fault='it was removed')
    assert verdict.verdict == 'REJECT'
    assert verdict.reasons[0] == 'the recording failed: it was removed'
    assert 'does not exist' in verdict.reasons[1]


@pytest.mark.parametrize('content', [b'', b'noise' * 100, bytes(5000)])
def test_a_file_that_is_no_bag(tmp_path, content):
    bag(tmp_path / 'one').write_bytes(content)
    verdict = judged(tmp_path / 'one')
    assert verdict.verdict == 'REJECT'
    assert 'is not an MCAP file' in verdict.reasons[0]
    assert json.loads((tmp_path / 'one' / 'verdict.json').read_text())['verdict'] == 'REJECT'


@pytest.mark.parametrize(
    ('facts', 'end'),
    [
        ({'cobalt.workcell': {'cameras': '{'}}, {}),
        ({'cobalt.workcell': {'control_rate_hz': 'fast'}}, {}),
        ({}, {'first_step': 'first'}),
        ({'cobalt.workcell': {'capabilities': '[' * 5000}}, {}),
    ],
)
def test_facts_that_make_no_sense(tmp_path, facts, end):
    bag(tmp_path / 'one', facts, end)
    verdict = judged(tmp_path / 'one')
    assert verdict.verdict == 'REJECT'
    assert 'cannot be understood' in verdict.reasons[0]


@pytest.mark.parametrize('counts', ['{', '[]', '{"/a": 1}', '{"/a": {"expected": "x"}}'])
def test_counts_that_make_no_sense(tmp_path, counts):
    writer = BagWriter(tmp_path / 'one', {})
    writer.add_topic('/a', 'std_msgs/msg/String')
    writer.write('/a', bytes(8), received_ns=1, published_ns=1)
    writer.close('cobalt.end', {'outcome': 'SUCCESS', 'counts': counts}, {})
    assert judged(tmp_path / 'one').verdict == 'REJECT'


def test_no_label_hides_that_the_recording_broke_off(tmp_path):
    end = {'outcome': 'ABORTED', 'ended_by': 'recorder', 'end_reason': 'the disk is full'}
    bag(tmp_path / 'one', end=end)
    Label(outcome='SUCCESS', outcome_source='OPERATOR', note='fine', labelled_ns=1).write(tmp_path / 'one')
    verdict = judged(tmp_path / 'one', fault='the disk is full')
    assert verdict.verdict == 'REJECT'
    assert verdict.reasons[0] == 'the recording broke off: the disk is full'
    assert sum('the disk is full' in reason for reason in verdict.reasons) == 1


def test_what_there_is_no_time_for_is_unknown(tmp_path):
    bag(tmp_path / 'one')
    desk = JudgeDesk(shipped_rules())
    desk.submit(
        RecordedEpisode(
            folder=tmp_path / 'one',
            workcell_id='cell_0',
            episode_id='one',
            task='lift',
            outcome='SUCCESS',
            outcome_source='OPERATOR',
        )
    )
    (verdict,) = desk.finish(0.0)
    assert verdict.judged.verdict == 'UNKNOWN'
    assert '`cobalt bag info` judges it' in verdict.judged.reasons[0]
    assert not desk.busy
