import json
import subprocess
import sys
from pathlib import Path


def cobalt(*arguments, timeout_s=60.0):
    return subprocess.run(
        [sys.executable, '-m', 'cobalt_bringup.cli', *arguments],
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )


def test_help_lists_the_commands():
    answer = cobalt('--help')
    assert answer.returncode == 0
    for command in ('up', 'doctor'):
        assert command in answer.stdout


def test_output_that_cannot_be_written_is_one_sentence():
    for arguments in (('up', 'sim.launch.xml', '-s'), ('doctor', '--json')):
        with Path('/dev/full').open('w') as full:
            answer = subprocess.run(
                [sys.executable, '-m', 'cobalt_bringup.cli', *arguments],
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                timeout=60.0,
                check=False,
            )
        assert answer.returncode == 1
        assert answer.stderr == 'cobalt: the output cannot be written: No space left on device\n'


def test_a_reader_that_has_seen_enough_is_no_error():
    command = f'{sys.executable} -m cobalt_bringup.cli --help | true; exit ${{PIPESTATUS[0]}}'
    answer = subprocess.run(['bash', '-c', command], stderr=subprocess.PIPE, text=True, timeout=60.0, check=False)
    assert (answer.returncode, answer.stderr) == (0, '')


def test_arguments_of_a_launch_file_are_shown():
    answer = cobalt('up', 'sim.launch.xml', '--show-args')
    assert answer.returncode == 0
    assert 'num_envs  (default: 1)' in answer.stdout
    assert 'one of pages, keyboard, phone, vr, gamepad, spacemouse, none' in answer.stdout


def test_what_cannot_be_used_is_refused_with_the_valid_ones():
    for arguments, sentence in (
        (
            ('nothing.launch.xml',),
            "'nothing.launch.xml', here or in cobalt_bringup, which has mujoco_hardware.launch.xml, robot.launch.xml, "
            'sim.launch.xml',
        ),
        (('sim.launch.xml', 'num_env:=2'), "no argument 'num_env'; it has "),
        (('sim.launch.xml', 'num_envs=2'), "'num_envs=2' is not written as NAME:=VALUE"),
        (('sim.launch.xml', 'profile:=ugly'), "'ugly', but must be one of fast, nice"),
    ):
        answer = cobalt('up', *arguments)
        assert answer.returncode == 2
        assert sentence in answer.stderr
        assert 'Traceback' not in answer.stderr


def test_values_are_checked_by_the_tables_of_the_nodes_before_any_starts(tmp_path):
    broken, misspelt = tmp_path / 'broken.yaml', tmp_path / 'misspelt.yaml'
    broken.write_text('/**/gamepad_node:\n  ros__parameters: [\n')
    misspelt.write_text('/**/spacemouse_node:\n  ros__parameters:\n    forwad: "-ty"\n')
    for argument, sentence in (
        ('port:=abc', "parameter 'port' is 'abc', but must be a whole number"),
        ('num_envs:=0', "parameter 'num_envs' is 0, but must be in 1 to 64"),
        ('task:=lfit', "parameter 'task' is 'lfit', but must be one of lift, "),
        ('host:=300.1.2.3', "parameter 'host' is '300.1.2.3', which is no address"),
        ('width:=321', 'pictures are 321 x '),
        (f'gamepad_params:={broken}', f'{broken}:3: this is no YAML'),
        (f'spacemouse_params:={misspelt}', f"{misspelt}:3: spacemouse_node has no parameter 'forwad'"),
    ):
        answer = cobalt('up', 'sim.launch.xml', argument)
        assert (answer.returncode, answer.stdout) == (2, '')
        assert answer.stderr.startswith(f'cobalt up: {sentence}')
        assert answer.stderr.count('\n') == 1
    answer = cobalt('up', 'sim.launch.xml', 'foxglove:=true', 'foxglove_port:=0')
    assert "argument 'foxglove_port': parameter 'port' is 0, but must be in 1 to 65535" in answer.stderr


def test_options_that_are_none_come_with_the_way_to_write_them():
    for words, sentence in (
        (('up',), 'the following arguments are required: file\n'),
        (('up', 'sim.launch.xml', '--port', '8081'), 'launch arguments are written port:=8081\n'),
        (('up', 'sim.launch.xml', '--num-envs=2'), 'launch arguments are written num_envs:=2\n'),
        (('doctor', '--colour'), 'unrecognized arguments: --colour\n'),
    ):
        answer = cobalt(*words)
        assert answer.returncode == 2
        assert answer.stderr.endswith(sentence)


def test_doctor_looks_at_everything():
    answer = cobalt('doctor', '--json')
    report = json.loads(answer.stdout)
    status = {finding['name']: finding['status'] for finding in report['findings']}
    assert set(status) == {
        'processors', 'ROS 2', 'workspace', 'shared memory', 'machines', 'workcells', 'graphics', 'encoder', 'browser',
        'port', 'certificate', 'disk', 'SpaceMouse',
    }  # fmt: skip
    assert status['ROS 2'] == status['shared memory'] == status['encoder'] == 'OK'
    assert answer.returncode == int(not report['ok'])
