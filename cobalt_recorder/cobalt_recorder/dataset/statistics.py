"""What a data set holds, by task and by operator, and how operators get on over time."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from statistics import median
from typing import Any

from cobalt_recorder.dataset_index import DatasetIndex, IndexedEpisode

SPREAD_METRICS = ('duration', 'robot_path_length', 'command_sparc', 'command_jitter', 'command_idle_share', 'rate')
"""Metrics whose medians are told of each task."""


def statistics(index: DatasetIndex, episodes: Sequence[IndexedEpisode]) -> dict[str, Any]:
    """Returns the statistics of episodes.

    Args:
        index: That knows their metrics.
        episodes: In the order of time.
    """
    metrics = {episode.path: _means(index.metrics(episode.path)) for episode in episodes}
    return {
        'episodes': len(episodes),
        'hours': round(sum(episode.duration_s for episode in episodes) / 3600.0, 4),
        'bytes': sum(episode.bytes for episode in episodes),
        'outcomes': _counts(episode.outcome for episode in episodes),
        'verdicts': _counts(episode.verdict for episode in episodes),
        'tasks': [
            {'task': task, **_summary(of_task), 'medians': _medians([metrics[one.path] for one in of_task])}
            for task, of_task in _by(episodes, 'task')
        ],
        'operators': [
            {'operator': name, **_summary(of_one), 'progress': _progress(of_one, metrics)}
            for name, of_one in _by(episodes, 'operator_id')
        ],
        'reasons': dict(
            Counter(reason for episode in episodes for reason in _kinds(index.reasons(episode.path))).most_common(10)
        ),
    }


def _counts(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))


def _by(episodes: Sequence[IndexedEpisode], name: str) -> list[tuple[str, list[IndexedEpisode]]]:
    groups: dict[str, list[IndexedEpisode]] = defaultdict(list)
    for episode in episodes:
        groups[getattr(episode, name)].append(episode)
    return sorted(groups.items())


def _means(metrics: dict[tuple[str, str], float]) -> dict[str, float]:
    """Returns each metric as one figure: with two arms, their mean."""
    values: dict[str, list[float]] = defaultdict(list)
    for (name, _), value in metrics.items():
        values[name].append(value)
    return {name: sum(found) / len(found) for name, found in values.items()}


def _summary(episodes: Sequence[IndexedEpisode]) -> dict[str, Any]:
    count = len(episodes)
    return {
        'episodes': count,
        'success_share': round(sum(one.outcome == 'SUCCESS' for one in episodes) / count, 4),
        'accepted_share': round(sum(one.verdict == 'ACCEPT' for one in episodes) / count, 4),
        'median_duration_s': round(median(one.duration_s for one in episodes), 3),
        'hours': round(sum(one.duration_s for one in episodes) / 3600.0, 4),
        'outcomes': _counts(one.outcome for one in episodes),
        'verdicts': _counts(one.verdict for one in episodes),
    }


def _medians(metrics: Sequence[dict[str, float]]) -> dict[str, float]:
    found = {name: [one[name] for one in metrics if name in one] for name in SPREAD_METRICS}
    return {name: round(median(values), 5) for name, values in found.items() if values}


def _progress(episodes: Sequence[IndexedEpisode], metrics: dict[str, dict[str, float]]) -> list[dict[str, Any]]:
    """Returns what each day of an operator came to."""
    days: dict[str, list[IndexedEpisode]] = defaultdict(list)
    for episode in episodes:
        days[datetime.fromtimestamp(episode.started_ns / 1e9, UTC).date().isoformat()].append(episode)
    return [
        {
            'day': day,
            'episodes': len(of_day),
            'success_share': round(sum(one.outcome == 'SUCCESS' for one in of_day) / len(of_day), 4),
            'accepted_share': round(sum(one.verdict == 'ACCEPT' for one in of_day) / len(of_day), 4),
            'median_duration_s': round(median(one.duration_s for one in of_day), 3),
            'median_sparc': _medians([metrics[one.path] for one in of_day]).get('command_sparc'),
        }
        for day, of_day in sorted(days.items())
    ]


def _kinds(reasons: Sequence[str]) -> set[str]:
    """Returns reasons without their figures, so that like ones count together."""
    return {' '.join('…' if any(sign.isdigit() for sign in word) else word for word in one.split()) for one in reasons}
