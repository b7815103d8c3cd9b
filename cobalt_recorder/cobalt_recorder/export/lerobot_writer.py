"""Writes a LeRobotDataset v3.0: parquet files of frames, one video stream for each camera, and its metadata.

Layout as in lerobot 0.4: meta/info.json, meta/tasks.parquet, meta/stats.json, meta/episodes/…, data/…, videos/….
"""

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cobalt_recorder.export.episode_frames import Column, EpisodeFrames
from cobalt_recorder.export.feature_stats import PictureStats, Stats, as_lists, of_values, together
from cobalt_recorder.metrics.step_table import Array
from cobalt_teleop.core.errors import CobaltError

VERSION = 'v3.0'
DATA_PATH = 'data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet'
VIDEO_PATH = 'videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4'
EPISODES_PATH = 'meta/episodes/chunk-000/file-000.parquet'
_CHUNK = 1000
_DATA_MB = 100
_VIDEO_MB = 200
_KEY_FRAME_EVERY = 2
"""Frames between key frames: training reads single frames at random, as LeRobot's own videos allow."""

_QUALITY = '23'
_TYPES = {'float32': pa.float32(), 'float64': pa.float64(), 'int64': pa.int64(), 'bool': pa.bool_()}


class _Video:
    """The stream of one camera over all episodes, in files of a bounded size."""

    def __init__(self, root: Path, key: str, rate_hz: Fraction) -> None:
        self._root, self._key, self._rate = root, key, rate_hz
        self._file = -1
        self._container: Any = None
        self._stream: Any = None
        self._count = 0
        self.size: tuple[int, int] | None = None

    def add(self, pictures: Iterator[Array], stats: PictureStats) -> dict[str, Any]:
        """Encodes an episode's pictures; returns where they are."""
        first = self._count
        for picture in pictures:
            size = picture.shape[1], picture.shape[0]
            if self.size is None:
                self.size = size
            if size != self.size:
                raise CobaltError(
                    f'{self._key} changes its size from {self.size[0]}x{self.size[1]} to {size[0]}x{size[1]}: '
                    'give one with --size.'
                )
            if self._container is None:
                self._open(size)
                first = 0
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format='rgb24')
            frame.pts = self._count
            self._container.mux(self._stream.encode(frame))
            self._count += 1
            stats.note(picture)
        place = {
            'chunk_index': self._file // _CHUNK,
            'file_index': self._file % _CHUNK,
            'from_timestamp': float(first / self._rate),
            'to_timestamp': float(self._count / self._rate),
        }
        if self._path().stat().st_size > _VIDEO_MB * 1024 * 1024:
            self.close()
        return place

    def close(self) -> None:
        """Ends the present file."""
        if self._container is not None:
            self._container.mux(self._stream.encode(None))
            self._container.close()
            self._container = None

    def _path(self) -> Path:
        where = VIDEO_PATH.format(video_key=self._key, chunk_index=self._file // _CHUNK, file_index=self._file % _CHUNK)
        return self._root / where

    def _open(self, size: tuple[int, int]) -> None:
        self._file += 1
        self._count = 0
        path = self._path()
        path.parent.mkdir(parents=True, exist_ok=True)
        options = {'crf': _QUALITY, 'g': str(_KEY_FRAME_EVERY), 'bf': '0', 'preset': 'veryfast'}
        self._container = av.open(str(path), 'w')
        self._stream = self._container.add_stream('libx264', rate=self._rate, options=options)
        self._stream.width, self._stream.height = size
        self._stream.pix_fmt = 'yuv420p'
        self._stream.time_base = 1 / self._rate


class LerobotWriter:
    """A LeRobot data set that is being written.

    Args:
        root: Its folder, which is made.
        rate_hz: Frames a second.
        robot: Name of the robot.
        cameras: Their names.
    """

    def __init__(self, root: Path, rate_hz: float, robot: str, cameras: tuple[str, ...]) -> None:
        self._root, self._robot = root, robot
        self._rate = Fraction(rate_hz).limit_denominator(1001)
        (root / 'meta' / 'episodes' / 'chunk-000').mkdir(parents=True)
        self._videos = {name: _Video(root, f'observation.images.{name}', self._rate) for name in cameras}
        self._tasks: dict[str, int] = {}
        self._episodes: list[dict[str, Any]] = []
        self._stats: list[dict[str, Stats]] = []
        self._columns: dict[str, Column] = {}
        self._frames = 0
        self._data: Any = None
        self._file = -1

    def add(self, frames: EpisodeFrames, pictures: dict[str, Iterator[Array]], instruction: str) -> None:
        """Writes an episode.

        Args:
            frames: Its frames.
            pictures: One for each frame, by camera.
            instruction: What was to be done.

        Raises:
            CobaltError: It doesn't fit to those before, or its pictures cannot be had.
        """
        self._require_same(frames)
        task = self._tasks.setdefault(instruction, len(self._tasks))
        count, index = len(frames), len(self._episodes)
        numbers = np.arange(count)
        whole = {
            **{name: column.values for name, column in frames.columns.items()},
            'timestamp': (numbers / float(self._rate)).astype(np.float32)[:, None],
            'frame_index': numbers[:, None],
            'episode_index': np.full((count, 1), index),
            'index': (self._frames + numbers)[:, None],
            'task_index': np.full((count, 1), task),
        }
        stats: dict[str, Stats] = {name: of_values(np.nan_to_num(values)) for name, values in whole.items()}
        places: dict[str, Any] = {}
        for name, video in self._videos.items():
            seen = PictureStats(count)
            place = video.add(pictures[name], seen)
            key = f'observation.images.{name}'
            places |= {f'videos/{key}/{what}': value for what, value in place.items()}
            stats[key] = seen.stats()
        self._write_data(whole)
        self._episodes.append(
            {
                'episode_index': index,
                'tasks': [instruction],
                'length': count,
                'data/chunk_index': self._file // _CHUNK,
                'data/file_index': self._file % _CHUNK,
                'dataset_from_index': self._frames,
                'dataset_to_index': self._frames + count,
                'meta/episodes/chunk_index': 0,
                'meta/episodes/file_index': 0,
                **places,
                **{
                    f'stats/{name}/{what}': value
                    for name, one in stats.items()
                    for what, value in as_lists(one).items()
                },
            }
        )
        self._stats.append(stats)
        self._frames += count

    def finish(self, train: int) -> None:
        """Writes the metadata.

        Args:
            train: So many episodes, the first ones, are for training.
        """
        for video in self._videos.values():
            video.close()
        if self._data is not None:
            self._data.close()
        pq.write_table(pa.Table.from_pylist(self._episodes), self._root / EPISODES_PATH)
        self._write_tasks()
        names = self._stats[0].keys()
        stats = {name: as_lists(together([one[name] for one in self._stats])) for name in names}
        _write_json(self._root / 'meta' / 'stats.json', stats)
        _write_json(self._root / 'meta' / 'info.json', self._info(train))

    def _require_same(self, frames: EpisodeFrames) -> None:
        self._columns = self._columns or frames.columns
        for name in self._columns.keys() | frames.columns.keys():
            known, found = self._columns.get(name), frames.columns.get(name)
            if known is None or found is None or known.names != found.names:
                raise CobaltError(
                    f'the episodes do not fit together: {name} is {found.names if found else "missing"}, but '
                    f'{known.names if known else "missing"} before. Export them apart: by --tasks, or from folders.'
                )

    def _write_data(self, whole: dict[str, Array]) -> None:
        arrays = {name: _arrow(values) for name, values in whole.items()}
        table = pa.table(arrays)
        path = self._data_path()
        if self._data is not None and path.stat().st_size > _DATA_MB * 1024 * 1024:
            self._data.close()
            self._data = None
        if self._data is None:
            self._file += 1
            path = self._data_path()
            path.parent.mkdir(parents=True, exist_ok=True)
            self._data = pq.ParquetWriter(path, table.schema)
        self._data.write_table(table)

    def _data_path(self) -> Path:
        where = DATA_PATH.format(chunk_index=self._file // _CHUNK, file_index=self._file % _CHUNK)
        return self._root / where

    def _write_tasks(self) -> None:
        """Writes the table whose index, as pandas understands it, is the instruction."""
        index = '__index_level_0__'
        columns: list[dict[str, Any]] = [
            {'name': 'task_index', 'field_name': 'task_index', 'pandas_type': 'int64', 'numpy_type': 'int64'},
            {'name': None, 'field_name': index, 'pandas_type': 'unicode', 'numpy_type': 'object'},
        ]
        about = {
            'index_columns': [index],
            'column_indexes': [],
            'columns': [{**column, 'metadata': None} for column in columns],
            'pandas_version': '2.2.0',
        }
        table = pa.table({'task_index': list(self._tasks.values()), index: list(self._tasks)})
        table = table.replace_schema_metadata({b'pandas': json.dumps(about).encode()})
        pq.write_table(table, self._root / 'meta' / 'tasks.parquet')

    def _info(self, train: int) -> dict[str, Any]:
        features: dict[str, Any] = {
            name: {
                'dtype': _dtype(column.values),
                'shape': [column.values.shape[1]],
                'names': column.names,
            }
            for name, column in self._columns.items()
        }
        for name, dtype in (
            ('timestamp', 'float32'),
            ('frame_index', 'int64'),
            ('episode_index', 'int64'),
            ('index', 'int64'),
            ('task_index', 'int64'),
        ):
            features[name] = {'dtype': dtype, 'shape': [1], 'names': None}
        for name, video in self._videos.items():
            assert video.size is not None
            features[f'observation.images.{name}'] = {
                'dtype': 'video',
                'shape': [video.size[1], video.size[0], 3],
                'names': ['height', 'width', 'channels'],
                'info': {
                    'video.height': video.size[1],
                    'video.width': video.size[0],
                    'video.codec': 'h264',
                    'video.pix_fmt': 'yuv420p',
                    'video.is_depth_map': False,
                    'video.fps': _plain(self._rate),
                    'video.channels': 3,
                    'has_audio': False,
                },
            }
        total = len(self._episodes)
        splits = {'train': f'0:{train}'} | ({'valid': f'{train}:{total}'} if train < total else {})
        return {
            'codebase_version': VERSION,
            'robot_type': self._robot,
            'total_episodes': total,
            'total_frames': self._frames,
            'total_tasks': len(self._tasks),
            'chunks_size': _CHUNK,
            'data_files_size_in_mb': _DATA_MB,
            'video_files_size_in_mb': _VIDEO_MB,
            'fps': _plain(self._rate),
            'splits': splits,
            'data_path': DATA_PATH,
            'video_path': VIDEO_PATH if self._videos else None,
            'features': features,
        }


def _plain(rate: Fraction) -> int | float:
    return int(rate) if rate.denominator == 1 else float(rate)


def _dtype(values: Array) -> str:
    return str(values.dtype)


def _arrow(values: Array) -> Any:
    """Returns a column: of single values, or of lists of a fixed length."""
    kind = _TYPES[_dtype(values)]
    flat = pa.array(values.reshape(-1), type=kind)
    return flat if values.shape[1] == 1 else pa.FixedSizeListArray.from_arrays(flat, values.shape[1])


def _write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + '\n', encoding='utf-8')
