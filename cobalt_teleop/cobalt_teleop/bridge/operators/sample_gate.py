"""Lets device samples through at a bounded rate, newest first, and counts what did not arrive."""

from collections.abc import Sequence
from dataclasses import dataclass

from cobalt_teleop.bridge.wire.page_messages import PageMessage

MAX_RATE_HZ = 40.0

BURST = 3
"""So many samples may pass in a row, at once, if each says something new; the rate is kept on average."""

LATE_MS = 400.0
"""A sample whose way was longer by this than the shortest of late is dropped [ms]: a network that was cut, or that
holds back what it should drop, delivers what somebody did seconds ago."""

_WAY_WINDOW_S = 5.0
_LEVELS = ('buttons', 'engaged', 'press_counts')
_EARLY_S = 1e-3


@dataclass(frozen=True)
class LinkCounts:
    """What came since the counts were last taken.

    Attributes:
        received: Samples.
        lost: Samples that were sent and did not arrive, by their sequence, or arrived too late to be of use.
        jitter_ms: Smoothed change of the samples' way between two arrivals [ms] (RFC 3550, section 6.4.1).
    """

    received: int
    lost: int
    jitter_ms: float


def combined(counts: Sequence[LinkCounts]) -> LinkCounts:
    """Returns the counts of several devices of one page, whose samples share a link."""
    return LinkCounts(
        sum(one.received for one in counts),
        sum(one.lost for one in counts),
        max((one.jitter_ms for one in counts if one.received), default=0.0),
    )


class SampleGate:
    """The way of one page's samples.

    A bucket of `BURST` tokens fills at the rate, and each sample that passes takes one. A sample with a key newly
    pressed or let go needs one token, and so passes at once; one that repeats what is known waits until the bucket is
    full, 25 ms after the last. Of those that wait, the newest passes. Every sample holds levels and counts, so that one
    left out costs nothing but its moment. One that comes much later than its like is dropped.
    """

    def __init__(self, rate_hz: float = MAX_RATE_HZ) -> None:
        self._rate_hz = rate_hz
        self._tokens = float(BURST)
        self._filled_s = float('-inf')
        self._passed: tuple[object, ...] | None = None
        self._waiting: PageMessage | None = None
        self._due_s = float('inf')
        self._newest = -1
        self._received = 0
        self._lost = 0
        self._jitter_ms = 0.0
        self._way_ms: float | None = None
        self._shortest = _ShortestWay()

    def hear(self, sample: PageMessage, now_s: float) -> bool:
        """Counts a sample; returns whether it is of use: newer than all before, and not late."""
        sequence = sample['sequence']
        if sequence <= self._newest:
            return False
        if self._newest >= 0:
            self._lost += sequence - self._newest - 1
        self._newest = sequence
        way_ms = now_s * 1000.0 - sample['device_ms']
        if way_ms > self._shortest.of_late(way_ms, now_s) + LATE_MS:
            self._lost += 1
            return False
        self._received += 1
        if self._way_ms is not None:
            self._jitter_ms += (abs(way_ms - self._way_ms) - self._jitter_ms) / 16.0
        self._way_ms = way_ms
        return True

    def offer(self, sample: PageMessage, now_s: float) -> float | None:
        """Takes a sample that was heard.

        Returns:
            Seconds until `take` will give one, 0 for at once; None if there is nothing new to wait for.
        """
        self._waiting = sample
        needed = BURST if _levels(sample) == self._passed else 1
        due_s = now_s + max(0.0, needed - self._tokens_at(now_s)) / self._rate_hz
        if due_s >= self._due_s:
            return None
        self._due_s = due_s
        return due_s - now_s

    def take(self, now_s: float) -> PageMessage | None:
        """Returns the newest sample if its turn has come."""
        sample = self._waiting
        if sample is None or now_s < self._due_s - _EARLY_S:
            return None
        self._tokens = max(0.0, self._tokens_at(now_s) - 1.0)
        self._filled_s = now_s
        self._passed = _levels(sample)
        self._waiting = None
        self._due_s = float('inf')
        return sample

    def _tokens_at(self, now_s: float) -> float:
        return min(float(BURST), self._tokens + (now_s - self._filled_s) * self._rate_hz)

    def take_counts(self) -> LinkCounts:
        """Returns the counts since the last call."""
        counts = LinkCounts(self._received, self._lost, self._jitter_ms)
        self._received = self._lost = 0
        return counts


class _ShortestWay:
    """The shortest way of the last five to ten seconds; the clocks' offset is in it, and stays in all of them."""

    def __init__(self) -> None:
        self._since_s = float('-inf')
        self._before_ms = self._now_ms = float('inf')

    def of_late(self, way_ms: float, now_s: float) -> float:
        """Takes a way and returns the shortest [ms]."""
        age_s = now_s - self._since_s
        if age_s > _WAY_WINDOW_S:
            self._before_ms = self._now_ms if age_s <= 2 * _WAY_WINDOW_S else float('inf')
            self._now_ms, self._since_s = float('inf'), now_s
        self._now_ms = min(self._now_ms, way_ms)
        return min(self._before_ms, self._now_ms)


def _levels(sample: PageMessage) -> tuple[object, ...]:
    return tuple(sample[name] for name in _LEVELS)
