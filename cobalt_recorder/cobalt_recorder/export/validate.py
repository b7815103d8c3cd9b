"""Checks an export as a trainer would meet it, from what was written alone."""

import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import av
import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cobalt_recorder.metrics.step_table import Array
from cobalt_teleop.core.errors import CobaltError

_TOLERANCE_S = 1e-4
"""By which LeRobot lets a picture miss its time stamp [s]."""

_LEAST_COSINE = 0.0
"""Between quaternions of two frames: less is another hemisphere."""


def validate(path: Path) -> list[str]:
    """Returns in words what is wrong with an export; nothing if it is valid.

    Args:
        path: Folder of a LeRobot data set, or a robomimic file.

    Raises:
        CobaltError: It is neither.
    """
    path = path.expanduser().absolute()
    if (path / 'meta' / 'info.json').exists():
        check: Callable[[Path], Iterator[str]] = _lerobot
    elif path.is_file() and h5py.is_hdf5(path):
        check = _robomimic
    else:
        raise CobaltError(
            f'{path} is neither a LeRobot data set nor a robomimic file. To make one of bags, give --format.'
        )
    problems: list[str] = []
    try:
        problems.extend(check(path))
    except (OSError, KeyError, ValueError, TypeError, IndexError, pa.ArrowException, av.error.FFmpegError) as error:
        problems.append(f'it cannot be read: {type(error).__name__}: {error}')
    return problems


def _lerobot(root: Path) -> Iterator[str]:
    info = json.loads((root / 'meta' / 'info.json').read_text(encoding='utf-8'))
    if info['codebase_version'] != 'v3.0':
        yield f'its version is {info["codebase_version"]}, and not v3.0'
    table, episodes = _table(root / 'data'), _table(root / 'meta' / 'episodes')
    tasks = pq.read_table(root / 'meta' / 'tasks.parquet')
    stats = json.loads((root / 'meta' / 'stats.json').read_text(encoding='utf-8'))
    for name, there in (('episodes', len(episodes)), ('frames', len(table)), ('tasks', len(tasks))):
        if info[f'total_{name}'] != there:
            yield f'info.json tells of {info[f"total_{name}"]} {name}, but there are {there}'
    columns = {name for name, feature in info['features'].items() if feature['dtype'] != 'video'}
    if columns != set(table.column_names):
        yield f'info.json and the data differ in their features: {sorted(columns ^ set(table.column_names))}'
        return
    numbers = {name: table[name].to_numpy() for name in ('index', 'episode_index', 'frame_index', 'timestamp')}
    if not (numbers['index'] == np.arange(len(table))).all():
        yield 'the index of frames has gaps'
    rows = episodes.to_pylist()
    for row in rows:
        first, end = row['dataset_from_index'], row['dataset_to_index']
        there = numbers['episode_index'][first:end]
        if not len(there) == end - first == row['length'] or not (there == row['episode_index']).all():
            yield f'episode {row["episode_index"]} is not where its metadata says'
        elif not (numbers['frame_index'][first:end] == np.arange(end - first)).all():
            yield f'the frames of episode {row["episode_index"]} are not numbered from 0'
        elif np.abs(numbers['timestamp'][first:end] - np.arange(end - first) / info['fps']).max() > _TOLERANCE_S:
            yield f'the time stamps of episode {row["episode_index"]} are not those of {info["fps"]} frames a second'
    yield from _vectors(info, table, rows)
    for name, feature in info['features'].items():
        if name not in stats or not _all_finite(stats[name]):
            yield f'stats.json has no whole statistics of {name}'
        if feature['dtype'] == 'video':
            yield from _videos(root, info, name, rows)


def _table(folder: Path) -> Any:
    return pa.concat_tables(pq.read_table(file) for file in sorted(folder.glob('*/*.parquet')))


def _vectors(info: dict[str, Any], table: Any, rows: list[dict[str, Any]]) -> Iterator[str]:
    for name in ('observation.state', 'observation.environment_state', 'action'):
        feature = info['features'].get(name)
        if feature is None and name == 'observation.environment_state':
            continue
        values = np.array(table[name].to_pylist(), dtype=np.float64).reshape(len(table), -1)
        if values.shape[1] != feature['shape'][0] or len(feature['names']) != values.shape[1]:
            yield f'{name} has {values.shape[1]} elements, but info.json tells of {feature["shape"][0]}'
        elif not np.isfinite(values).all():
            yield f'{name} holds what is no number'
        else:
            for row in rows:
                stretch = values[row['dataset_from_index'] : row['dataset_to_index']]
                yield from _quaternions(stretch, feature['names'], f'{name} of episode {row["episode_index"]}')


