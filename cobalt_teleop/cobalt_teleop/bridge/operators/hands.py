"""Which of an operator's pages drives an arm by a kind of device: one hand at a time."""

import time
from collections.abc import Callable

KEPT_S = 0.5
"""A hand that says nothing for so long has let go [s]."""


class Hands:
    """The hands of one session, over all its pages.

    Args:
        clock: Returns monotonic time [s].
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._holders: dict[tuple[str, str], tuple[object, float]] = {}

    def may_speak(self, page: object, device: str, part: str, *, engaged: bool) -> bool:
        """Returns whether a page's sample counts; one that is engaged keeps the others' from counting.

        Args:
            page: Which.
            device: Kind of device.
            part: Arm that it drives.
            engaged: Its clutch is pressed.
        """
        now_s = self._clock()
        holder, heard_s = self._holders.get((device, part), (page, now_s))
        if holder is not page and now_s - heard_s <= KEPT_S:
            return False
        if engaged:
            self._holders[device, part] = page, now_s
        else:
            self._holders.pop((device, part), None)
        return True
