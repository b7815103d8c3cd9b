"""Takes folders of the server out of what operators and spectators are told, who can open none of them."""

import re
from typing import Any

from cobalt_teleop.bridge.wire.page_events import Event

_PATH = re.compile(r'(?<![\w./])/(?:[^\s/:;,]+/)+[^\s/:;,]+')

_KEPT_PARTS = 2
"""A bag's folder ends with task and episode id, by which people speak of an episode."""


def without_server_paths(event: Event) -> Event:
    """Returns an event whose paths are cut to their last two parts, such as `lift/01JABC`."""
    return {name: _cut(value, whole=name == 'uri') for name, value in event.items()}


def _cut(value: Any, *, whole: bool) -> Any:
    if isinstance(value, str):
        return _end(value) if whole else _PATH.sub(lambda found: _end(found.group()), value)
    if isinstance(value, list):
        return [_cut(one, whole=False) for one in value]
    return value


def _end(path: str) -> str:
    return '/'.join(path.rstrip('/').split('/')[-_KEPT_PARTS:]) if path else ''
