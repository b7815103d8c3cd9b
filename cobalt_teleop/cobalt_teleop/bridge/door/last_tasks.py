"""Tasks that a bridge's workcells had when it saw some last: an invitation for another lets nobody drive yet."""

import json
from collections.abc import Sequence

from cobalt_teleop.bridge.door.state_folder import StateFolder

_FILE = 'tasks.json'


def keep_tasks(folder: StateFolder, tasks: Sequence[str]) -> None:
    """Notes what can be done, for `cobalt invite`.

    Raises:
        CobaltError: It cannot be written.
    """
    folder.write(_FILE, json.dumps(list(tasks)).encode())


def kept_tasks(folder: StateFolder) -> list[str]:
    """Returns what could be done last; empty if that is not known."""
    try:
        return [str(task) for task in json.loads(folder.read(_FILE) or b'[]')]
    except (ValueError, TypeError, RecursionError):
        return []
