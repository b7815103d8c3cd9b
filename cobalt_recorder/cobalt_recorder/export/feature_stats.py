"""Statistics of features as LeRobot keeps them: min, max, mean, std, count, and quantiles."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cobalt_recorder.metrics.step_table import Array

_QUANTILES = {'q01': 0.01, 'q10': 0.1, 'q50': 0.5, 'q90': 0.9, 'q99': 0.99}
_PICTURES = 40
"""So many pictures of an episode tell their statistics."""

Stats = dict[str, Array]


def of_values(values: Array) -> Stats:
    """Returns the statistics of each element.

    Args:
        values: (n, d)
    """
    values = np.asarray(values, dtype=np.float64)
    return {
        'min': values.min(axis=0),
        'max': values.max(axis=0),
        'mean': values.mean(axis=0),
        'std': values.std(axis=0),
        'count': np.array([len(values)]),
        **{name: np.quantile(values, share, axis=0) for name, share in _QUANTILES.items()},
    }


class PictureStats:
    """Statistics of the channels of an episode's pictures, of some of them.

    Args:
        count: How many pictures there will be.
    """

    def __init__(self, count: int) -> None:
        self._wanted = set(np.linspace(0, count - 1, min(count, _PICTURES)).astype(int).tolist())
        self._seen = 0
        self._pixels: list[Array] = []

    def note(self, picture: Array) -> None:
        """Takes the next picture: (height, width, 3) of uint8."""
        if self._seen in self._wanted:
            self._pixels.append(picture[::4, ::4].reshape(-1, 3))
        self._seen += 1

    def stats(self) -> Stats:
        """Returns the statistics, each (3, 1, 1), of values from 0 to 1."""
        found = of_values(np.concatenate(self._pixels) / 255.0)
        shaped = {name: value.reshape(3, 1, 1) for name, value in found.items() if name != 'count'}
        return {**shaped, 'count': np.array([len(self._pixels)])}


def together(episodes: Sequence[Stats]) -> Stats:
    """Returns the statistics of all episodes: of quantiles, the mean weighted by count, as LeRobot's own."""
    counts = np.array([float(one['count'][0]) for one in episodes])
    weights = (counts / counts.sum()).reshape(-1, *([1] * episodes[0]['mean'].ndim))

    def weighted(name: str) -> Array:
        return np.asarray((np.stack([one[name] for one in episodes]) * weights).sum(axis=0))

    mean = weighted('mean')
    spread = np.stack([one['std'] ** 2 + (one['mean'] - mean) ** 2 for one in episodes])
    return {
        'min': np.stack([one['min'] for one in episodes]).min(axis=0),
        'max': np.stack([one['max'] for one in episodes]).max(axis=0),
        'mean': mean,
        'std': np.sqrt((spread * weights).sum(axis=0)),
        'count': np.array([int(counts.sum())]),
        **{name: weighted(name) for name in _QUANTILES},
    }


def as_lists(stats: Stats) -> dict[str, Any]:
    """Returns them as plain lists."""
    return {name: value.tolist() for name, value in stats.items()}
