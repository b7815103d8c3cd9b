"""`cobalt export`: what is in the files, read by their formats' own libraries."""

import argparse
import hashlib
import json

import av
import h5py
import numpy as np
import pyarrow.parquet as pq
import pytest
from geometry_msgs.msg import PoseStamped
from rclpy.serialization import serialize_message
from small_bag import PERIOD_NS, START_NS, STEPS, control_step, write_bag

from cobalt_recorder import export_command
from cobalt_recorder.judge import judge_bag
from cobalt_recorder.rules_file import load_rules, shipped_rules
from cobalt_teleop.ros.stamps import to_stamp

ROWS = 61
CUBE = '/env_0/object/cube/pose'


def run(*arguments):
    parser = argparse.ArgumentParser()
    export_command.add_parser(parser.add_subparsers())
    parsed = parser.parse_args(['export', *map(str, arguments)])
    return parsed.func(parsed)


@pytest.fixture(scope='module')
def dataset(tmp_path_factory):
    """Three accepted episodes and one that failed."""
    folder = tmp_path_factory.mktemp('data')
    for name in ('one', 'two', 'three', 'failed'):
        outcome = 'FAILURE' if name == 'failed' else 'SUCCESS'
        bag = write_bag(folder / 'lift' / name, count=ROWS, outcome=outcome).parent
        judge_bag(bag, load_rules(shipped_rules()))[1].write(bag)
    return folder


@pytest.fixture(scope='module')
def lerobot(dataset, tmp_path_factory):
    output = tmp_path_factory.mktemp('out') / 'lerobot'
    assert run(dataset, '--format', 'lerobot', '-o', output, '--valid-share', 0.34) == 0
    return output


def test_frames_hold_what_the_rows_hold_with_their_true_stamps(lerobot):
    table = pq.read_table(lerobot / 'data/chunk-000/file-000.parquet').to_pydict()
    info = json.loads((lerobot / 'meta/info.json').read_text())
    assert (info['codebase_version'], info['fps'], info['total_episodes']) == ('v3.0', 20, 3)
    assert info['splits'] == {'train': '0:2', 'valid': '2:3'}
    assert table['cobalt.stamp_ns'][:ROWS] == [START_NS + index * PERIOD_NS for index in range(ROWS)]
    assert table['timestamp'][ROWS + 2] == pytest.approx(0.1)
    names = info['features']['observation.state']['names']
    state, action = np.array(table['observation.state']), np.array(table['action'])
    share = np.arange(ROWS) / (ROWS - 1)
    x = 0.3 * (10 * share**3 - 15 * share**4 + 6 * share**5)
    assert state[:ROWS, names.index('arm.x')] == pytest.approx(x, abs=1e-6)
    assert action[: ROWS - 1, 0] == pytest.approx(x[:-1], abs=1e-6)
    assert action[ROWS - 1, 0] == action[ROWS - 2, 0], 'the terminal state has no action'
    assert [sum(table[name]) for name in ('next.done', 'next.success')] == [3, 6]
    human = np.array(table['cobalt.arm.human_command'])
    assert human[:ROWS, 0] == pytest.approx(x, abs=1e-6)
    assert np.isnan(np.array(table['cobalt.arm.policy_command'])).all()
    epoch = info['features']['cobalt.arm.flags']['names'].index('clutch_epoch')
    assert set(np.array(table['cobalt.arm.flags'])[:, epoch]) == {1}


def test_the_picture_of_each_frame_is_the_one_of_its_row(lerobot):
    with av.open(str(lerobot / 'videos/observation.images.front/chunk-000/file-000.mp4')) as container:
        shown = [frame.to_ndarray(format='rgb24') for frame in container.decode(video=0)]
    assert len(shown) == 3 * ROWS
    for place, picture in enumerate(shown):
        assert picture[:, -1].mean() == pytest.approx(place % ROWS * 3 % 256, abs=12)


