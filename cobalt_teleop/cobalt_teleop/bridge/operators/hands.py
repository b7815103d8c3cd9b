"""Which of an operator's pages drives an arm by a kind of device: one hand at a time.

Devices of different kinds are told apart by the host, which hears one at a time. What several pages send of one kind
comes to it as one device.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

KEPT_S = 0.5
"""A hand that says nothing for so long leaves the arm to another [s]."""


@dataclass(frozen=True)
class _Hand:
    """Whose press drives.

    Attributes:
        page: Of which it is.
        press: The page's count of its presses.
        heard_s: When it was heard last, on the monotonic clock [s].
    """

    page: str
    press: int
    heard_s: float


class Hands:
    """The hands of one session, over all its pages.

    A press that waited for another, or was overtaken while it was silent, drives no more: it has to be made again.

    Args:
        clock: Returns monotonic time [s].
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._holders: dict[tuple[str, str], _Hand] = {}
        self._barred: dict[tuple[str, str, str], int] = {}

    def may_speak(self, page: str, device: str, part: str, *, press: int | None) -> bool:
        """Returns whether a page's sample counts; one of a press keeps the others' from counting.

        Args:
            page: Which.
            device: Kind of device.
            part: Arm that it drives.
            press: The page's count of its presses while its clutch is pressed; None if it is not.
        """
        place = device, part
        self._overtake(page, place)
        holder = self._holders.get(place)
        others = holder is not None and holder.page != page
        if press is None:
            self._barred.pop((page, *place), None)
            if not others:
                self._holders.pop(place, None)
            return not others
        if others or self._barred.get((page, *place)) == press:
            self._barred[page, *place] = press
            return False
        self._holders[place] = _Hand(page, press, self._clock())
        return True

    def _overtake(self, page: str, place: tuple[str, str]) -> None:
        """Lets a page speak after another that has fallen silent."""
        holder = self._holders.get(place)
        if holder is not None and holder.page != page and self._clock() - holder.heard_s > KEPT_S:
            self._barred[holder.page, *place] = holder.press
            del self._holders[place]
