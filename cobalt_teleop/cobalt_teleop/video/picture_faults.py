"""What is wrong with a camera's pictures, told once, and once that it is over."""

import threading
from collections.abc import Callable

WELL_AFTER_S = 1.0
"""Good pictures for so long end a fault [s]."""

TOLD_EVERY_S = 10.0
"""A fault is told no sooner after another one [s], however fast a camera changes its mind."""


class PictureFaults:
    """Keeps the log of one camera readable: a line for a fault, and none for each bad picture. From any thread.

    Args:
        tell: Called with a sentence, and whether it is good news.
    """

    def __init__(self, tell: Callable[[str, bool], None]) -> None:
        self._tell = tell
        self._lock = threading.Lock()
        self._fault = ''
        self._told = ''
        self._told_s = -TOLD_EVERY_S
        self._good_since_s: float | None = None

    def wrong(self, text: str, now_s: float) -> None:
        """A picture could not be shown, for this reason."""
        with self._lock:
            self._good_since_s = None
            self._fault = text
            if self._told != text and now_s - self._told_s >= TOLD_EVERY_S:
                self._told, self._told_s = text, now_s
                self._tell(text, False)

    def over(self, text: str) -> None:
        """The fault is over without a picture having been shown; told with this sentence, if the fault was."""
        with self._lock:
            if self._told:
                self._tell(text, True)
            self._fault = self._told = ''
            self._told_s = -TOLD_EVERY_S

    def good(self, now_s: float) -> None:
        """A picture was shown."""
        with self._lock:
            if not self._fault:
                return
            if self._good_since_s is None:
                self._good_since_s = now_s
            elif now_s - self._good_since_s >= WELL_AFTER_S:
                if self._told:
                    self._tell('pictures are good again', True)
                self._fault = self._told = ''
                self._good_since_s = None
