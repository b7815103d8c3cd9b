"""Nodes go ahead of other programs where the machine allows it: a tick that waits for a browser comes late."""

import os
from pathlib import Path

NICE = -10
"""Of every node; other programs have 0, and the smaller one goes first."""

_GROUP = Path('/proc/self/autogroup')
"""Linux shares out the processor among sessions first (sched(7), autogroup); the nice of a thread counts within one."""


def go_ahead() -> bool:
    """Gives the calling thread, and those that it will start, the priority of a node.

    A node that leads a session, as under `cobalt up`, has that whole session go ahead. Where it shares one, such as
    that of a terminal, it goes ahead within it alone.

    Returns:
        Whether this user may do that: root, or one for whom limits.conf allows `nice -10`.
    """
    try:
        os.setpriority(os.PRIO_PROCESS, 0, NICE)
    except PermissionError:
        return False
    if os.getsid(0) == os.getpid():
        try:
            _GROUP.write_text(str(NICE))
        except OSError:
            pass  # a kernel without such groups, or a user who may lower the thread's alone
    return True
