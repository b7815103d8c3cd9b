"""The accepted episodes of a task: what is usual in them, so that the unusual can be told."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

_NORMAL = 1.4826
"""Of a normal distribution, the standard deviation divided by the median absolute deviation."""

_LEAST_SHARE = 0.1
"""Of the median: smaller differences are never unusual, however alike the accepted episodes are."""


@dataclass(frozen=True)
class Spread:
    """Where a metric lies in the accepted episodes.

    Attributes:
        median: Its median.
        scale: 1.4826 times its median absolute deviation, at least 10 % of the median; a robust z-score is the distance
            from the median, divided by this. Source: B. Iglewicz, D. Hoaglin, "How to Detect and Handle Outliers".
        episodes: How many have it.
    """

    median: float
    scale: float
    episodes: int


class AcceptedEpisodes:
    """The metrics of the accepted episodes of one task.

    Args:
        episodes: The metrics of each, by name and part.
    """

    def __init__(self, episodes: Iterable[Mapping[tuple[str, str], float]]) -> None:
        self._values: dict[tuple[str, str], list[float]] = {}
        for episode in episodes:
            for key, value in episode.items():
                if math.isfinite(value):
                    self._values.setdefault(key, []).append(value)
        self._spreads: dict[tuple[str, str], Spread | None] = {}

    def spread(self, name: str, part: str) -> Spread | None:
        """Returns where a metric lies in them; None if it does not differ among them, or none has it."""
        if (name, part) not in self._spreads:
            self._spreads[name, part] = self._computed(name, part)
        return self._spreads[name, part]

    def _computed(self, name: str, part: str) -> Spread | None:
        values = np.array(self._values.get((name, part), []))
        if not values.size:
            return None
        median = float(np.median(values))
        deviation = float(np.median(np.abs(values - median)))
        scale = max(_NORMAL * deviation, _LEAST_SHARE * abs(median))
        return Spread(median, scale, len(values)) if scale > 0 else None
