"""Shared-memory files of Fast DDS whose process is dead.

Processes that are killed leave them behind in /dev/shm. A file is taken for dead only if no process that can be seen
maps it or has it open, and, for segments and ports, nobody holds the lock of Fast DDS on it, which is also seen across
the borders of containers.
"""

import fcntl
import os
import time
from pathlib import Path

FOLDER = Path('/dev/shm')
_PATTERNS = ('fastdds_*', 'fastrtps_*', 'fast_datasharing_*', 'sem.fastdds_*', 'sem.fastrtps_*')
_LOCKS = ('_el', '_sl')


def segments(folder: Path = FOLDER) -> set[Path]:
    """Returns all files of Fast DDS."""
    return {path for pattern in _PATTERNS for path in folder.glob(pattern)}


def _in_use(folder: Path) -> set[str]:
    """Paths below a folder that a process maps or has open."""
    used: set[str] = set()
    prefix = f'{folder}/'
    for process in Path('/proc').iterdir():
        if not process.name.isdigit():
            continue
        try:
            with (process / 'maps').open(errors='replace') as maps:
                used.update(
                    line[line.index(prefix) :].split(' (deleted)')[0].strip() for line in maps if prefix in line
                )
            used.update(
                target for entry in (process / 'fd').iterdir() if (target := str(entry.readlink())).startswith(prefix)
            )
        except OSError:
            # It ended meanwhile, or belongs to somebody else: then its files do too.
            continue
    return used


def _locked(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return path.exists()
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def _base(name: str) -> str:
    """Name of the segment or port that a lock or semaphore belongs to."""
    name = name.removeprefix('sem.').removesuffix('_mutex')
    for suffix in _LOCKS:
        name = name.removesuffix(suffix)
    return name


def dead_segments(folder: Path = FOLDER, *, older_than_s: float = 2.0) -> list[Path]:
    """Returns files of this user's dead processes.

    Args:
        folder: Where shared memory lies.
        older_than_s: Younger files may belong to a process that is just starting [s].
    """
    found = segments(folder)
    used = _in_use(folder)
    now = time.time()
    alive = {_base(path.name) for path in found if str(path) in used or (path.name.endswith(_LOCKS) and _locked(path))}
    dead = []
    for path in sorted(found):
        try:
            status = path.stat()
        except OSError:
            continue
        mine = status.st_uid == os.geteuid()
        old = now - max(status.st_mtime, status.st_ctime) >= older_than_s
        if mine and old and _base(path.name) not in alive:
            dead.append(path)
    return dead


def remove_dead(folder: Path = FOLDER, *, older_than_s: float = 2.0) -> list[Path]:
    """Removes what `dead_segments` finds, and returns it."""
    removed = dead_segments(folder, older_than_s=older_than_s)
    for path in removed:
        path.unlink(missing_ok=True)
    return removed
