from pathlib import Path

import pytest
from ament_index_python.packages import get_package_share_directory
from rosbags.typesys import get_types_from_msg

from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.ros.interface_text import message_text, service_texts

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


def test_request_and_response_of_a_service_have_texts_of_their_own():
    request, response = service_texts('cobalt_interfaces/srv/AcquireControl')
    asked = get_types_from_msg(request, 'cobalt_interfaces/msg/Request')['cobalt_interfaces/msg/Request'][1]
    answered = get_types_from_msg(response, 'cobalt_interfaces/msg/Response')['cobalt_interfaces/msg/Response'][1]
    assert [name for name, _ in asked] == ['workcell_id', 'session_id', 'operator_id', 'parts', 'takeover', 'sources']
    assert [name for name, _ in answered] == ['ok', 'reason', 'lease_id', 'expiry', 'holder']
    assert f'{RULE}\nMSG: builtin_interfaces/Time\n' in response


def test_missing_service_is_named():
    with pytest.raises(CobaltError, match='no_such_msgs/srv/Do is not installed'):
        service_texts('no_such_msgs/srv/Do')
