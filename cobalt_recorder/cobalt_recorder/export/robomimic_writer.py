"""Writes robomimic's HDF5: data/demo_i with observations, actions, rewards, dones; masks for splits and verdicts.

Layout as in robomimic 0.3: https://robomimic.github.io/docs/datasets/overview.html
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from cobalt_recorder.export.choice import ExportedEpisode
from cobalt_recorder.export.episode_frames import EpisodeFrames
from cobalt_recorder.metrics.step_table import Array
from cobalt_teleop.core.errors import CobaltError

_GYM = 2
"""robomimic's EnvType.GYM_TYPE."""


class RobomimicWriter:
    """A file that is being written.

    Each demonstration has one step less than the episode has frames: the last frame is only what follows the last
    action (`next_obs`).

    Args:
        path: Of the file, which is made.
        cameras: Their names.
    """

    def __init__(self, path: Path, cameras: tuple[str, ...]) -> None:
        self._cameras = cameras
        self._file = h5py.File(path, 'x')
        self._data = self._file.create_group('data')
        self._total = 0
        self._masks: dict[str, list[str]] = {}
        self._shapes: dict[str, tuple[int, ...]] = {}

    def add(self, frames: EpisodeFrames, pictures: dict[str, Iterator[Array]], about: ExportedEpisode) -> None:
        """Writes an episode.

        Args:
            frames: Its frames.
            pictures: One for each frame, by camera.
            about: Where it comes from.

        Raises:
            CobaltError: It is too short, doesn't fit to those before, or its pictures cannot be had.
        """
        steps = len(frames) - 1
        if steps < 1:
            raise CobaltError(f'{about.source} has {len(frames)} frames: a demonstration needs 2.')
        demo = self._data.create_group(f'demo_{about.index}')
        demo.attrs['num_samples'] = steps
        demo.attrs['cobalt'] = json.dumps(about.as_json())
        for name, values in frames.observation.items():
            self._require_same(f'obs/{name}', values)
            demo.create_dataset(f'obs/{name}', data=values[:-1])
            demo.create_dataset(f'next_obs/{name}', data=values[1:])
        for camera in self._cameras:
            self._write_pictures(demo, f'{camera}_image', pictures[camera], steps)
        for name, column in frames.columns.items():
            if name.startswith('cobalt.'):
                place = demo.create_dataset(name.replace('.', '/'), data=column.values[:-1])
                place.attrs['names'] = json.dumps(column.names)
        action = frames.columns['action']
        self._require_same('actions', action.values)
        demo.create_dataset('actions', data=action.values[:-1]).attrs['names'] = json.dumps(action.names)
        demo.create_dataset('rewards', data=frames.columns['next.reward'].values[:-1, 0].astype(np.float32))
        dones = np.zeros(steps, dtype=np.int64)
        dones[-1] = 1
        demo.create_dataset('dones', data=dones)
        demo.create_dataset('states', data=frames.columns['observation.state'].values[:-1].astype(np.float64))
        for mask in (about.split, about.verdict.lower(), about.outcome.lower()):
            self._masks.setdefault(re.sub(r'[^a-z0-9_]', '_', mask) or 'unknown', []).append(f'demo_{about.index}')
        self._total += steps

    def finish(self, about: dict[str, Any], rate_hz: float) -> None:
        """Writes masks and attributes, and closes the file.

        Args:
            about: Everything that is known of the export.
            rate_hz: Steps a second.
        """
        for name, demos in self._masks.items():
            self._file.create_dataset(f'mask/{name}', data=np.array(demos, dtype='S'))
        environment = {'env_name': 'Cobalt', 'type': _GYM, 'env_kwargs': {'control_freq': rate_hz}}
        self._data.attrs['total'] = self._total
        self._data.attrs['env_args'] = json.dumps(environment)
        self._data.attrs['cobalt'] = json.dumps(about)
        self._file.close()

    def close(self) -> None:
        """Closes the file, finished or not."""
        self._file.close()

    def _require_same(self, name: str, values: Array) -> None:
        shape = self._shapes.setdefault(name, values.shape[1:])
        if shape != values.shape[1:]:
            raise CobaltError(
                f'the episodes do not fit together: {name} has the shape {values.shape[1:]}, but {shape} before. '
                'Export them apart: by --tasks, from folders, or with one --size.'
            )

    def _write_pictures(self, demo: Any, name: str, pictures: Iterator[Array], steps: int) -> None:
        places: list[Any] = []
        for index, picture in enumerate(pictures):
            self._require_same(f'obs/{name}', picture[None])
            if not places:
                shape = (steps, *picture.shape)
                chunks = (1, *picture.shape)
                places = [
                    demo.create_dataset(f'{group}/{name}', shape, np.uint8, chunks=chunks, compression='lzf')
                    for group in ('obs', 'next_obs')
                ]
            if index < steps:
                places[0][index] = picture
            if index > 0:
                places[1][index - 1] = picture
