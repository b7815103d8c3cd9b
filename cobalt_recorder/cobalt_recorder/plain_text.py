"""Texts of other nodes, made fit for one line of a log and for a file of facts."""

from typing import Any

LONGEST = 2000
"""Texts are cut to this many characters."""


def plain_text(text: str) -> str:
    """Returns a text on one line: bounded, spaces in place of control characters."""
    cut = text if len(text) <= LONGEST else text[: LONGEST - 1] + '…'
    return cut if cut.isprintable() else ''.join(one if one.isprintable() else ' ' for one in cut)


def make_texts_plain(message: Any) -> None:
    """Makes the texts of a message plain; of those inside messages in it, it changes nothing."""
    for name, kind in message.get_fields_and_field_types().items():
        if kind.startswith('string'):
            setattr(message, name, plain_text(getattr(message, name)))
