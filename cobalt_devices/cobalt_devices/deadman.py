"""A deadman switch that is heard over a topic: silence lets go, and so does any publisher that says so."""

import time
from collections.abc import Callable
from dataclasses import dataclass

_MOST_PUBLISHERS = 16


@dataclass
class _Voice:
    """What one publisher said last and when, and whether it has been released since it last counted as pressed."""

    down: bool = False
    heard_s: float = float('-inf')
    released: bool = False
    silent: bool = False


class Deadman:
    """A switch that has to be heard again and again.

    It is pressed while every publisher that is heard says so. Each of them must have said before that it is released:
    the first word of a new one presses nothing, nor does one that is heard again after a silence, nor one that went on
    while another let go.

    Args:
        timeout_s: Silence that counts as released [s].
        now_s: Monotonic clock [s].
    """

    def __init__(self, timeout_s: float, now_s: Callable[[], float] = time.monotonic) -> None:
        self._timeout_s = timeout_s
        self._now_s = now_s
        self._voices: dict[bytes, _Voice] = {}
        self._pressed = False
        self._presses = 0
        self._pressed_s = float('-inf')

    def hear(self, down: bool, publisher: bytes = b'') -> None:
        """Takes what a publisher of the switch says."""
        self._look_for_silence()
        voice = self._voices.setdefault(publisher, _Voice())
        voice.down, voice.heard_s, voice.silent = down, self._now_s(), False
        voice.released = voice.released or not down
        heard = self._heard
        if not all(other.down for other in heard):
            self._pressed = False
        elif not self._pressed and all(other.released for other in heard):
            self._pressed = True
            self._presses += 1
            self._pressed_s = voice.heard_s
            for other in heard:
                other.released = False
        if len(self._voices) > _MOST_PUBLISHERS:
            del self._voices[min(self._voices, key=lambda name: self._voices[name].heard_s)]

    @property
    def pressed(self) -> bool:
        """It is pressed, and was heard lately."""
        self._look_for_silence()
        return self._pressed

    @property
    def presses(self) -> int:
        """How often it was pressed."""
        return self._presses

    @property
    def pressed_for_s(self) -> float:
        """How long ago it was pressed last [s]."""
        return self._now_s() - self._pressed_s

    @property
    def objection(self) -> str:
        """Why it does not count as pressed though somebody says that it is; empty if it counts, or if nobody does."""
        self._look_for_silence()
        heard = self._heard
        if self._pressed or not any(voice.down for voice in heard):
            return ''
        if not all(voice.down for voice in heard):
            return 'one of its publishers says that it is released'
        return 'release it, then press again'

    @property
    def _heard(self) -> list[_Voice]:
        return [voice for voice in self._voices.values() if not voice.silent]

    def _look_for_silence(self) -> None:
        now_s = self._now_s()
        fell_silent = [voice for voice in self._heard if now_s - voice.heard_s > self._timeout_s]
        for voice in fell_silent:
            voice.silent = True
        if fell_silent:
            self._pressed = False
            for voice in self._voices.values():
                voice.released = voice.released and not voice.down
