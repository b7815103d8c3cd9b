"""Lets device samples through at a bounded rate, newest first, and counts what did not arrive."""

from dataclasses import dataclass

from cobalt_teleop.bridge.page_messages import PageMessage

MAX_RATE_HZ = 40.0


@dataclass(frozen=True)
class LinkCounts:
    """What came since the counts were last taken.

    Attributes:
        received: Samples.
        lost: Samples that were sent and did not arrive, by their sequence.
        jitter_ms: Smoothed change of the samples' way between two arrivals [ms] (RFC 3550, section 6.4.1).
    """

    received: int
    lost: int
    jitter_ms: float


class SampleGate:
    """The way of one page's samples.

    At most one sample in 25 ms passes; of those that come faster, the newest passes when its turn comes. Every sample
    holds levels and counts, so that one left out costs nothing but its moment.
    """

    def __init__(self, rate_hz: float = MAX_RATE_HZ) -> None:
        self._interval_s = 1.0 / rate_hz
        self._passed_s = float('-inf')
        self._waiting: PageMessage | None = None
        self._newest = -1
        self._received = 0
        self._lost = 0
        self._jitter_ms = 0.0
        self._way_ms: float | None = None

    def offer(self, sample: PageMessage, now_s: float) -> float | None:
        """Takes a sample; an older one than was seen already is dropped.

        Returns:
            Seconds until `take` will give one, 0 for at once; None if there is nothing new to wait for.
        """
        sequence = sample['sequence']
        if sequence <= self._newest:
            return None
        if self._newest >= 0:
            self._lost += sequence - self._newest - 1
        self._newest = sequence
        self._received += 1
        way_ms = now_s * 1000.0 - sample['device_ms']
        if self._way_ms is not None:
            self._jitter_ms += (abs(way_ms - self._way_ms) - self._jitter_ms) / 16.0
        self._way_ms = way_ms
        waits_already = self._waiting is not None
        self._waiting = sample
        return None if waits_already else max(0.0, self._passed_s + self._interval_s - now_s)

    def take(self, now_s: float) -> PageMessage | None:
        """Returns the newest sample whose turn has come."""
        sample, self._waiting = self._waiting, None
        if sample is not None:
            self._passed_s = now_s
        return sample

    def take_counts(self) -> LinkCounts:
        """Returns the counts since the last call."""
        counts = LinkCounts(self._received, self._lost, self._jitter_ms)
        self._received = self._lost = 0
        return counts
