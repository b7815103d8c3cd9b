from pathlib import Path

import pytest
from ament_index_python.packages import get_package_share_directory
from rosbags.typesys import get_types_from_msg

from cobalt_recorder.message_text import message_text
from cobalt_teleop.core.errors import CobaltError

RULE = '=' * 80


def installed(package, name):
    return (Path(get_package_share_directory(package)) / 'msg' / f'{name}.msg').read_text()


def test_type_without_dependencies_is_its_file():
    assert message_text('std_msgs/msg/String') == installed('std_msgs', 'String')


def test_dependencies_follow_depth_first_and_once():
    expected = '\n'.join(
        [
            installed('geometry_msgs', 'PoseStamped'),
            f'{RULE}\nMSG: std_msgs/Header\n{installed("std_msgs", "Header")}',
            f'{RULE}\nMSG: builtin_interfaces/Time\n{installed("builtin_interfaces", "Time")}',
            f'{RULE}\nMSG: geometry_msgs/Pose\n{installed("geometry_msgs", "Pose")}',
            f'{RULE}\nMSG: geometry_msgs/Point\n{installed("geometry_msgs", "Point")}',
            f'{RULE}\nMSG: geometry_msgs/Quaternion\n{installed("geometry_msgs", "Quaternion")}',
        ]
    )
    assert message_text('geometry_msgs/msg/PoseStamped') == expected


def test_each_used_type_appears_once_and_an_independent_parser_knows_them_all():
    text = message_text('cobalt_interfaces/msg/ControlStep')
    names = [line.removeprefix('MSG: ') for line in text.splitlines() if line.startswith('MSG: ')]
    assert len(names) == len(set(names))
    parsed = get_types_from_msg(text, 'cobalt_interfaces/msg/ControlStep')
    assert {name.replace('/msg/', '/') for name in parsed} == {*names, 'cobalt_interfaces/ControlStep'}


def test_missing_type_is_named():
    with pytest.raises(CobaltError, match='no_such_msgs/msg/Thing is not installed'):
        message_text('no_such_msgs/msg/Thing')
