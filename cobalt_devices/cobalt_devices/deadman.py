"""A deadman switch that is heard over a topic: silence lets go."""

import time
from collections.abc import Callable


class Deadman:
    """A switch that has to be heard again and again.

    Args:
        timeout_s: Silence that counts as released [s].
        now_s: Monotonic clock [s].
    """

    def __init__(self, timeout_s: float, now_s: Callable[[], float] = time.monotonic) -> None:
        self._timeout_s = timeout_s
        self._now_s = now_s
        self._down = False
        self._heard_s = float('-inf')
        self._presses = 0

    def hear(self, down: bool) -> None:
        """Takes what the switch says."""
        if down and not self.pressed:
            self._presses += 1
        self._down = down
        self._heard_s = self._now_s()

    @property
    def pressed(self) -> bool:
        """It is pressed, and was heard lately."""
        return self._down and self._now_s() - self._heard_s <= self._timeout_s

    @property
    def presses(self) -> int:
        """How often it was pressed; a press that came back after a silence counts anew."""
        return self._presses
