"""The bags of a data set."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from rich.console import Console
from rich.progress import track

from cobalt_teleop.core.errors import CobaltError

_Any = TypeVar('_Any')


def find_bags(path: Path) -> list[Path]:
    """Returns the folders of all bags at or below a path, sorted.

    Raises:
        CobaltError: There is none.
    """
    path = path.expanduser().absolute()
    if path.is_file():
        path = path.parent
    files = path.glob('**/*.mcap')
    # Folders with a dot in front hold what is still in the making.
    folders = sorted({file.parent for file in files if not _is_hidden(file.parent.relative_to(path))})
    if not folders:
        raise CobaltError(f'{path} holds no bag. Give the folder of a bag or of a data set.')
    return folders


def _is_hidden(path: Path) -> bool:
    return any(name.startswith('.') for name in path.parts)


def with_progress(folders: Sequence[_Any], what: str) -> Iterable[_Any]:
    """Yields folders or episodes, and shows on a terminal how many are done."""
    console = Console(stderr=True)
    return track(folders, what, console=console, transient=True, disable=not console.is_terminal)
