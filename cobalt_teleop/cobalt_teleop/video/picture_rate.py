"""How many pictures a second a camera makes, and how many of them are taken."""

from collections import deque

_WINDOW = 32
_ENOUGH = 8
_GAP_NS = 2_000_000_000
_LOWEST_HZ, _HIGHEST_HZ = 0.5, 240.0
_EARLY = 0.25
"""A picture may come so much of a period early and still counts: cameras are not that even."""


class RateEstimate:
    """Measures a rate by the stamps of the last pictures.

    Args:
        guess_hz: The rate until enough have come [Hz].
    """

    def __init__(self, guess_hz: float) -> None:
        self._hz = guess_hz
        self._stamps_ns: deque[int] = deque(maxlen=_WINDOW)

    @property
    def hz(self) -> float:
        """Pictures a second [Hz]."""
        return self._hz

    def note(self, stamp_ns: int) -> None:
        """A picture was taken at this time [ns]; after a gap the count begins anew."""
        if self._stamps_ns and not 0 < stamp_ns - self._stamps_ns[-1] < _GAP_NS:
            self._stamps_ns.clear()
        self._stamps_ns.append(stamp_ns)
        if len(self._stamps_ns) >= _ENOUGH:
            measured = (len(self._stamps_ns) - 1) * 1e9 / (stamp_ns - self._stamps_ns[0])
            self._hz = min(max(measured, _LOWEST_HZ), _HIGHEST_HZ)


class RateLimit:
    """Lets no more pictures pass than a rate, evenly.

    Args:
        rate_hz: At most [Hz].
    """

    def __init__(self, rate_hz: float) -> None:
        self._period_s = 1.0 / rate_hz
        self._next_s = 0.0

    def passes(self, now_s: float) -> bool:
        """Returns whether a picture that comes now is taken."""
        if now_s < self._next_s - _EARLY * self._period_s:
            return False
        self._next_s = max(self._next_s + self._period_s, now_s)
        return True
