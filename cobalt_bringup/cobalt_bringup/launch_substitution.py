"""`$(...)` in attributes of launch files: the named part of ROS 2's substitutions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from cobalt_teleop.core.errors import CobaltError

_MAX_DEPTH = 32
_NAMES = {'var': (1, 2), 'env': (1, 2), 'find-pkg-share': (1, 1), 'dirname': (0, 0)}


class SubstitutionError(CobaltError):
    """A `$(...)` has no value, or is not known."""


@dataclass(frozen=True, kw_only=True)
class Values:
    """What substitutions are made of.

    Attributes:
        variables: Launch arguments and `let` values.
        environment: Of the processes to start.
        directory: Folder of the launch file.
        find_share: Returns the share folder of a package; may raise SubstitutionError.
    """

    variables: Mapping[str, str]
    environment: Mapping[str, str]
    directory: str
    find_share: Callable[[str], str]


def substitute(text: str, values: Values) -> str:
    """Returns a text with each `$(...)` replaced.

    Raises:
        SubstitutionError: One has no value, or is not known, or is not closed.
    """
    return ''.join(part for _, part in fragments(text, values))


def fragments(text: str, values: Values) -> list[tuple[bool, str]]:
    """Returns the pieces of a text: (came from a `$(...)`, its value)."""
    reader = _Reader(text, values)
    pieces: list[tuple[bool, str]] = []
    plain = ''
    while not reader.at_end():
        if reader.at_substitution():
            if plain:
                pieces.append((False, plain))
                plain = ''
            pieces.append((True, reader.substitution()))
        else:
            plain += reader.character()
    return [*pieces, (False, plain)] if plain or not pieces else pieces


class _Reader:
    def __init__(self, text: str, values: Values) -> None:
        self._text = text
        self._place = 0
        self._depth = 0
        self._values = values

    def at_end(self) -> bool:
        return self._place >= len(self._text)

    def at_substitution(self) -> bool:
        return self._text.startswith('$(', self._place)

    def character(self) -> str:
        """One character of plain text; a backslash takes the next one as it is."""
        if self._text[self._place] == '\\' and self._place + 1 < len(self._text):
            self._place += 1
        self._place += 1
        return self._text[self._place - 1]

    def substitution(self) -> str:
        start = self._place
        if self._depth >= _MAX_DEPTH:
            raise SubstitutionError(f'$(...) are nested more than {_MAX_DEPTH} deep')
        self._depth += 1
        self._place += 2
        words: list[str] = []
        while not self.at_end() and self._text[self._place] != ')':
            if self._text[self._place] == ' ':
                self._place += 1
            else:
                words.append(self._word())
        if self.at_end():
            raise SubstitutionError(f"'{self._text[start:]}' is not closed: a ')' is missing")
        self._place += 1
        self._depth -= 1
        return self._value(self._text[start : self._place], words)

    def _word(self) -> str:
        quote = self._text[self._place] if self._text[self._place] in '\'"' else ''
        self._place += len(quote)
        word = ''
        while not self.at_end() and self._text[self._place] not in (quote or ' )'):
            word += self.substitution() if self.at_substitution() else self.character()
        self._place += len(quote)
        return word

    def _value(self, whole: str, words: list[str]) -> str:
        name, arguments = (words[0], words[1:]) if words else ('', [])
        if name not in _NAMES:
            known = ', '.join(f'$({known})' for known in _NAMES)
            raise SubstitutionError(f"'{whole}' is not in the part of the format that `cobalt up` reads: {known}")
        least, most = _NAMES[name]
        if not least <= len(arguments) <= most:
            raise SubstitutionError(f"'{whole}' has {len(arguments)} arguments, but takes {least} to {most}")
        values = self._values
        if name == 'dirname':
            return values.directory
        if name == 'find-pkg-share':
            return values.find_share(arguments[0])
        table, what = (values.variables, 'variable') if name == 'var' else (values.environment, 'environment variable')
        if arguments[0] in table:
            return table[arguments[0]]
        if len(arguments) == 2:
            return arguments[1]
        raise SubstitutionError(
            f"there is no {what} '{arguments[0]}'; known: {', '.join(sorted(table)[:40]) or 'none'}"
        )
