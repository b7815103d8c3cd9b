"""What a child process does before its program starts."""

import ctypes
import os
import signal

_PR_SET_PDEATHSIG = 1

_libc = ctypes.CDLL(None)


def end_with_parent(parent: int) -> None:
    """Has the kernel end this process when its parent is gone, however that ended. To be called in the child.

    Args:
        parent: Its process id, as it was before the child was made.
    """
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        os._exit(1)
