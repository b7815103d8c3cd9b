"""A terminal whose keys arrive one by one and unseen, and that is given back as it was, whatever happens."""

import atexit
import os
import select
import sys
import termios
from typing import Any

from cobalt_teleop.core.errors import CobaltError


class TtyInput:
    """Reads keys from standard input until `close`. Ctrl-C stays a signal.

    Raises:
        CobaltError: Standard input is no terminal.
    """

    def __init__(self) -> None:
        if not sys.stdin.isatty():
            raise CobaltError(
                "backend 'terminal' reads keys from a terminal, and standard input is none: "
                "start keyboard_node by hand in a terminal, or use the backend 'page'."
            )
        self._descriptor = sys.stdin.fileno()
        self._before: list[Any] | None = termios.tcgetattr(self._descriptor)
        atexit.register(self.close)
        changed = termios.tcgetattr(self._descriptor)
        changed[3] &= ~(termios.ICANON | termios.ECHO)
        termios.tcsetattr(self._descriptor, termios.TCSADRAIN, changed)

    def read(self, timeout_s: float) -> str | None:
        """Returns what was typed within a time, '' if nothing, None if the terminal is gone."""
        ready, _, _ = select.select([self._descriptor], [], [], timeout_s)
        if not ready:
            return ''
        try:
            typed = os.read(self._descriptor, 256)
        except OSError:
            return None
        return typed.decode(errors='ignore') if typed else None

    def close(self) -> None:
        """Gives the terminal back as it was."""
        if self._before is not None:
            before, self._before = self._before, None
            try:
                termios.tcsetattr(self._descriptor, termios.TCSANOW, before)
            except termios.error:
                # The terminal itself is gone.
                pass
            atexit.unregister(self.close)
