"""The index of a data set follows what lies beside the bags."""

import argparse
import json
import shutil
import sqlite3

import pytest
from small_bag import write_bag

from cobalt_recorder import bag_command
from cobalt_recorder.dataset_index import INDEX_FILE, DatasetIndex
from cobalt_recorder.judge import judge_bag
from cobalt_recorder.rules_file import load_rules, shipped_rules
from cobalt_recorder.verdict_file import Label


def run(*arguments):
    parser = argparse.ArgumentParser()
    bag_command.add_parser(parser.add_subparsers())
    parsed = parser.parse_args(['bag', 'index', *map(str, arguments)])
    return parsed.func(parsed)


@pytest.fixture
def dataset(tmp_path):
    for name, outcome in (('one', 'SUCCESS'), ('two', 'FAILURE')):
        folder = write_bag(tmp_path / 'lift' / name, outcome=outcome).parent
        judge_bag(folder, load_rules(shipped_rules()))[1].write(folder)
    return tmp_path


def test_episodes_metrics_and_reasons(dataset, capsys):
    assert run(dataset, '--json') == 0
    told = json.loads(capsys.readouterr().out)
    assert (told['episodes'], told['read'], told['verdicts']) == (2, 2, {'ACCEPT': 1, 'REJECT': 1})
    database = sqlite3.connect(dataset / INDEX_FILE)
    assert database.execute('SELECT path, outcome, verdict FROM episodes ORDER BY path').fetchall() == [
        ('lift/one', 'SUCCESS', 'ACCEPT'),
        ('lift/two', 'FAILURE', 'REJECT'),
    ]
    (length,) = database.execute("SELECT value FROM metrics WHERE name = 'robot_path_length'").fetchone()
    assert length == pytest.approx(0.3, abs=0.001)
    assert database.execute('SELECT path, text FROM reasons').fetchall() == [('lift/two', 'the task was not done')]


def test_only_what_has_changed_is_read_again(dataset):
    assert DatasetIndex(dataset).read == 2
    assert DatasetIndex(dataset).read == 0
    Label(outcome='DISCARDED', outcome_source='REVIEWER', note='', labelled_ns=1).write(dataset / 'lift' / 'one')
    index = DatasetIndex(dataset)
    assert index.read == 1
    assert [episode.outcome for episode in index.episodes()] == ['DISCARDED', 'FAILURE']
    shutil.rmtree(dataset / 'lift' / 'two')
    assert [episode.path for episode in DatasetIndex(dataset).episodes()] == ['lift/one']
    assert DatasetIndex(dataset, rebuild=True).read == 1


def test_a_file_of_others_is_left_alone(dataset, capsys):
    (dataset / INDEX_FILE).write_text('mine' * 999)
    assert run(dataset) == 1
    assert 'is no index of a data set' in capsys.readouterr().err
    assert (dataset / INDEX_FILE).read_text() == 'mine' * 999
