"""Exports the episodes of a data set: chooses, reads, resamples, writes."""

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from cobalt_recorder import episode_facts
from cobalt_recorder.bag_reader import Bag, find_bag
from cobalt_recorder.dataset_index import DatasetIndex, IndexedEpisode
from cobalt_recorder.export.choice import ExportChoice, ExportedEpisode, require_new
from cobalt_recorder.export.data_card import data_card
from cobalt_recorder.export.episode_frames import EpisodeFrames, episode_frames
from cobalt_recorder.export.episode_rows import EpisodeRows, read_rows
from cobalt_recorder.export.pictures import pictures
from cobalt_recorder.export.sampling import driven_stretches, every_row, on_grid
from cobalt_recorder.export.splits import group_of, valid_groups
from cobalt_recorder.file_hash import hash_of_files
from cobalt_recorder.metrics.step_table import Array
from cobalt_teleop.core.errors import CobaltError

FORMATS = {'lerobot': 'LeRobotDataset v3.0', 'robomimic': 'robomimic HDF5'}
ABOUT_FILE = 'cobalt.json'
_LEAST_STRETCH_S = 1.0
"""Shorter stretches of human driving are no demonstration."""


@dataclass
class Export:
    """What came of an export.

    Attributes:
        path: What was written.
        episodes: What it holds.
        rate_hz: Of it [Hz].
        cameras: In it.
        skipped: Sources that are not in it, and why.
    """

    path: Path
    episodes: list[ExportedEpisode] = field(default_factory=list)
    rate_hz: float = 0.0
    cameras: tuple[str, ...] = ()
    skipped: list[tuple[str, str]] = field(default_factory=list)

    def about(self, choice: ExportChoice, form: str) -> dict[str, Any]:
        """Returns everything that is known of it, for files."""
        return {
            'format': FORMATS[form],
            'software': f'cobalt_recorder {episode_facts.recorder_version()}',
            'rate_hz': self.rate_hz,
            'cameras': list(self.cameras),
            'choice': choice.as_json(),
            'episodes': [episode.as_json() for episode in self.episodes],
            'skipped': [{'source': source, 'reason': reason} for source, reason in self.skipped],
        }


class _Writer(Protocol):
    def add(self, frames: EpisodeFrames, shown: dict[str, Iterator[Array]], about: ExportedEpisode) -> None: ...

    def finish(self, export: Export, choice: ExportChoice) -> None: ...

    def close(self) -> None: ...


class _Lerobot:
    def __init__(self, path: Path, export: Export, robot: str) -> None:
        from cobalt_recorder.export.lerobot_writer import LerobotWriter

        self._path = path
        self._writer = LerobotWriter(path, export.rate_hz, robot, export.cameras)

    def add(self, frames: EpisodeFrames, shown: dict[str, Iterator[Array]], about: ExportedEpisode) -> None:
        self._writer.add(frames, shown, about.instruction or about.task)

    def finish(self, export: Export, choice: ExportChoice) -> None:
        self._writer.finish(sum(episode.split == 'train' for episode in export.episodes))
        card = data_card(export.path.name, FORMATS['lerobot'], choice, export.rate_hz, export.episodes)
        (self._path / 'README.md').write_text(card, encoding='utf-8')
        about = export.about(choice, 'lerobot')
        (self._path / 'meta' / ABOUT_FILE).write_text(json.dumps(about, indent=1) + '\n', encoding='utf-8')

    def close(self) -> None:
        shutil.rmtree(self._path, ignore_errors=True)


class _Robomimic:
    def __init__(self, path: Path, export: Export, robot: str) -> None:
        from cobalt_recorder.export.robomimic_writer import RobomimicWriter

        self._path = path
        self._writer = RobomimicWriter(path, export.cameras)

    def add(self, frames: EpisodeFrames, shown: dict[str, Iterator[Array]], about: ExportedEpisode) -> None:
        self._writer.add(frames, shown, about)

    def finish(self, export: Export, choice: ExportChoice) -> None:
        self._writer.finish(export.about(choice, 'robomimic'), export.rate_hz)
        card = data_card(export.path.name, FORMATS['robomimic'], choice, export.rate_hz, export.episodes)
        export.path.with_suffix('.md').write_text(card, encoding='utf-8')

    def close(self) -> None:
        self._writer.close()
        self._path.unlink(missing_ok=True)


