"""Bounds on the texts of service requests: they go on into topics, bags, logs and pages."""

from typing import Any

from cobalt_teleop.core.errors import CobaltError

_LONGEST = {'note': 2000, 'instruction': 500, 'reason': 500}
_LONGEST_NAME = 128


def check_texts(request: Any) -> None:
    """Looks at every text of a request.

    Raises:
        CobaltError: One is too long, or holds control characters.
    """
    for name in request.get_fields_and_field_types():
        value = getattr(request, name)
        for text in value if isinstance(value, list) else (value,):
            if not isinstance(text, str):
                continue
            longest = _LONGEST.get(name, _LONGEST_NAME)
            if len(text) > longest:
                raise CobaltError(f'{name} has {len(text)} characters, but at most {longest} are taken')
            if not text.isprintable():
                raise CobaltError(f'{name} holds control characters: {text[:40]!r}')


def printable_name(text: str) -> str:
    """Returns a text that passes as a name: without control characters, and cut."""
    return ''.join(character for character in text if character.isprintable())[:_LONGEST_NAME]
