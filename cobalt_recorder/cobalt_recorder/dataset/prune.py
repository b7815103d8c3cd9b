"""Removes episodes for good, and writes down which. Nothing else in Cobalt removes a recording."""

import json
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cobalt_recorder.bag_files import files_of_bag
from cobalt_recorder.dataset_index import IndexedEpisode
from cobalt_recorder.reserved_file import being_written

PRUNED_FILE = 'pruned.jsonl'
"""In the data set: one line for each episode that was removed."""


@dataclass(frozen=True)
class Pruned:
    """What came of it.

    Attributes:
        removed: Episodes that are gone.
        bytes: Freed.
        kept: Episodes that stay, and why.
    """

    removed: list[IndexedEpisode]
    bytes: int
    kept: list[tuple[IndexedEpisode, str]]


def prune(dataset: Path, episodes: Sequence[tuple[IndexedEpisode, list[str]]]) -> Pruned:
    """Removes the bags of episodes.

    An episode that is being recorded stays. Files of others in a bag's folder stay, and so does the folder then.

    Args:
        dataset: Folder of the data set.
        episodes: Of it, each with the reasons of its verdict.

    Raises:
        OSError: The list of what was removed cannot be written; what is not on it was not removed.
    """
    removed: list[IndexedEpisode] = []
    kept: list[tuple[IndexedEpisode, str]] = []
    freed = 0
    with (dataset / PRUNED_FILE).open('a', encoding='utf-8') as journal:
        for episode, reasons in episodes:
            folder = dataset / episode.path
            try:
                files = files_of_bag(folder)
                if any(being_written(file) for file in files if file.suffix == '.mcap'):
                    kept.append((episode, 'it is being recorded'))
                    continue
                size = sum(file.stat().st_size for file in files)
                journal.write(_line(episode, reasons))
                journal.flush()
                # metadata.yaml last: while it is there, the rest is still known to be of an episode.
                for file in sorted(files, key=lambda file: file.suffix == '.yaml'):
                    file.unlink()
            except OSError as error:
                kept.append((episode, error.strerror or str(error)))
                continue
            removed.append(episode)
            freed += size
            with suppress(OSError):
                folder.rmdir()
    return Pruned(removed, freed, kept)


def _line(episode: IndexedEpisode, reasons: list[str]) -> str:
    content = {
        'removed_ns': time.time_ns(),
        'path': episode.path,
        'episode_id': episode.episode_id,
        'task': episode.task,
        'operator_id': episode.operator_id,
        'seed': episode.seed,
        'outcome': episode.outcome,
        'verdict': episode.verdict,
        'reasons': reasons,
    }
    return json.dumps(content) + '\n'
