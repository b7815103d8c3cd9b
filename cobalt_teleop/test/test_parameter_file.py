import pytest

from cobalt_teleop.core.parameter_file import FileParameter, read_parameter_file
from cobalt_teleop.core.parameter_table import ParameterError


def test_parameters_are_read_with_the_node_they_are_for_and_their_line(tmp_path):
    file = tmp_path / 'p.yaml'
    file.write_text('# about\n/**/gamepad_node:\n  ros__parameters:\n    up: "-ty"\n    speeds: {fast: 1.5}\n')
    assert read_parameter_file(file) == [
        FileParameter(node='gamepad_node', name='up', value='-ty', line=4),
        FileParameter(node='gamepad_node', name='speeds.fast', value=1.5, line=5),
    ]
    file.write_text('/**:\n  ros__parameters: {list: [a, b]}\nns: {inner: {ros__parameters: {x: true}}}\n')
    assert [(one.node, one.name, one.value) for one in read_parameter_file(file)] == [
        ('**', 'list', ['a', 'b']),
        ('inner', 'x', True),
    ]


def test_an_empty_file_holds_nothing(tmp_path):
    file = tmp_path / 'p.yaml'
    file.write_text('')
    assert read_parameter_file(file) == []


@pytest.mark.parametrize(
    ('text', 'line'),
    [('a:\n  b: [\n', 3), ('node:\n  ros__parameters: 3\n', 2), ('node: 3\n', 1), ('a: !x {}\nb: 1\n', 2)],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path, text, line):
    file = tmp_path / 'p.yaml'
    file.write_text(text)
    with pytest.raises(ParameterError, match=rf'p\.yaml:{line}: '):
        read_parameter_file(file)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(ParameterError, match=r'absent\.yaml cannot be read'):
        read_parameter_file(tmp_path / 'absent.yaml')
    (tmp_path / 'binary').write_bytes(b'\xff\xfe\x00')
    with pytest.raises(ParameterError, match='binary is no text'):
        read_parameter_file(tmp_path / 'binary')
