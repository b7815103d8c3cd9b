"""The index of a data set: `index.sqlite` in its folder, made of what lies beside the bags, and made anew at any time.

Tables: `episodes` (one row a bag), `metrics` (path, name, part, subject, unit, value), `reasons` (path, place, text).
An episode is read again when its metadata.yaml, verdict.json or label.json has changed.
"""

import contextlib
import math
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from cobalt_recorder.rosbag2_metadata import FILE_NAME, read_metadata
from cobalt_recorder.verdict_file import LABEL_FILE, VERDICT_FILE, EpisodeVerdict, read_label, read_verdict
from cobalt_teleop.core.errors import CobaltError

INDEX_FILE = 'index.sqlite'
_LAYOUT = 1


@dataclass(frozen=True, kw_only=True)
class IndexedEpisode:
    """What the index knows of an episode.

    Attributes:
        path: Of the bag's folder, relative to the data set.
        episode_id: ULID.
        task: Its name.
        instruction: What the operator was told.
        workcell_id: Where it was recorded.
        operator_id: Who drove.
        policy_id: What drove, if a policy did.
        robot_id: Of the robot.
        seed: Of the reset.
        started_ns: Log time of the first message [ns].
        duration_s: From the first message to the last [s].
        outcome: Name of EpisodeState.OUTCOME_*, of the label if there is one.
        outcome_source: Name of EpisodeState.OUTCOME_SOURCE_*.
        verdict: ACCEPT, REVIEW, REJECT, or UNKNOWN if nobody judged it.
        rules_hash: Of the rules that judged.
        messages: In the bag.
        bytes: Of the bag's files.
    """

    path: str
    episode_id: str
    task: str
    instruction: str
    workcell_id: str
    operator_id: str
    policy_id: str
    robot_id: str
    seed: str
    started_ns: int
    duration_s: float
    outcome: str
    outcome_source: str
    verdict: str
    rules_hash: str
    messages: int
    bytes: int


_COLUMNS = [field.name for field in fields(IndexedEpisode)]
_KINDS = {'started_ns': 'INTEGER', 'messages': 'INTEGER', 'bytes': 'INTEGER', 'duration_s': 'REAL'}
_TABLES = f"""
CREATE TABLE episodes ({', '.join(f'{name} {_KINDS.get(name, "TEXT")}' for name in _COLUMNS)},
    state TEXT, PRIMARY KEY (path));
CREATE TABLE metrics (path TEXT, name TEXT, part TEXT, subject TEXT, unit TEXT, value REAL);
CREATE TABLE reasons (path TEXT, place INTEGER, text TEXT);
CREATE INDEX metrics_by_path ON metrics (path);
CREATE INDEX reasons_by_path ON reasons (path);
PRAGMA user_version = {_LAYOUT};
"""


class DatasetIndex:
    """The index of one data set, up to date when it is made.

    Args:
        dataset: Its folder.
        rebuild: Reads every episode again.
        track: Passes on the folders that are read, such as to show progress.

    Raises:
        CobaltError: There is no data set, or its index belongs to somebody else.
    """

    def __init__(
        self,
        dataset: Path,
        *,
        rebuild: bool = False,
        track: Callable[[Sequence[Path]], Iterable[Path]] = lambda folders: folders,
    ) -> None:
        self.dataset = dataset.expanduser().absolute()
        if not self.dataset.is_dir():
            raise CobaltError(f'{self.dataset} is no folder. Give the folder of a data set.')
        self.read = 0
        """How many episodes were read, because they are new or changed."""
        self._database = self._open(rebuild=rebuild)
        try:
            self._refresh(track)
        except sqlite3.Error as error:
            self._database.close()
            raise CobaltError(
                f'{self.dataset / INDEX_FILE} cannot be brought up to date: {error}. If nothing else uses it, '
                'remove it: it is made anew.'
            ) from error

    def close(self) -> None:
        """Closes the file."""
        self._database.close()

    def episodes(self) -> list[IndexedEpisode]:
        """Returns all episodes, in the order of their ids, which is that of time."""
        rows = self._database.execute(f'SELECT {", ".join(_COLUMNS)} FROM episodes ORDER BY episode_id, path')
        return [IndexedEpisode(**dict(zip(_COLUMNS, row, strict=True))) for row in rows]

    def metrics(self, path: str) -> dict[tuple[str, str], float]:
        """Returns the metrics of an episode by name and part; those without a value are left out."""
        rows = self._database.execute('SELECT name, part, value FROM metrics WHERE path = ?', (path,))
        return {(name, part): value for name, part, value in rows}

    def reasons(self, path: str) -> list[str]:
        """Returns the reasons of an episode's verdict."""
        rows = self._database.execute('SELECT text FROM reasons WHERE path = ? ORDER BY place', (path,))
        return [text for (text,) in rows]

    def _open(self, *, rebuild: bool) -> sqlite3.Connection:
        file = self.dataset / INDEX_FILE
        if (self.dataset / FILE_NAME).exists():
            # A single bag needs no file of its own.
            return _prepared(sqlite3.connect(':memory:'), rebuild=rebuild)
        try:
            return _prepared(sqlite3.connect(file), rebuild=rebuild)
        except sqlite3.OperationalError:
            # A folder that may not be written is indexed in memory.
            return _prepared(sqlite3.connect(':memory:'), rebuild=rebuild)
        except sqlite3.DatabaseError as error:
            raise CobaltError(f'{file} is no index of a data set: {error}. Move it away.') from error

    def _refresh(self, track: Callable[[Sequence[Path]], Iterable[Path]]) -> None:
        known = dict(self._database.execute('SELECT path, state FROM episodes').fetchall())
        states = {str(folder.relative_to(self.dataset)): _state(folder) for folder in _bag_folders(self.dataset)}
        changed = [path for path, state in states.items() if known.get(path) != state]
        with self._database:
            for path in known.keys() - states.keys():
                self._forget(path)
            for folder in track([self.dataset / path for path in changed]):
                path = str(folder.relative_to(self.dataset))
                self._forget(path)
                self._learn(folder, path, states[path])
                self.read += 1

    def _forget(self, path: str) -> None:
        for table in ('episodes', 'metrics', 'reasons'):
            self._database.execute(f'DELETE FROM {table} WHERE path = ?', (path,))

    def _learn(self, folder: Path, path: str, state: str) -> None:
        verdict = read_verdict(folder)
        row = [getattr(_entry(folder, path, verdict), name) for name in _COLUMNS]
        places = ', '.join('?' * (len(row) + 1))
        self._database.execute(f'INSERT INTO episodes VALUES ({places})', [*row, state])
        if verdict is None:
            return
        self._database.executemany(
            'INSERT INTO metrics VALUES (?, ?, ?, ?, ?, ?)',
            [
                (path, metric.name, metric.part, metric.subject, metric.unit, metric.value)
                for metric in verdict.judged.metrics
                if math.isfinite(metric.value)
            ],
        )
        reasons = [(path, place, text) for place, text in enumerate(verdict.judged.reasons)]
        self._database.executemany('INSERT INTO reasons VALUES (?, ?, ?)', reasons)


