"""How people tell each other apart: a name that nobody else has, and a colour."""

from collections import Counter
from collections.abc import Collection, Iterable

from cobalt_teleop.bridge.door.guest import Guest

COLOURS = 8
"""The page's style sheet has so many, which the colour-blind can tell apart (Okabe and Ito, 2008)."""

LONGEST_NAME = 40


def distinct_name(wanted: str, taken: Collection[str]) -> str:
    """Returns the name that a person wants, with a number behind it if somebody has it already.

    Args:
        wanted: Not empty.
        taken: Names of all others. Case does not tell two people apart.
    """
    name = ' '.join(wanted.split())[:LONGEST_NAME].rstrip()
    others = {other.casefold() for other in taken}
    number = 1
    chosen = name
    while chosen.casefold() in others:
        number += 1
        chosen = f'{name[: LONGEST_NAME - len(str(number)) - 1].rstrip()} {number}'
    return chosen


def unnamed(session_id: str, guest: Guest) -> str:
    """Returns what somebody is called who has not said a name: what he is, and a few letters of his own."""
    word = 'Operator' if guest.comes_to_drive else guest.role.value.capitalize()
    return f'{word} {session_id[:4]}'


def free_colour(taken: Iterable[int]) -> int:
    """Returns the colour that the fewest others have: 0 to `COLOURS` - 1."""
    counts = Counter(taken)
    return min(range(COLOURS), key=lambda colour: (counts[colour], colour))
