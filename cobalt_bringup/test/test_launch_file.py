from pathlib import Path

import pytest

from cobalt_bringup.launch_element import LaunchFileError
from cobalt_bringup.launch_file import Packages, Respawn, declared_arguments, plan_launch, read_launch_file, typed_value

PACKAGES = Packages(
    find_share=lambda name: f'/share/{name}', find_executable=lambda package, name: f'/{package}/{name}'
)
SOURCE = Path(__file__).parents[2]
LAUNCH_FILES = sorted((Path(__file__).parent.parent / 'launch').rglob('*.launch.xml'))


def plan(tmp_path, body, environment=None, **arguments):
    file = tmp_path / 'test.launch.xml'
    file.write_text(f'<launch>\n{body}\n</launch>')
    return plan_launch(file, arguments, environment=environment or {}, packages=PACKAGES)


def test_a_node_with_everything(tmp_path):
    parameters = tmp_path / 'p.yaml'
    parameters.write_text('')
    (process,) = plan(
        tmp_path,
        f"""
        <arg name="port" default="8080"/>
        <node pkg="p" exec="e" name="n" namespace="inner" args="-a 'b c' $(var port)" on_exit="shutdown">
          <param name="port" value="$(var port)"/>
          <param name="ratio" value="2.5"/>
          <param name="flag" value="true"/>
          <param name="names" value="[a, b]"/>
          <param name="text" value="'8080'"/>
          <param name="typed" value="8080" type="str"/>
          <param name="nothing" value=""/>
          <param from="{parameters}"/>
          <remap from="a" to="b"/>
          <env name="X" value="1"/>
        </node>""",
    )
    assert process.name == 'n'
    assert process.ends_all
    assert process.environment == {'X': '1'}
    assert process.command == (
        '/p/e', '-a', 'b c', '8080', '--ros-args', '-r', '__node:=n', '-r', '__ns:=/inner',
        '-p', 'port:=8080', '-p', 'ratio:=2.5', '-p', 'flag:=true', '-p', 'names:=["a", "b"]',
        '-p', 'text:="8080"', '-p', 'typed:="8080"', '-p', 'nothing:=""', '--params-file', str(parameters),
        '-r', 'a:=b',
    )  # fmt: skip


def test_who_is_to_respawn(tmp_path):
    never, always, twice = plan(
        tmp_path,
        """
        <arg name="again" default="true"/>
        <executable cmd="a" respawn="false"/>
        <executable cmd="b" respawn="$(var again)"/>
        <node pkg="p" exec="e" respawn="true" respawn_delay="2.5" respawn_max_retries="2"/>""",
    )
    assert never.respawn is None
    assert always.respawn == Respawn(delay_s=0.0, max_retries=-1)
    assert twice.respawn == Respawn(delay_s=2.5, max_retries=2)


def test_groups_keep_what_they_set_to_themselves(tmp_path):
    inner, outer = plan(
        tmp_path,
        """
        <let name="who" value="outer"/>
        <group>
          <push-ros-namespace namespace="env_0"/>
          <set_env name="A" value="1"/>
          <let name="who" value="inner"/>
          <node pkg="p" exec="$(var who)"/>
        </group>
        <node pkg="p" exec="$(var who)"/>""",
    )
    assert inner.command == ('/p/inner', '--ros-args', '-r', '__ns:=/env_0')
    assert inner.environment == {'A': '1'}
    assert outer.command == ('/p/outer', '--ros-args')
    assert outer.environment == {}


def test_a_group_that_is_not_scoped_leaks(tmp_path):
    body = '<group scoped="false"><set_env name="A" value="1"/></group><executable cmd="a b"/>'
    (process,) = plan(tmp_path, body)
    assert process.environment == {'A': '1'}
    assert process.command == ('a', 'b')


@pytest.mark.parametrize(('value', 'count'), [('true', 1), ('1', 1), ('True', 1), ('false', 0), ('0', 0)])
def test_conditions(tmp_path, value, count):
    assert len(plan(tmp_path, f'<executable cmd="a" if="{value}"/>')) == count
    assert len(plan(tmp_path, f'<executable cmd="a" unless="{value}"/>')) == 1 - count


def test_includes_take_arguments_and_know_their_folder(tmp_path):
    (tmp_path / 'sub').mkdir()
    (tmp_path / 'sub' / 'other.launch.xml').write_text(
        '<launch><arg name="a"/><executable cmd="$(var a) $(dirname)" name="x"/></launch>'
    )
    body = '<include file="$(dirname)/sub/other.launch.xml"><arg name="a" value="1"/></include>'
    (process,) = plan(tmp_path, body)
    assert process.command == ('1', str(tmp_path / 'sub'))
    with pytest.raises(LaunchFileError, match="needs a value for 'a'"):
        plan(tmp_path, '<include file="$(dirname)/sub/other.launch.xml"/>')


def test_environment_reaches_processes(tmp_path):
    body = '<set_env name="B" value="$(env A)$(env C x)"/><executable cmd="a"/>'
    (process,) = plan(tmp_path, body, {'A': '1'})
    assert process.environment == {'A': '1', 'B': '1x'}