def test_provenance_card_and_statistics(lerobot, dataset):
    about = json.loads((lerobot / 'meta/cobalt.json').read_text())
    for episode in about['episodes']:
        (file,) = (dataset / episode['source']).glob('*.mcap')
        assert episode['sha256'] == hashlib.sha256(file.read_bytes()).hexdigest()
        assert (episode['first_step'], episode['last_step']) == (100, 100 + ROWS - 1)
    assert 'Rows are chosen, never interpolated' in about['choice']['resampling']
    card = (lerobot / 'README.md').read_text()
    assert '3 episodes, 183 frames at 20 Hz' in card and 'ACCEPT 3' in card
    stats = json.loads((lerobot / 'meta/stats.json').read_text())
    assert stats['action']['max'][0] == pytest.approx(0.3, abs=1e-3)
    assert np.array(stats['observation.images.front']['mean']).shape == (3, 1, 1)


def test_robomimic_shifts_observations_and_masks_splits_and_verdicts(dataset, tmp_path):
    output = tmp_path / 'data.hdf5'
    wanted = ['--verdicts', 'ACCEPT', 'REJECT', '--size', '32x24', '--action', 'delta', '--rate', '10']
    assert run(dataset, '--format', 'robomimic', '-o', output, *wanted) == 0
    with h5py.File(output) as file:
        assert {len(file['data'][demo]['actions']) for demo in file['data']} == {30}
        demo = file['data/demo_0']
        assert demo['obs/front_image'].shape == (30, 24, 32, 3)
        assert (demo['obs/arm_eef_pos'][1:] == demo['next_obs/arm_eef_pos'][:-1]).all()
        way = demo['actions'][:, 0] - (demo['next_obs/arm_eef_pos'][:, 0] - demo['obs/arm_eef_pos'][:, 0])
        assert np.abs(way).max() < 0.02
        assert demo['dones'][:].tolist() == [0] * 29 + [1]
        masks = {name: len(file['mask'][name]) for name in file['mask']}
        assert masks['accept'] == 3 and masks['reject'] == 1 and masks['train'] + masks['valid'] == 4
        assert json.loads(file['data'].attrs['env_args'])['env_kwargs'] == {'control_freq': 10.0}
    assert 'robomimic HDF5' in output.with_suffix('.md').read_text()


def object_poses(count, *, step=1):
    for index in range(0, count, step):
        stamp_ns = START_NS + index * PERIOD_NS
        message = PoseStamped()
        message.header.stamp = to_stamp(stamp_ns)
        message.pose.position.y, message.pose.orientation.w = 0.001 * index, 1.0
        yield CUBE, 'geometry_msgs/msg/PoseStamped', bytes(serialize_message(message)), stamp_ns


def bag_with_objects(folder, poses):
    bag = write_bag(folder / 'lift' / 'one', extra=list(poses)).parent
    judge_bag(bag, load_rules(shipped_rules()))[1].write(bag)
    return folder