def export_data_set(
    dataset: Path,
    output: Path,
    form: str,
    choice: ExportChoice,
    track: Callable[[Sequence[IndexedEpisode]], Iterable[IndexedEpisode]] = lambda episodes: episodes,
) -> Export:
    """Exports a data set. Nothing is left at `output` if it fails.

    Args:
        dataset: Its folder, or that of one bag.
        output: Folder (lerobot) or file (robomimic), which must not exist.
        form: One of FORMATS.
        choice: What, and how.
        track: Passes on the episodes, such as to show progress.

    Raises:
        CobaltError: Nothing fits the choice, episodes do not fit together, or it cannot be written.
    """
    output = require_new(output)
    if form == 'robomimic' and output.suffix not in ('.hdf5', '.h5'):
        raise CobaltError(f'{output} is no name of an HDF5 file: let it end in .hdf5.')
    with closing(DatasetIndex(dataset)) as index:
        chosen = _chosen(index.episodes(), choice)
    export = Export(output)
    part = output.with_name(f'.{output.name}.part')
    run = _Run(dataset.expanduser().absolute(), chosen, export, choice, form, part)
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        for episode in track(chosen):
            run.add(episode)
        writer = run.writer
        if writer is None:
            reasons = '; '.join(f'{source}: {reason}' for source, reason in export.skipped[:3])
            raise CobaltError(f'no episode could be exported. {reasons}')
        writer.finish(export, choice)
        part.rename(output)
    except OSError as error:
        run.abandon()
        raise CobaltError(f'{output} cannot be written: {error.strerror or error}') from error
    except BaseException:
        run.abandon()
        raise
    return export


def _chosen(episodes: Sequence[IndexedEpisode], choice: ExportChoice) -> list[IndexedEpisode]:
    """Returns the episodes that fit, those for training first."""
    of_tasks = [episode for episode in episodes if not choice.tasks or episode.task in choice.tasks]
    fitting = [episode for episode in of_tasks if episode.verdict in choice.verdicts]
    if not fitting:
        counts = Counter(episode.verdict for episode in of_tasks)
        there = ', '.join(f'{count} {verdict}' for verdict, count in sorted(counts.items())) or 'none'
        raise CobaltError(
            f'no episode fits: of the tasks chosen there are {there}. Choose by --verdicts and --tasks; '
            '`cobalt bag judge --write` gives a verdict to those that have none.'
        )
    valid = valid_groups([group_of(episode, choice.keep_together) for episode in fitting], choice.valid_share)
    return sorted(fitting, key=lambda episode: group_of(episode, choice.keep_together) in valid)