@pytest.mark.parametrize(
    ('body', 'arguments', 'message'),
    [
        ('<nod/>', {}, r'test.launch.xml:2: <nod>: cannot stand inside <launch>, which holds <arg>, <let>'),
        ('<node pkg="p"/>', {}, "2: <node>: needs the attribute 'exec'"),
        ('<node pkg="p" exec="e" machine="m"/>', {}, "has no attribute 'machine'; it has pkg, exec"),
        ('<executable cmd="a" respawn="yes"/>', {}, "'respawn' is 'yes', but must be true or false"),
        ('<executable cmd="a" respawn="true" respawn_delay="-1"/>', {}, "'respawn_delay' is -1, but must be 0 or more"),
        (
            '<executable cmd="a" respawn="true" respawn_delay="soon"/>',
            {},
            "'respawn_delay' is 'soon', but must be a num",
        ),
        ('<executable cmd="a" respawn="true" respawn_max_retries="1.5"/>', {}, 'is 1.5, but must be a whole number'),
        ('<executable cmd="a" if="maybe"/>', {}, "'if' is 'maybe', but must be true or false"),
        ('<executable cmd="a" on_exit="x"/>', {}, "'on_exit' is 'x', but must be shutdown"),
        ('<arg name="a"/>', {}, "needs a value for 'a'"),
        ('<arg name="a" default="1"/>', {'b': '2'}, "has no argument 'b'; it has a"),
        (
            '<arg name="a" default="1"><choice value="1"/><choice value="2"/></arg>',
            {'a': '3'},
            "'3', but must be one of 1, 2",
        ),
        ('<include file="/nowhere.xml"/>', {}, '/nowhere.xml cannot be read'),
        ('<include file="$(dirname)/test.launch.xml"/>', {}, 'includes itself'),
        ('<node pkg="p" exec="e"><param name="a"/></node>', {}, "<param>: needs the attribute 'value'"),
        ('<node pkg="p" exec="e"><param name="a" value="{a: 1}"/></node>', {}, "parameter 'a': '{a: 1}' is dict"),
        ('<node pkg="p" exec="e"><param name="a" value="[1, x]"/></node>', {}, 'a list of one kind'),
        ('<node pkg="p" exec="e"><param from="/no.yaml"/></node>', {}, 'there is no file /no.yaml'),
        ('<let name="a" value="$(eval 1)"/>', {}, r'2: <let>: .* is not in the part of the format'),
        ('\n<group>' * 5000 + '</group>' * 5000, {}, r'test.launch.xml:34: <group>: is nested more than 32 deep'),
        ('<let name="a" value="' + '$(var ' * 5000 + ')' * 5000 + '"/>', {}, r'2: <let>: .* nested more than 32 deep'),
        ('<node pkg="p" exec="e"><param name="a" value="' + '[' * 5000 + '"/></node>', {}, 'is no value by the rules'),
        ('words', {}, "<launch>: text 'words' has no meaning here"),
        ('<launch', {}, 'not well-formed XML'),
    ],
)
def test_errors_name_place_and_cure(tmp_path, body, arguments, message):
    with pytest.raises(LaunchFileError, match=message):
        plan(tmp_path, body, **arguments)


def test_a_circle_of_files_under_ever_new_names_is_refused(tmp_path):
    (tmp_path / 'sub').mkdir()
    with pytest.raises(LaunchFileError, match=r'test.launch.xml:2: <include>: files include each other more than 32'):
        plan(tmp_path, '<include file="$(dirname)/sub/../test.launch.xml"/>')


def test_typed_values_follow_yaml():
    for text, value in (('1', 1), ('1.0', 1.0), ('yes', True), ('a b', 'a b'), ('', ''), ('[1, 2]', [1, 2])):
        assert typed_value(text, None) == value
        assert type(typed_value(text, None)) is type(value)
    assert typed_value('1', bool) is True
    assert typed_value('1', float) == 1.0


@pytest.mark.parametrize('file', LAUNCH_FILES, ids=lambda file: file.name)
def test_our_launch_files_stay_in_the_named_part_and_describe_their_arguments(file):
    for argument in declared_arguments(read_launch_file(file)):
        assert argument.description
        assert argument.default is not None


def test_sim_starts_what_its_arguments_say():
    file = next(file for file in LAUNCH_FILES if file.name == 'sim.launch.xml')

    source = Packages(find_share=lambda name: str(SOURCE / name), find_executable=PACKAGES.find_executable)

    def names(**arguments):
        return [process.name for process in plan_launch(file, arguments, environment={}, packages=source)]

    devices = ['page_devices']
    assert names() == ['sim_node', *devices, 'recorder_node', 'webrtc_bridge']
    assert names(record='false', devices='phone') == ['sim_node', 'phone_node', 'webrtc_bridge']
    assert names(record='false', devices='none') == ['sim_node', 'webrtc_bridge']
    with pytest.raises(LaunchFileError, match='must be one of pages, keyboard, phone, vr, gamepad, spacemouse, none'):
        names(devices='joystick')
