"""Which rows an export takes: the policy of resampling. ExportChoice.resampling says it in words."""

from dataclasses import dataclass

import numpy as np

from cobalt_recorder.metrics.step_table import Array


@dataclass(frozen=True)
class Sampling:
    """Rows for n frames.

    Attributes:
        observed: (n,) Row whose state is observed.
        acted: (n,) Row whose action is the action.
    """

    observed: Array
    acted: Array


def every_row(count: int) -> Sampling:
    """Takes each of `count` rows once."""
    rows = np.arange(count)
    return Sampling(rows, rows)


def on_grid(stamp_ns: Array, rate_hz: float) -> Sampling:
    """Takes rows at the instants of a grid that begins with the first row.

    Args:
        stamp_ns: (m,) Rising stamps of the rows [ns].
        rate_hz: Of the grid [Hz].
    """
    period_ns = 1e9 / rate_hz
    # The last row has an instant of its own if it lies past the middle between two.
    count = int(np.floor((stamp_ns[-1] - stamp_ns[0]) / period_ns + 0.5)) + 1
    instants = stamp_ns[0] + np.arange(count + 1) * period_ns
    after = np.searchsorted(stamp_ns, instants).clip(1, max(1, len(stamp_ns) - 1))
    before = after - 1
    if len(stamp_ns) == 1:
        return Sampling(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64))
    nearest = np.where(instants - stamp_ns[before] <= stamp_ns[after] - instants, before, after)
    observed = nearest[:-1]
    return Sampling(observed, np.maximum(observed, nearest[1:] - 1))


def driven_stretches(driven: Array, least: int) -> list[tuple[int, int]]:
    """Returns the runs of true rows as (first, behind the last), those of at least so many rows.

    Args:
        driven: (m,) of bool.
        least: Rows of the shortest run.
    """
    edges = np.flatnonzero(np.diff(np.concatenate(([0], driven.astype(np.int8), [0]))))
    pairs = zip(edges[::2], edges[1::2], strict=True)
    return [(int(first), int(end)) for first, end in pairs if end - first >= least]
