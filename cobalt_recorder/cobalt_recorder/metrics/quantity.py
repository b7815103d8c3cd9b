"""What a metric gives: a number, or why there is none."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Quantity:
    """The value of a metric.

    Attributes:
        value: In the metric's unit; NaN if there is none.
        reason: Why there is none, in words; empty if there is one.
    """

    value: float
    reason: str = ''


def unknown(reason: str) -> Quantity:
    """Returns what stands for a metric that has no value."""
    return Quantity(math.nan, reason)


def known(value: float) -> Quantity:
    """Returns a value, provided that it is finite."""
    return Quantity(float(value)) if math.isfinite(value) else unknown('the numbers are not finite')


def percentile(values: ArrayLike, percent: float, otherwise: str) -> Quantity:
    """Returns a percentile of the finite ones among some values.

    Args:
        values: (n,).
        percent: 50 for the median.
        otherwise: Why there is none, if no value is finite.
    """
    numbers = np.asarray(values, dtype=float)
    finite = numbers[np.isfinite(numbers)]
    return known(float(np.percentile(finite, percent))) if finite.size else unknown(otherwise)


def weighted_mean(found: Sequence[tuple[Quantity, float]], otherwise: str) -> Quantity:
    """Returns the mean of those that are known.

    Args:
        found: Quantities with their weights.
        otherwise: Why there is none, if there is nothing to take the mean of.
    """
    usable = [(quantity.value, weight) for quantity, weight in found if not math.isnan(quantity.value) and weight > 0]
    if not usable:
        return unknown(next((quantity.reason for quantity, _ in found if quantity.reason), otherwise))
    return known(sum(value * weight for value, weight in usable) / sum(weight for _, weight in usable))
