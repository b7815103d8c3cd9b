"""When a picture was taken, also where the driver says nothing, or nothing that can be used."""

from collections.abc import Callable

CLOCK_LIMIT_NS = 5_000_000_000
"""A stamp further from the arrival is of another clock [ns]."""


class CaptureTime:
    """Gives each picture of one camera a stamp of this machine's clock, each later than the one before.

    Args:
        tell: Called with a sentence, once for each thing that is wrong with the driver's stamps.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._told: set[str] = set()
        self._newest_ns = 0

    def of(self, header_ns: int, arrival_ns: int) -> int:
        """Returns when a picture was taken [ns].

        Args:
            header_ns: What the driver says; 0 for nothing.
            arrival_ns: When the picture arrived here.
        """
        stamp_ns = header_ns
        if header_ns == 0:
            stamp_ns = self._arrival(arrival_ns, 'without stamps', 'come without stamps')
        elif abs(header_ns - arrival_ns) > CLOCK_LIMIT_NS:
            apart_s = (header_ns - arrival_ns) / 1e9
            stamp_ns = self._arrival(
                arrival_ns, 'another clock', f"have stamps of another clock, {apart_s:+.0f} s from this machine's"
            )
        elif header_ns <= self._newest_ns:
            stamp_ns = self._arrival(arrival_ns, 'not rising', 'have stamps that do not rise')
        self._newest_ns = max(stamp_ns, self._newest_ns + 1)
        return self._newest_ns

    def _arrival(self, arrival_ns: int, what: str, text: str) -> int:
        if what not in self._told:
            self._told.add(what)
            self._tell(f'pictures {text}: the time of their arrival stands for that of their capture')
        return arrival_ns
