"""`cobalt dataset`: what it holds, which episodes fit, splits, card, and what prune removes."""

import argparse
import json
import shutil
from pathlib import Path

import pytest
from small_bag import write_bag

from cobalt_recorder import dataset_command
from cobalt_recorder.bag_reader import read_bag
from cobalt_recorder.bag_writer import BagWriter
from cobalt_recorder.judge import judge_bag
from cobalt_recorder.rosbag2_metadata import read_metadata, write_atomically
from cobalt_recorder.rules_file import load_rules, shipped_rules

DAY_NS = 86_400 * 10**9


def run(*arguments):
    parser = argparse.ArgumentParser()
    dataset_command.add_parser(parser.add_subparsers())
    parsed = parser.parse_args(['dataset', *map(str, arguments)])
    return parsed.func(parsed)


def told(capsys):
    return json.loads(capsys.readouterr().out)


@pytest.fixture(scope='module')
def made(tmp_path_factory):
    """Ten episodes by two operators on two days; the fifth of each failed."""
    import yaml

    folder = tmp_path_factory.mktemp('made')
    for number in range(10):
        bag = write_bag(folder / 'lift' / f'{number:03d}', outcome='FAILURE' if number % 5 == 4 else 'SUCCESS').parent
        judge_bag(bag, load_rules(shipped_rules()))[1].write(bag)
        information = dict(read_metadata(bag))
        information['starting_time']['nanoseconds_since_epoch'] += number // 5 * DAY_NS
        operator = 'Ada' if number % 2 else 'Grace | Hopper'
        information['custom_data'] = {
            'episode_id': bag.name,
            'task': 'lift',
            'operator_id': operator,
            'seed': str(number // 2),
            'instruction': 'Lift it.',
        }
        write_atomically(bag / 'metadata.yaml', yaml.safe_dump({'rosbag2_bagfile_information': information}))
    return folder


@pytest.fixture
def dataset(made, tmp_path):
    return Path(shutil.copytree(made, tmp_path / 'data'))


def test_stats_tell_tasks_operators_and_progress(dataset, capsys):
    assert run('stats', dataset, '--json') == 0
    figures = told(capsys)
    assert (figures['episodes'], figures['outcomes']) == (10, {'FAILURE': 2, 'SUCCESS': 8})
    (task,) = figures['tasks']
    assert (task['success_share'], task['accepted_share']) == (0.8, 0.8)
    assert task['medians']['robot_path_length'] == pytest.approx(0.3, abs=1e-3)
    ada, grace = figures['operators']
    assert [day['episodes'] for day in ada['progress']] == [2, 3]
    assert [day['success_share'] for day in grace['progress']] == [pytest.approx(2 / 3, abs=1e-4), 1.0]
    assert figures['reasons'] == {'the task was not done': 2}
    assert run('stats', dataset) == 0
    assert 'operator Ada: 5 episodes, 80% success' in capsys.readouterr().out


@pytest.mark.parametrize(
    ('arguments', 'count'),
    [
        (('--verdicts', 'ACCEPT'), 8),
        (('--operators', 'Ada', '--outcomes', 'SUCCESS'), 4),
        (('--metric', 'robot_path_length<0.31', 'duration>=2.9'), 10),
        (('--metric', 'command_path_length@arm>0.29'), 10),
        (('--since', '2026-12-01', '--before', '2026-12-02'), 5),
    ],
)
def test_filter_lists_what_fits(dataset, capsys, arguments, count):
    assert run('filter', dataset, *arguments, '--json') == 0
    assert len(told(capsys)['episodes']) == count


@pytest.mark.parametrize(
    ('arguments', 'words'),
    [
        (('--tasks', 'none'), 'no episode fits'),
        (('--metric', 'robot_path_length<0.1'), 'no episode fits'),
    ],
)
def test_nothing_that_fits_is_one_sentence(dataset, capsys, arguments, words):
    assert run('filter', dataset, *arguments) == 1
    assert words in capsys.readouterr().err


@pytest.mark.parametrize('bound', ['speed', 'speeed<1', 'duration<', 'duration<nan'])
def test_what_is_no_bound_of_a_metric_is_refused(dataset, capsys, bound):
    with pytest.raises(SystemExit):
        run('filter', dataset, '--metric', bound)
    assert 'is no bound such as' in (text := capsys.readouterr().err) or 'there is no metric' in text


def test_a_subset_shares_bytes_and_nothing_else(dataset, tmp_path):
    output = tmp_path / 'part'
    assert run('filter', dataset, '--verdicts', 'ACCEPT', '-o', output) == 0
    file = output / 'lift/000/000_0.mcap'
    assert file.samefile(dataset / 'lift/000/000_0.mcap')
    assert read_bag(file).complete and len(list(output.glob('lift/*'))) == 8
    assert run('filter', dataset, '-o', output) == 1


def test_splits_keep_seeds_together(dataset, capsys):
    arguments = ('--valid-share', 0.2, '--test-share', 0.2, '--keep-together', 'seed', '--json')
    assert run('split', dataset, *arguments) == 0
    parts = told(capsys)
    assert json.loads((dataset / 'splits.json').read_text())['valid'] == parts['valid']
    assert sorted(parts['train'] + parts['valid'] + parts['test']) == [f'lift/{n:03d}' for n in range(10)]
    seeds = [{int(path[-3:]) // 2 for path in parts[name]} for name in ('train', 'valid', 'test')]
    assert not (seeds[0] & seeds[1] or seeds[0] & seeds[2] or seeds[1] & seeds[2])
    assert len(parts['valid']) == len(parts['test']) == 2


def test_a_card_names_operators_only_if_asked_and_replaces_no_file_of_others(dataset, capsys):
    assert run('card', dataset, '--pseudonyms') == 0
    card = (dataset / 'CARD.md').read_text()
    assert '10 episodes' in card and '| lift | Lift it. | 10 | 80% | 80% |' in card
    assert 'operator_002' in card and 'Ada' not in card
    assert run('card', dataset) == 0
    assert '| Grace \\| Hopper | 5 |' in (dataset / 'CARD.md').read_text()
    (dataset / 'CARD.md').write_text('mine')
    assert run('card', dataset) == 1
    assert (dataset / 'CARD.md').read_text() == 'mine'


def test_prune_shows_first_removes_after_yes_and_writes_down_what(dataset, capsys):
    (dataset / 'lift/004/note.txt').write_text('mine')
    assert run('prune', dataset, '--yes') == 1
    assert 'say which episodes' in capsys.readouterr().err
    assert run('prune', dataset, '--outcomes', 'FAILURE') == 0
    assert 'Nothing was removed' in capsys.readouterr().out
    assert (dataset / 'lift/004/004_0.mcap').exists()
    assert run('prune', dataset, '--outcomes', 'FAILURE', '--yes', '--json') == 0
    assert told(capsys)['removed'] == ['lift/004', 'lift/009']
    assert sorted(path.name for path in (dataset / 'lift/004').iterdir()) == ['note.txt']
    assert not (dataset / 'lift/009').exists() and len(list(dataset.glob('lift/*/*.mcap'))) == 8
    lines = [json.loads(line) for line in (dataset / 'pruned.jsonl').read_text().splitlines()]
    assert [(line['episode_id'], line['verdict']) for line in lines] == [('004', 'REJECT'), ('009', 'REJECT')]


def test_prune_leaves_what_is_being_recorded(tmp_path, capsys):
    writer = BagWriter(tmp_path / 'lift' / 'now', {'episode_id': 'now', 'outcome': 'DISCARDED'})
    assert run('prune', tmp_path, '--outcomes', 'DISCARDED', '--yes') == 1
    assert 'it is being recorded' in capsys.readouterr().out
    writer.close('cobalt.end', {}, {})
    assert read_bag(tmp_path / 'lift' / 'now').complete
