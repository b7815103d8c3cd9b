"""Locks on this machine, one for each workcell's name in a ROS domain: discovery takes up to seconds, a lock none.

Each can hold a note, which outlives a host that dies and is gone when one ends well.
"""

import contextlib
import fcntl
import os
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import IO

_LONGEST_NOTE = 1000

_NETWORK = Path('/proc/self/ns/net')
"""Hosts in networks of their own do not meet."""


class NameLocks:
    """What one host holds. The system gives a lock back as its process ends, however that ends."""

    def __init__(self) -> None:
        self._held: dict[str, IO[str]] = {}

    def take(self, workcell_ids: Iterable[str], domain: int) -> str:
        """Takes the locks of names in a ROS domain.

        Returns:
            The first name that another host of this user has on this machine; empty if all are taken now. Without a
            folder of this user's own nothing is locked.
        """
        folder = _own_folder()
        if folder is None:
            return ''
        network = _NETWORK.stat().st_ino if _NETWORK.exists() else 0
        for workcell_id in workcell_ids:
            file = (folder / f'{network}_{domain}_{workcell_id}.lock').open('a+', encoding='utf-8')
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                file.close()
                self._give_back()
                return workcell_id
            self._held[workcell_id] = file
        return ''

    def release(self) -> None:
        """Gives all of them back, without notes: the host ends as it should."""
        for workcell_id in self._held:
            self.write(workcell_id, '')
        self._give_back()

    def read(self, workcell_id: str) -> str:
        """Returns the note of a name; empty if there is none, or if nothing is locked."""
        if workcell_id not in self._held:
            return ''
        self._held[workcell_id].seek(0)
        return self._held[workcell_id].read(_LONGEST_NOTE)

    def write(self, workcell_id: str, note: str) -> None:
        """Replaces the note of a name. What cannot be written is lost: there is nobody to tell it to."""
        if workcell_id in self._held:
            with contextlib.suppress(OSError):
                self._held[workcell_id].truncate(0)
                self._held[workcell_id].write(note)
                self._held[workcell_id].flush()

    def _give_back(self) -> None:
        for file in self._held.values():
            file.close()
        self._held.clear()


def _own_folder() -> Path | None:
    """Returns the folder of the locks, which nobody else can have made; None if there is no such place."""
    folder = Path(tempfile.gettempdir()) / f'cobalt-hosts-{os.getuid()}'
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return None
    own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077
    return folder if own else None