def _quaternions(values: Array, names: list[str], what: str) -> Iterator[str]:
    """Checks that each four columns named ….qx to ….qw are unit quaternions that do not change their sign."""
    for place, name in enumerate(names):
        if name.endswith('.qx'):
            yield from _quaternion(values[:, place : place + 4], f'{what}: {name.removesuffix(".qx")}')


def _quaternion(quat_xyzw: Array, what: str) -> Iterator[str]:
    if np.abs(np.linalg.norm(quat_xyzw, axis=1) - 1.0).max() > 1e-3:
        yield f'{what} holds quaternions that are no rotations'
    elif len(quat_xyzw) > 1 and min(float(a @ b) for a, b in pairwise(quat_xyzw)) < _LEAST_COSINE:
        yield f'{what} changes the sign of its quaternion'


def _all_finite(stats: dict[str, Any]) -> bool:
    return all(np.isfinite(np.array(value, dtype=np.float64)).all() for value in stats.values())


def _videos(root: Path, info: dict[str, Any], name: str, rows: list[dict[str, Any]]) -> Iterator[str]:
    """Decodes each file of a camera, and looks for the picture of each frame at its time."""
    shape = info['features'][name]['shape']
    wanted: dict[tuple[int, int], list[float]] = {}
    for row in rows:
        file = row[f'videos/{name}/chunk_index'], row[f'videos/{name}/file_index']
        begins = row[f'videos/{name}/from_timestamp']
        wanted.setdefault(file, []).extend(begins + number / info['fps'] for number in range(row['length']))
    for (chunk, number), times in wanted.items():
        path = root / info['video_path'].format(video_key=name, chunk_index=chunk, file_index=number)
        shown = []
        with av.open(str(path)) as container:
            for frame in container.decode(video=0):
                shown.append(float(frame.time))
                if [frame.height, frame.width, 3] != list(shape):
                    yield f'{path} has pictures of {frame.width}x{frame.height}, but info.json tells of {shape}'
                    return
        if len(shown) != len(times) or np.abs(np.array(shown) - np.array(times)).max() > _TOLERANCE_S:
            yield f'{path} has {len(shown)} pictures, not those of its {len(times)} frames'


def _robomimic(path: Path) -> Iterator[str]:
    with h5py.File(path, 'r') as file:
        data = file['data']
        environment = json.loads(data.attrs['env_args'])
        if not {'env_name', 'type', 'env_kwargs'} <= environment.keys():
            yield 'env_args lacks env_name, type or env_kwargs'
        demos = sorted(data)
        if data.attrs['total'] != sum(int(data[demo].attrs['num_samples']) for demo in demos):
            yield f'data tells of {data.attrs["total"]} steps in all, its demonstrations of another number'
        shapes: dict[str, tuple[int, ...]] = {}
        for demo in demos:
            yield from _demo(data[demo], demo, shapes)
        masks = {name: [one.decode() for one in file['mask'][name][:]] for name in file['mask']}
        for name, members in masks.items():
            unknown = sorted(set(members) - set(demos))
            if unknown:
                yield f'the mask {name} names {unknown[0]}, which is not there'
        if set(masks.get('train', ())) & set(masks.get('valid', ())):
            yield 'the masks train and valid overlap'


def _demo(demo: Any, name: str, shapes: dict[str, tuple[int, ...]]) -> Iterator[str]:
    steps = int(demo.attrs['num_samples'])
    if set(demo['obs']) != set(demo['next_obs']):
        yield f'{name}: obs and next_obs differ in their keys'
        return
    arrays = {
        **{one: demo[one] for one in ('actions', 'rewards', 'dones', 'states')},
        **{f'{group}/{one}': demo[group][one] for group in ('obs', 'next_obs') for one in demo['obs']},
    }
    for key, array in arrays.items():
        if len(array) != steps:
            yield f'{name}: {key} has {len(array)} of {steps} steps'
        if shapes.setdefault(key, array.shape[1:]) != array.shape[1:]:
            yield f'{name}: {key} has another shape than in other demonstrations'
        if array.dtype != np.uint8 and not np.isfinite(array[:]).all():
            yield f'{name}: {key} holds what is no number'
        if key.endswith('_quat'):
            yield from _quaternion(array[:], f'{name}: {key}')
        if key.startswith('obs/') and steps > 1 and not np.array_equal(array[1:], demo[f'next_{key}'][:-1]):
            yield f'{name}: next_{key} is not what follows {key}'
    if demo['dones'][-1] != 1 or demo['dones'][:-1].any():
        yield f'{name}: dones are not 0 until the last step'
