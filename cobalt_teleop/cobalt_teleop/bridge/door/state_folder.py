"""The folder of what survives a restart: secrets, certificate, invitations, sessions. Its owner alone may read it."""

import contextlib
import fcntl
import os
import secrets
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from cobalt_teleop.core.errors import CobaltError

SECRET_BYTES = 32


class StateFolderError(CobaltError):
    """The folder cannot be used, or others may read what is in it."""


def default_state_dir() -> str:
    """Returns the folder that is used if none is named."""
    base = os.environ.get('XDG_STATE_HOME', '')
    return str((Path(base) if base.startswith('/') else Path.home() / '.local' / 'state') / 'cobalt')


class StateFolder:
    """Small files that are written whole or not at all.

    Args:
        path: Made, for its owner alone, if it is not there; empty for the default.

    Raises:
        StateFolderError: It cannot be made or written, or belongs to somebody else.
    """

    def __init__(self, path: str = '') -> None:
        self.path = Path(path or default_state_dir()).expanduser().absolute()
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            found = self.path.stat()
            if found.st_uid != os.geteuid():
                raise StateFolderError(
                    f"parameter 'state_dir' is {str(self.path)!r}, which belongs to another user: name one of your own"
                )
            if stat.S_IMODE(found.st_mode) & 0o077:
                self.path.chmod(0o700)
        except OSError as error:
            raise self._unusable(error) from error
        if not os.access(self.path, os.R_OK | os.W_OK | os.X_OK):
            raise StateFolderError(f"parameter 'state_dir' is {str(self.path)!r}, which cannot be written")

    def file(self, name: str) -> Path:
        """Returns where a file lies."""
        return self.path / name

    def read(self, name: str) -> bytes | None:
        """Returns what a file holds; None if there is none."""
        try:
            return self.file(name).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unusable(error) from error

    def write(self, name: str, content: bytes) -> None:
        """Puts a file in the place of the old one; a reader sees either, never a part."""
        with self._written(name, content) as new:
            new.replace(self.file(name))

    def made_once(self, name: str, content: bytes) -> bytes:
        """Returns what a file holds; `content`, which is kept from then on, if there was none."""
        found = self.read(name)
        if found is not None:
            return found
        with self._written(name, content) as new:
            try:
                # Of two processes that start at once, one is first, and both go on with what it wrote.
                os.link(new, self.file(name))
            except FileExistsError:
                pass
        return self.read(name) or content

    def secret(self, name: str) -> bytes:
        """Returns a secret of this installation, made at the first call: 32 random bytes.

        Raises:
            StateFolderError: The file does not hold one.
        """
        found = self.made_once(name, secrets.token_bytes(SECRET_BYTES))
        if len(found) != SECRET_BYTES:
            raise StateFolderError(
                f'{self.file(name)} holds {len(found)} bytes, not {SECRET_BYTES}: remove it, and a new one is made'
            )
        return found

    @contextlib.contextmanager
    def locked(self, name: str) -> Iterator[None]:
        """Keeps other processes out of a read and a write that belong together."""
        try:
            lock = os.open(self.file(f'{name}.lock'), os.O_CREAT | os.O_RDWR, 0o600)
        except OSError as error:
            raise self._unusable(error) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    @contextlib.contextmanager
    def _written(self, name: str, content: bytes) -> Iterator[Path]:
        try:
            handle, temporary = tempfile.mkstemp(prefix=f'.{name}.', dir=self.path)
            try:
                with os.fdopen(handle, 'wb') as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                yield Path(temporary)
            finally:
                Path(temporary).unlink(missing_ok=True)
        except OSError as error:
            raise self._unusable(error) from error

    def _unusable(self, error: OSError) -> StateFolderError:
        return StateFolderError(
            f'the state folder {str(self.path)!r} cannot be used ({error.strerror}): '
            "name another by the parameter 'state_dir'"
        )
