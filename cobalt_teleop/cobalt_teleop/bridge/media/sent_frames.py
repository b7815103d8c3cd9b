"""The frames that one viewer was sent lately, by the number under which he knows them."""

from collections import OrderedDict

_REMEMBERED = 256


class SentFrames:
    """Capture times of one camera's frames, across all connections of a page.

    A page names a frame by its RTP timestamp, or by the number of its unit, whichever road it came.
    """

    def __init__(self) -> None:
        self._stamps: OrderedDict[int, int] = OrderedDict()
        self.newest_ns: int | None = None
        """Capture time of the frame sent last [ns]; a screen can show none that is newer."""
        self._units = 0

    def next_unit(self) -> int:
        """Returns the number of the next unit: of a page's units no two have the same."""
        self._units = (self._units + 1) % 2**32
        return self._units

    def note(self, frame_id: int, stamp_ns: int) -> None:
        """Notes that a frame was sent."""
        self._stamps[frame_id] = stamp_ns
        self.newest_ns = stamp_ns
        while len(self._stamps) > _REMEMBERED:
            self._stamps.popitem(last=False)

    def stamp_of(self, frame_id: int) -> int | None:
        """Returns the capture time [ns] of a frame, if it was sent lately."""
        return self._stamps.get(frame_id)
