"""Definitions of message types as text, as rosbag2 puts them into a bag.

The text of a type is its .msg file, then that of each type it uses, depth first and each once, set apart by a line of
80 equals signs and `MSG: package/Name`. With it a bag can be read where the packages are not installed.
"""

import re
from functools import cache
from pathlib import Path

from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

from cobalt_teleop.core.errors import CobaltError

_SEPARATOR = '=' * 80
_FIELD_TYPE = re.compile(r'^\s*([A-Za-z][\w/]*)(?:<=\d+)?(?:\[[^\]]*\])?\s+[A-Za-z]\w*')
_PRIMITIVES = {
    'bool', 'byte', 'char', 'float32', 'float64', 'int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'int64',
    'uint64', 'string', 'wstring',
}  # fmt: skip


@cache
def _own_text(package: str, name: str) -> str:
    try:
        path = Path(get_package_share_directory(package)) / 'msg' / f'{name}.msg'
        return path.read_text(encoding='utf-8')
    except (PackageNotFoundError, OSError) as error:
        raise CobaltError(
            f'the definition of {package}/msg/{name} is not installed: {error}. '
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


@cache
def message_text(ros_type: str) -> str:
    """Returns the whole definition of a type such as `std_msgs/msg/Header`, in the encoding `ros2msg`.

    Raises:
        CobaltError: A .msg file is not installed.
    """
    package, _, name = ros_type.split('/')
    parts: list[str] = []
    seen: set[tuple[str, str]] = set()

    def add(owner: str, own_name: str) -> None:
        if (owner, own_name) in seen:
            return
        seen.add((owner, own_name))
        text = _own_text(owner, own_name)
        parts.append(f'{_SEPARATOR}\nMSG: {owner}/{own_name}\n{text}' if parts else text)
        for used in _used_types(owner, text):
            add(*used)

    add(package, name)
    return '\n'.join(parts)
