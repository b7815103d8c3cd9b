"""What is written beside a bag is read again; what others wrote there is read only if it makes sense."""

import json
import math

import pytest

from cobalt_recorder.quality_rules import JudgedMetric, Verdict
from cobalt_recorder.verdict_file import EpisodeVerdict, read_verdict

RATE = JudgedMetric(
    name='rate', subject='DATA', value=19.9, unit='Hz', lower=19.6, upper=math.nan, passed=True, reason=''
)
VERDICT = EpisodeVerdict(
    workcell_id='env_0',
    episode_id='one',
    task='lift',
    outcome='SUCCESS',
    outcome_source='PREDICATE',
    bag_uri='/data/one',
    rules_hash='abc',
    metrics_version=1,
    faults=('it is damaged',),
    note='the goal is reached',
    judged=Verdict('REJECT', ('it is damaged',), 'Mend it.', (RATE,)),
)


def test_what_was_written_is_read(tmp_path):
    VERDICT.write(tmp_path)
    read = read_verdict(tmp_path)
    assert math.isnan(read.judged.metrics[0].upper)
    assert repr(read) == repr(VERDICT)


def test_verdicts_of_older_software_are_read(tmp_path):
    content = VERDICT.as_json()
    for name in ('metrics_version', 'faults', 'note'):
        del content[name]
    for name in ('part', 'reason'):
        del content['metrics'][0][name]
    (tmp_path / 'verdict.json').write_text(json.dumps(content))
    read = read_verdict(tmp_path)
    assert (read.metrics_version, read.faults, read.judged.metrics[0].part) == (0, (), '')


@pytest.mark.parametrize(
    'changes',
    [
        {'task': None},
        {'task': 3},
        {'verdict': 'FINE'},
        {'reasons': [3]},
        {'reasons': 3},
        {'faults': 3},
        {'metrics': [3]},
        {'metrics': [{'name': 'rate'}]},
        {'metrics': None},
        {'more': 'than it knows'},
    ],
)
def test_what_makes_no_sense_is_no_verdict(tmp_path, changes):
    (tmp_path / 'verdict.json').write_text(json.dumps(VERDICT.as_json() | changes))
    assert read_verdict(tmp_path) is None


def test_nothing_there(tmp_path):
    assert read_verdict(tmp_path) is None
