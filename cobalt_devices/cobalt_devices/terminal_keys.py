"""From the characters of a terminal to held keys, without ROS.

A terminal tells characters, not presses and releases. The first character of a key is a press: one small step. Only its
repeats, which the terminal sends while the key stays down, count as holding, until shortly after the last of them.
"""

from cobalt_devices.keyboard_mapper import KeySample
from cobalt_teleop.core.keyboard_actions import ACTIONS, BITS

REPEAT_S = 0.15
"""Characters that follow each other faster than this are repeats of a key that stays down [s].

Consoles repeat 10 to 30 times a second.
"""

HOLD_S = 0.2
"""A key counts as held until this long after its last repeat [s]."""

FIRST_REPEAT_S = 0.7
"""The first repeat comes within this time [s]. It is one more small step; a key that switches ignores it."""

QUIET_S = 1.0
"""A key that is held is never silent for so long [s]: the first repeat and slow links take less."""

_TAP_SHOWN_S = 0.4

_ESCAPE = '\x1b'
_ESCAPE_WAIT_S = 0.05
SEQUENCES = {
    '[A': 'ArrowUp', '[B': 'ArrowDown', '[C': 'ArrowRight', '[D': 'ArrowLeft', '[5~': 'PageUp', '[6~': 'PageDown',
    'OA': 'ArrowUp', 'OB': 'ArrowDown', 'OC': 'ArrowRight', 'OD': 'ArrowLeft',
}  # fmt: skip
"""What follows the escape character for keys that have no character, by the key's name in a browser."""


class TerminalKeys:
    """Keeps the state of the keys of one terminal."""

    def __init__(self) -> None:
        self._last_key = ''
        self._last_s = 0.0
        self._held_until_s: dict[int, float] = {}
        self._counts = [0] * len(ACTIONS)
        self._slow_until_s = 0.0
        self._pending = ''
        self._pending_since_s = 0.0
        self._stop = False
        self._must_rest = False
        self._last_character_s = float('-inf')
        self._tapped, self._tapped_s = 0, float('-inf')

    @property
    def must_rest(self) -> bool:
        """No key counts until none was heard for a second."""
        return self._must_rest

    def typed_within(self, seconds: float, now_s: float) -> bool:
        """Returns whether a character has come lately."""
        return now_s - self._last_character_s <= seconds

    def rest(self, now_s: float) -> None:
        """Lets go of all keys: a key that stays down counts as pressed again only once it was let go of."""
        self._must_rest = True
        self._last_character_s = now_s
        self._held_until_s.clear()
        self._slow_until_s = 0.0

    @property
    def stop(self) -> bool:
        """The operator pressed Escape."""
        return self._stop

    def feed(self, text: str, now_s: float) -> None:
        """Takes characters that the terminal sent.

        Args:
            text: May hold none, many, or a part of an escape sequence.
            now_s: Monotonic time [s].
        """
        for character in text:
            if self._pending:
                self._pending += character
                self._finish_sequence(now_s)
            elif character == _ESCAPE:
                self._pending, self._pending_since_s = character, now_s
            else:
                self._press(character.lower(), by_code=False, slow=character.isupper(), now_s=now_s)
        if self._pending == _ESCAPE and now_s - self._pending_since_s > _ESCAPE_WAIT_S:
            self._stop = True

    def sample(self, now_s: float) -> KeySample:
        """Returns the keys as they are now."""
        buttons = sum(1 << index for index, until_s in self._held_until_s.items() if now_s < until_s)
        if now_s < self._slow_until_s:
            buttons |= BITS['slow']
        return KeySample(stamp_ns=int(now_s * 1e9), buttons=buttons, press_counts=tuple(self._counts))

    def tapped(self, now_s: float) -> int:
        """Returns the bit of the key that was pressed just now, for a person to see; a tap itself lasts no time."""
        return 1 << self._tapped if now_s - self._tapped_s < _TAP_SHOWN_S else 0

    def _finish_sequence(self, now_s: float) -> None:
        body = self._pending[1:]
        if body in SEQUENCES:
            self._press(SEQUENCES[body], by_code=True, slow=False, now_s=now_s)
            self._pending = ''
        elif body.startswith(_ESCAPE):
            self._stop = True
        elif body[0] not in '[O' or (len(body) > 1 and ('@' <= body[-1] <= '~')) or len(body) > 8:
            self._pending = ''

    def _press(self, key: str, *, by_code: bool, slow: bool, now_s: float) -> None:
        quiet_s, self._last_character_s = now_s - self._last_character_s, now_s
        if self._must_rest and quiet_s < QUIET_S:
            return
        self._must_rest = False
        for index, action in enumerate(ACTIONS):
            if key not in (action.codes if by_code else action.characters):
                continue
            if slow:
                self._slow_until_s = now_s + HOLD_S
            gap_s = now_s - self._last_s
            is_repeat = key == self._last_key and gap_s < (REPEAT_S if action.axis is not None else FIRST_REPEAT_S)
            self._last_key, self._last_s = key, now_s
            if not is_repeat:
                self._counts[index] += 1
                self._tapped, self._tapped_s = index, now_s
            elif action.axis is not None:
                self._held_until_s[index] = now_s + HOLD_S
