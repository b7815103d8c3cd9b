"""How fast one page may speak, by all its ways together: a page in good order never comes near."""

import time
from collections.abc import Callable

from cobalt_teleop.bridge.door.limits import Bucket

BURST_S = 4.0
"""So many seconds' worth of messages may come at once, as after a gap in the network."""

SAMPLES_FACTOR = 10.0
"""Samples and pings to other messages."""

FRAGMENTS_FACTOR = 40.0
"""Fragments of video that are sent again, to other messages: two cameras of 4 Mbit/s at 20 % loss need a seventh."""

CHANGES_PER_S = 1.0
CHANGES_BURST = 8.0

MAX_AT_WORK = 100
"""So many things that a page has asked for may be at work at once."""


class PagePace:
    """Counts what a page says.

    Args:
        messages_per_s: On its WebSocket and its events channel, on average.
        clock: Returns monotonic time [s].
    """

    def __init__(self, messages_per_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._signals = Bucket(messages_per_s, messages_per_s * BURST_S)
        self._samples = Bucket(messages_per_s * SAMPLES_FACTOR, messages_per_s * SAMPLES_FACTOR * BURST_S)
        self._fragments = Bucket(messages_per_s * FRAGMENTS_FACTOR, messages_per_s * FRAGMENTS_FACTOR * BURST_S)
        self._changes = Bucket(CHANGES_PER_S, CHANGES_BURST)

    def may_say(self) -> bool:
        """Counts a message of the WebSocket or the events channel; returns whether it may be heard."""
        return self._signals.take(self._clock())

    def may_sample(self) -> bool:
        """Counts a message of the samples channel; returns whether it may be heard."""
        return self._samples.take(self._clock())

    def may_have_again(self, fragments: int) -> bool:
        """Counts a request of a channel of video units, by what it costs; returns whether it may be heard."""
        return self._fragments.take(self._clock(), max(1, fragments))

    def may_change(self) -> bool:
        """Counts a wish that costs much, such as for a new connection; returns whether it may be granted."""
        return self._changes.take(self._clock())