class _Run:
    """One export, episode after episode."""

    def __init__(
        self,
        dataset: Path,
        chosen: Sequence[IndexedEpisode],
        export: Export,
        choice: ExportChoice,
        form: str,
        part: Path,
    ) -> None:
        self._dataset, self._export, self._choice, self._form, self._part = dataset, export, choice, form, part
        self._valid = valid_groups([group_of(episode, choice.keep_together) for episode in chosen], choice.valid_share)
        operators = sorted({episode.operator_id for episode in chosen if episode.operator_id})
        self._pseudonyms = {name: f'operator_{number + 1:03d}' for number, name in enumerate(operators)}
        self.writer: _Writer | None = None

    def add(self, episode: IndexedEpisode) -> None:
        """Exports an episode, or notes why not.

        Raises:
            CobaltError: It doesn't fit to those before.
        """
        bag = find_bag(self._dataset / episode.path)
        try:
            rows = read_rows(bag, objects=self._choice.objects)
            if bag.damage:
                raise CobaltError(f'it is damaged ({bag.damage}): make it whole with `cobalt bag recover`')
        except CobaltError as error:
            self._export.skipped.append((episode.path, str(error)))
            return
        self._open(bag, rows)
        stretches = self._stretches(rows)
        if not stretches:
            self._export.skipped.append((episode.path, f'no person drove for {_LEAST_STRETCH_S:g} s'))
        sha256 = hash_of_files(bag.files)
        for number, (first, end) in enumerate(stretches):
            self._add_stretch(episode, bag, rows.stretch(first, end), number, sha256)

    def abandon(self) -> None:
        """Removes what was written so far."""
        if self.writer is not None:
            self.writer.close()

    def _stretches(self, rows: EpisodeRows) -> list[tuple[int, int]]:
        if not self._choice.human_only:
            return [(0, len(rows))]
        least = max(2, round(_LEAST_STRETCH_S * self._export.rate_hz))
        return driven_stretches(rows.human_driven, least)

    def _open(self, bag: Bag, rows: EpisodeRows) -> None:
        """Opens the writer with the first episode; the others must fit to that."""
        try:
            declared_hz = float(bag.fact(episode_facts.WORKCELL, 'control_rate_hz', '0') or 0.0)
        except ValueError:
            declared_hz = 0.0
        rate_hz = self._choice.rate_hz or declared_hz
        if not 0.0 < rate_hz <= 1000.0:
            raise CobaltError(f'{bag.file} does not tell its control rate: give one with --rate.')
        cameras = tuple(rows.frames) if self._choice.cameras is None else self._choice.cameras
        missing = sorted(set(cameras) - rows.frames.keys())
        if missing:
            raise CobaltError(
                f'{bag.folder} has no camera {missing[0]}. It has: {", ".join(rows.frames) or "none"}. '
                'Choose with --cameras.'
            )
        if self.writer is None:
            self._export.rate_hz, self._export.cameras = rate_hz, cameras
            make = _Lerobot if self._form == 'lerobot' else _Robomimic
            self.writer = make(self._part, self._export, bag.fact(episode_facts.WORKCELL, 'robot'))
        elif (rate_hz, cameras) != (self._export.rate_hz, self._export.cameras):
            raise CobaltError(
                f'the episodes do not fit together: {bag.folder} has {rate_hz:g} Hz and the cameras '
                f'{", ".join(cameras) or "none"}, those before {self._export.rate_hz:g} Hz and '
                f'{", ".join(self._export.cameras) or "none"}. Give --rate and --cameras.'
            )

    def _add_stretch(self, episode: IndexedEpisode, bag: Bag, rows: EpisodeRows, number: int, sha256: str) -> None:
        choice, export = self._choice, self._export
        sampling = every_row(len(rows)) if choice.every_row else on_grid(rows.stamp_ns, export.rate_hz)
        frames = episode_frames(rows, sampling, action=choice.action, cameras=export.cameras, rate_hz=export.rate_hz)
        span_s = float(rows.stamp_ns[-1] - rows.stamp_ns[0]) / 1e9
        about = ExportedEpisode(
            index=len(export.episodes),
            source=episode.path,
            sha256=sha256,
            episode_id=episode.episode_id,
            segment=number,
            first_step=int(rows.ticks[0, 0]),
            last_step=int(rows.ticks[-1, 0]),
            frames=len(frames),
            task=episode.task,
            instruction=episode.instruction,
            operator=self._pseudonyms.get(episode.operator_id, '') if choice.pseudonyms else episode.operator_id,
            seed=episode.seed,
            policy_id=episode.policy_id,
            outcome=episode.outcome,
            verdict=episode.verdict,
            split='valid' if group_of(episode, choice.keep_together) in self._valid else 'train',
            achieved_rate_hz=(len(rows) - 1) / span_s if span_s > 0.0 else 0.0,
            workcell=dict(bag.facts.get(episode_facts.WORKCELL, {})),
            calibration=rows.calibration,
        )
        shown = {
            camera: pictures(bag, camera, np.maximum.accumulate(frames.shown_ns[camera]), choice.size)
            for camera in export.cameras
        }
        assert self.writer is not None
        self.writer.add(frames, shown, about)
        export.episodes.append(about)