def _prepared(database: sqlite3.Connection, *, rebuild: bool) -> sqlite3.Connection:
    layout = database.execute('PRAGMA user_version').fetchone()[0]
    if layout != _LAYOUT or rebuild:
        for table in ('episodes', 'metrics', 'reasons'):
            database.execute(f'DROP TABLE IF EXISTS {table}')
        database.executescript(_TABLES)
    return database


def _bag_folders(dataset: Path) -> Iterator[Path]:
    for metadata in sorted(dataset.glob(f'**/{FILE_NAME}')):
        if not any(name.startswith('.') for name in metadata.relative_to(dataset).parts):
            yield metadata.parent


def _state(folder: Path) -> str:
    """Returns what changes when the episode's files do."""
    marks = []
    for name in (FILE_NAME, VERDICT_FILE, LABEL_FILE):
        with contextlib.suppress(OSError):
            about = (folder / name).stat()
            marks.append(f'{name} {about.st_mtime_ns} {about.st_size}')
    return ', '.join(marks)


def _entry(folder: Path, path: str, verdict: EpisodeVerdict | None) -> IndexedEpisode:
    try:
        metadata: Mapping[str, Any] = read_metadata(folder)
    except (OSError, ValueError):
        metadata = {}
    facts = metadata.get('custom_data')
    facts = facts if isinstance(facts, Mapping) else {}
    label = read_label(folder)
    known = verdict if label is None else label
    outcome, source = str(facts.get('outcome', 'UNKNOWN')), str(facts.get('outcome_source', ''))
    return IndexedEpisode(
        path=path,
        episode_id=str(facts.get('episode_id') or folder.name),
        task=str(facts.get('task') or (verdict.task if verdict else '')),
        instruction=str(facts.get('instruction', '')),
        workcell_id=str(facts.get('workcell_id') or (verdict.workcell_id if verdict else '')),
        operator_id=str(facts.get('operator_id', '')),
        policy_id=str(facts.get('policy_id', '')),
        robot_id=str(facts.get('robot_id', '')),
        seed=str(facts.get('seed', '')),
        started_ns=_number(metadata, 'starting_time', 'nanoseconds_since_epoch'),
        duration_s=_number(metadata, 'duration', 'nanoseconds') / 1e9,
        outcome=known.outcome if known else outcome,
        outcome_source=known.outcome_source if known else source,
        verdict=verdict.judged.verdict if verdict else 'UNKNOWN',
        rules_hash=verdict.rules_hash if verdict else '',
        messages=_number(metadata, 'message_count'),
        bytes=sum(file.stat().st_size for file in folder.glob('*.mcap')),
    )


def _number(metadata: Any, *names: str) -> int:
    for name in names:
        metadata = metadata.get(name) if isinstance(metadata, Mapping) else None
    return metadata if isinstance(metadata, int) and abs(metadata) < 2**63 else 0
