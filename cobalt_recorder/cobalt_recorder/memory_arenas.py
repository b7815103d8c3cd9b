"""Keeps the recorder's memory from growing with its episodes.

Each episode is written by a thread of its own. The C library gives every new thread a heap ("arena"), up to eight for
each core, and keeps each at the size of the largest episode that it has seen: 1.3 MB an episode, measured over nine
minutes. With two heaps it is a thirtieth of that.
"""

import ctypes

_M_ARENA_MAX = -8
"""From malloc.h of the GNU C library."""


def limit_arenas(count: int) -> None:
    """Has all threads share so many heaps; called before there are any. Does nothing without the GNU C library."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return
    mallopt(_M_ARENA_MAX, count)
