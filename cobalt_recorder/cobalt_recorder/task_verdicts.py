"""The verdicts of the other episodes of a task, as they lie beside a bag in <dataset>/<task>/<episode id>/."""

import heapq
from collections.abc import Iterable
from pathlib import Path

from cobalt_recorder.accepted_episodes import AcceptedEpisodes
from cobalt_recorder.metrics import catalogue
from cobalt_recorder.verdict_file import EpisodeVerdict, read_verdict

_NEWEST = 200
"""So many episodes tell what is usual; more would only take longer."""


def accepted_of(verdicts: Iterable[EpisodeVerdict]) -> AcceptedEpisodes:
    """Returns the accepted ones among some verdicts, as far as their metrics mean what they mean now."""
    return AcceptedEpisodes(
        {(metric.name, metric.part): metric.value for metric in verdict.judged.metrics}
        for verdict in verdicts
        if verdict.judged.verdict == 'ACCEPT' and verdict.metrics_version == catalogue.VERSION
    )


def accepted_beside(folder: Path, task: str) -> AcceptedEpisodes:
    """Returns the accepted episodes of a task that lie beside one of its bags, the newest ones.

    Args:
        folder: Of the bag, which itself does not count.
        task: Its name.
    """
    try:
        others = [other for other in folder.parent.iterdir() if other.name != folder.name]
    except OSError:
        others = []
    # Episodes are named by ULIDs, whose order is that of time.
    newest = heapq.nlargest(_NEWEST, others, key=lambda other: other.name)
    verdicts = (verdict for other in newest if (verdict := read_verdict(other)) is not None)
    return accepted_of(verdict for verdict in verdicts if verdict.task == task)
