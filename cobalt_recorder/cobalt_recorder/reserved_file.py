"""A file with some disk space put aside, so that a full disk still lets its end be written."""

import contextlib
import errno
import fcntl
import os
import tempfile
import threading
import time
import zlib
from io import RawIOBase
from pathlib import Path
from typing import Any

_FRESH_S = 10.0
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


class ReservedFile(RawIOBase):
    """A new file for writing. When the disk is full, its reserve is released and `full` becomes true.

    The reserve is an unlinked file: it has no name, and goes with the process whatever ends it; so does the lock by
    which `being_written` knows a file that somebody still writes. `crc` is the CRC-32 of all that was written.

    Args:
        path: Must not exist.
        reserve_bytes: Space put aside for what must be written after the disk has run full.

    Raises:
        OSError: The file cannot be made, or the reserve doesn't fit.
    """

    def __init__(self, path: Path, *, reserve_bytes: int) -> None:
        super().__init__()
        self.full = False
        self.crc = 0
        self._path = path
        self._reserve: int | None = None
        self._syncing = threading.Lock()
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        self._position = 0
        with contextlib.suppress(OSError):
            # A file system without locks takes recordings all the same.
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        try:
            self._reserve, name = tempfile.mkstemp(dir=path.parent, prefix='.reserve-')
            Path(name).unlink()
            os.posix_fallocate(self._reserve, 0, reserve_bytes)
        except OSError:
            self.close()
            path.unlink(missing_ok=True)
            raise

    def writable(self) -> bool:
        """Returns true."""
        return True

    def tell(self) -> int:
        """Returns how many bytes were written."""
        return self._position

    def write(self, data: Any) -> int:
        """Writes all of `data`, from the reserve if need be.

        Raises:
            OSError: It could not be written.
        """
        rest = memoryview(data).cast('B')
        size = len(rest)
        while rest:
            try:
                written = os.write(self._descriptor, rest)
            except OSError as error:
                if error.errno not in _NO_SPACE or self._reserve is None:
                    raise
                self.full = True
                self.release()
                continue
            self.crc = zlib.crc32(rest[:written], self.crc)
            rest = rest[written:]
            self._position += written
        return size

    def sync(self) -> None:
        """Makes what was written durable. Safe in another thread than the one that writes and closes.

        Raises:
            OSError: It could not be made durable.
        """
        with self._syncing:
            if not self.closed:
                os.fdatasync(self._descriptor)

    def interference(self) -> str:
        """Returns in words what somebody else did to the file; empty if nothing."""
        own = os.fstat(self._descriptor)
        try:
            named = self._path.stat()
        except OSError:
            named = None
        if named is None or (named.st_dev, named.st_ino) != (own.st_dev, own.st_ino):
            return f'{self._path} was removed or moved while it was being written'
        if own.st_size < self._position:
            return f'{self._path} was cut short while it was being written'
        return ''

    def release(self) -> None:
        """Gives the reserve back to the disk."""
        if self._reserve is not None:
            os.close(self._reserve)
            self._reserve = None

    def close(self) -> None:
        """Closes the file and gives the reserve back."""
        with self._syncing:
            if not self.closed:
                self.release()
                os.close(self._descriptor)
            super().close()


def being_written(path: Path) -> bool:
    """Tells whether a living process still writes a file as a ReservedFile.

    Where files cannot be locked, one that changed in the last seconds counts as being written.
    """
    with path.open('rb') as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return time.time() - path.stat().st_mtime < _FRESH_S
    return False