def test_poses_of_objects_are_those_of_the_row(tmp_path):
    data = bag_with_objects(tmp_path / 'data', object_poses(ROWS, step=2))
    wanted = ['--objects', '--cameras', '--valid-share', 0]
    assert run(data, '--format', 'robomimic', '-o', tmp_path / 'data.hdf5', *wanted) == 0
    assert run(data, '--format', 'lerobot', '-o', tmp_path / 'data', *wanted) == 1, 'nothing is overwritten'
    assert run(data, '--format', 'lerobot', '-o', tmp_path / 'lerobot', *wanted) == 0
    expected = [0.001 * (index // 2 * 2) for index in range(ROWS)]
    with h5py.File(tmp_path / 'data.hdf5') as file:
        assert file['data/demo_0/obs/object'][:, 1] == pytest.approx(expected[:-1], abs=1e-6)
    info = json.loads((tmp_path / 'lerobot/meta/info.json').read_text())
    assert info['features']['observation.environment_state']['names'][:2] == ['cube.x', 'cube.y']
    table = pq.read_table(tmp_path / 'lerobot/data/chunk-000/file-000.parquet').to_pydict()
    assert np.array(table['observation.environment_state'])[:, 1] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(('told', 'words'), [(0, 'holds no poses of objects'), (30, 'nobody told where cube is')])
def test_an_episode_whose_objects_are_not_known_is_left_out(tmp_path, capsys, told, words):
    data = bag_with_objects(tmp_path / 'data', object_poses(told))
    assert run(data, '--format', 'robomimic', '-o', tmp_path / 'out.hdf5', '--objects', '--cameras') == 1
    assert words in capsys.readouterr().err


def break_frames(root):
    path = root / 'data/chunk-000/file-000.parquet'
    pq.write_table(pq.read_table(path).slice(0, 100), path)


def break_video(root):
    (path,) = root.glob('videos/*/*/*.mp4')
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def break_info(root):
    path = root / 'meta/info.json'
    path.write_text(path.read_text().replace('"fps": 20', '"fps": 21'))


@pytest.mark.parametrize(
    ('harm', 'words'),
    [(break_frames, 'but there are 100'), (break_video, 'cannot be read'), (break_info, 'not those of 21 frames')],
)
def test_the_validator_finds_what_is_wrong(dataset, tmp_path, capsys, harm, words):
    assert run(dataset, '--format', 'lerobot', '-o', tmp_path / 'out') == 0
    assert run(tmp_path / 'out') == 0
    harm(tmp_path / 'out')
    capsys.readouterr()
    assert run(tmp_path / 'out', '--json') == 2
    told = json.loads(capsys.readouterr().out)
    assert not told['valid'] and any(words in problem for problem in told['problems'])


@pytest.mark.parametrize(
    ('arguments', 'words'),
    [
        (('--verdicts', 'REVIEW'), 'no episode fits: of the tasks chosen there are 3 ACCEPT, 1 REJECT'),
        (('--action', 'joint'), 'was not driven by joint targets'),
        (('--cameras', 'wrist'), 'has no camera wrist. It has: front'),
        (('--size', '31x24'), 'both must be even'),
        (('--every-row', '--rate', '10'), 'cannot be given together'),
    ],
)
def test_a_refusal_is_one_sentence_and_leaves_nothing(dataset, tmp_path, capsys, arguments, words):
    assert run(dataset, '--format', 'lerobot', '-o', tmp_path / 'out', *arguments) == 1
    told = capsys.readouterr().err
    assert words in told and len(told.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten_and_a_bag_alone_can_be_exported(dataset, tmp_path, capsys):
    (tmp_path / 'there').mkdir()
    assert run(dataset, '--format', 'lerobot', '-o', tmp_path / 'there') == 1
    assert 'is there already' in capsys.readouterr().err
    assert run(dataset / 'lift/one', '--format', 'robomimic', '-o', tmp_path / 'one.hdf5', '--cameras') == 0
    assert not list((dataset / 'lift/one').glob('*.sqlite'))


def test_a_name_that_leads_out_of_the_export_is_refused(tmp_path, capsys):
    row = control_step(30, ROWS, 'one')
    row.frames[0].camera = '../../front'
    write_bag(tmp_path / 'data' / 'one', extra=[(STEPS, 'cobalt_interfaces/msg/ControlStep', row, START_NS)])
    arguments = ['--format', 'lerobot', '-o', tmp_path / 'out', '--verdicts', 'UNKNOWN']
    assert run(tmp_path / 'data', *arguments) == 1
    assert "'../../front': such a name makes no file name" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ['data']


def test_only_what_a_person_drove(dataset, tmp_path, capsys):
    arguments = ['--format', 'lerobot', '-o', tmp_path / 'out', '--human-only', '--cameras', '--json']
    assert run(dataset, *arguments) == 0
    told = json.loads(capsys.readouterr().out)
    assert [episode['frames'] for episode in told['episodes']] == [ROWS - 1] * 3, 'nobody drives the terminal row'
