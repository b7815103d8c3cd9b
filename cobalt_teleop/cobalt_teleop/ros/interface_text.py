"""Definitions of messages and services as text, as rosbag2 puts them into a bag and Foxglove reads them.

The text of a type is its .msg file, then that of each type it uses, depth first and each once, set apart by a line of
80 equals signs and `MSG: package/Name`. With it the bytes can be read where the packages are not installed.
"""

import re
from functools import cache
from pathlib import Path

from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

from cobalt_teleop.core.errors import CobaltError

_SEPARATOR = '=' * 80
_FIELD_TYPE = re.compile(r'^\s*([A-Za-z][\w/]*)(?:<=\d+)?(?:\[[^\]]*\])?\s+[A-Za-z]\w*')
_HALVES = re.compile(r'^---[ \t]*$\n?', re.MULTILINE)
_PRIMITIVES = {
    'bool', 'byte', 'char', 'float32', 'float64', 'int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'int64',
    'uint64', 'string', 'wstring',
}  # fmt: skip


@cache
def _own_text(package: str, kind: str, name: str) -> str:
    try:
        path = Path(get_package_share_directory(package)) / kind / f'{name}.{kind}'
        return path.read_text(encoding='utf-8')
    except (PackageNotFoundError, OSError) as error:
        raise CobaltError(
            f'the definition of {package}/{kind}/{name} is not installed: {error}. '
            'Install the package, or source its workspace.'
        ) from error


def _used_types(package: str, text: str) -> list[tuple[str, str]]:
    used = []
    for line in text.splitlines():
        field = _FIELD_TYPE.match(line)
        if field is None or field[1] in _PRIMITIVES:
            continue
        owner, _, name = field[1].rpartition('/')
        used.append((owner.removesuffix('/msg') or package, name))
    return used


def _with_used_types(package: str, text: str, *, seen: set[tuple[str, str]]) -> str:
    parts = [text]

    def add(owner: str, own_name: str) -> None:
        if (owner, own_name) in seen:
            return
        seen.add((owner, own_name))
        own_text = _own_text(owner, 'msg', own_name)
        parts.append(f'{_SEPARATOR}\nMSG: {owner}/{own_name}\n{own_text}')
        for used in _used_types(owner, own_text):
            add(*used)

    for used in _used_types(package, text):
        add(*used)
    return '\n'.join(parts)


@cache
def message_text(ros_type: str) -> str:
    """Returns the whole definition of a type such as `std_msgs/msg/Header`, in the encoding `ros2msg`.

    Raises:
        CobaltError: A .msg file is not installed.
    """
    package, _, name = ros_type.split('/')
    return _with_used_types(package, _own_text(package, 'msg', name), seen={(package, name)})


@cache
def service_texts(ros_type: str) -> tuple[str, str]:
    """Returns the whole definitions of request and response of a type such as `std_srvs/srv/Trigger`.

    Raises:
        CobaltError: A .srv or .msg file is not installed.
    """
    package, _, name = ros_type.split('/')
    request, response = _HALVES.split(_own_text(package, 'srv', name), maxsplit=1)
    return _with_used_types(package, request, seen=set()), _with_used_types(package, response, seen=set())
