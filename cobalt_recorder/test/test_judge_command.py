"""`cobalt bag judge` over a data set of small bags."""

import argparse
import json

import pytest

from cobalt_recorder import bag_command
from cobalt_recorder.bag_writer import BagWriter
from cobalt_recorder.metrics.catalogue import VERSION
from cobalt_recorder.quality_rules import JudgedMetric, Verdict
from cobalt_recorder.verdict_file import EpisodeVerdict, Label, read_verdict

RULES = """
outcomes: {SUCCESS: {verdict: ACCEPT}, DISCARDED: {verdict: REJECT, says: thrown away}}
metrics:
  duration: {accept: {upper: 20}, review: {upper: 40}, says: 'it took {value:.0f} s', tip: Be quick.}
z_scores:
  robot_jitter: {accept: {upper: 4}, review: {}, episodes: 5, says: 'shaky: {value:.1f}, else {median:.1f}'}
"""


def metric(name, value, part=''):
    nan = float('nan')
    return JudgedMetric(name=name, part=part, subject='ROBOT', value=value, unit='', lower=nan, upper=nan, passed=True)


def run(*arguments):
    parser = argparse.ArgumentParser()
    bag_command.add_parser(parser.add_subparsers())
    parsed = parser.parse_args(['bag', 'judge', *map(str, arguments)])
    return parsed.func(parsed)


@pytest.fixture
def data_set(tmp_path):
    """Eight episodes: the last but one is slow, the last one shaky."""
    for index in range(8):
        folder = tmp_path / 'data' / 'lift' / f'episode_{index}'
        writer = BagWriter(folder, {})
        writer.add_facts('cobalt.episode', {'episode_id': folder.name, 'workcell_id': 'env_0', 'task': 'lift'})
        writer.close('cobalt.end', {'outcome': 'SUCCESS'}, {})
        EpisodeVerdict(
            workcell_id='env_0',
            episode_id=folder.name,
            task='lift',
            outcome='SUCCESS',
            outcome_source='PREDICATE',
            bag_uri=str(folder),
            rules_hash='older',
            metrics_version=VERSION,
            judged=Verdict(
                'ACCEPT',
                (),
                '',
                (
                    metric('duration', 30.0 if index == 6 else 10.0),
                    metric('robot_jitter', 5.0 if index == 7 else 1.0 + 0.01 * index, 'arm'),
                ),
            ),
        ).write(folder)
    (tmp_path / 'rules.yaml').write_text(RULES)
    return tmp_path / 'data'


def contents(data_set):
    return {path: path.read_bytes() for path in data_set.rglob('*') if path.is_file()}


def test_other_rules_change_verdicts_and_touch_nothing(data_set, capsys):
    before = contents(data_set)
    assert run(data_set, '--rules', data_set.parent / 'rules.yaml') == 0
    shown = capsys.readouterr().out
    assert f'ACCEPT -> REVIEW  {data_set}/lift/episode_6' in shown
    assert '- it took 30 s' in shown
    assert 'tip: Be quick.' in shown
    assert '- shaky: 5.0, else 1.0' in shown
    assert '6 ACCEPT, 2 REVIEW, 0 REJECT; 2 changed' in shown
    assert 'Nothing was written' in shown
    assert contents(data_set) == before


def test_json_is_one_object(data_set, capsys):
    assert run(data_set, '--rules', data_set.parent / 'rules.yaml', '--json') == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown['counts'] == {'ACCEPT': 6, 'REVIEW': 2, 'REJECT': 0}
    assert (shown['changed'], shown['written'], shown['failed']) == (2, False, [])
    assert shown['episodes'][6]['reasons'] == ['it took 30 s']


def test_write_replaces_verdicts_and_nothing_else(data_set, capsys):
    before = contents(data_set)
    assert run(data_set, '--rules', data_set.parent / 'rules.yaml', '--write') == 0
    after = contents(data_set)
    assert {path.name for path in before if after[path] != before[path]} == {'verdict.json'}
    assert read_verdict(data_set / 'lift' / 'episode_6').judged.tip == 'Be quick.'
    assert run(data_set, '--rules', data_set.parent / 'rules.yaml') == 0
    assert '0 changed' in capsys.readouterr().out


def test_a_label_that_came_later_counts(data_set, capsys):
    folder = data_set / 'lift' / 'episode_0'
    Label(outcome='DISCARDED', outcome_source='REVIEWER', note='bumped', labelled_ns=1).write(folder)
    assert run(folder, '--rules', data_set.parent / 'rules.yaml') == 0
    assert 'thrown away: bumped' in capsys.readouterr().out


def test_figures_of_other_software_are_computed_again(data_set, capsys):
    path = data_set / 'lift' / 'episode_1' / 'verdict.json'
    path.write_text(path.read_text().replace(f'"metrics_version": {VERSION}', '"metrics_version": 0'))
    assert run(path.parent, '--json') == 0
    (episode,) = json.loads(capsys.readouterr().out)['episodes']
    assert 'it holds no row of the episode' in episode['reasons']


def test_a_bag_that_cannot_be_judged_is_named_and_the_rest_is_judged(data_set, capsys):
    folder = data_set / 'lift' / 'episode_2'
    (folder / 'verdict.json').unlink()
    (folder / 'episode_2_0.mcap').write_bytes(b'noise')
    assert run(data_set, '--rules', data_set.parent / 'rules.yaml') == 1
    shown = capsys.readouterr().out
    assert f'NOT JUDGED  {folder}: ' in shown
    assert '7 episodes by rules' in shown


def test_bad_rules_are_one_sentence(data_set, capsys):
    (data_set.parent / 'rules.yaml').write_text('outcomes: {}\nmetrics: {speed: {}}\n')
    assert run(data_set, '--rules', data_set.parent / 'rules.yaml') == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "'speed' is no metric" in line
    assert 'robot_mean_speed' in line


@pytest.mark.parametrize('name', ['nothing', 'empty'])
def test_no_data_set(tmp_path, capsys, name):
    (tmp_path / 'empty').mkdir()
    assert run(tmp_path / name) == 1
    assert 'holds no bag' in capsys.readouterr().err
