import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

RUN = """
import sys
from pathlib import Path
from cobalt_bringup.launch_file import plan_launch
from cobalt_bringup.packages import INSTALLED
from cobalt_bringup.supervisor import Supervisor
import os
sys.exit(Supervisor(plan_launch(Path(sys.argv[1]), {}, environment=os.environ, packages=INSTALLED)).run())
"""


class Launch:
    """A supervisor in a process of its own."""

    def __init__(self, folder: Path, *executables: str) -> None:
        file = folder / 'test.launch.xml'
        file.write_text(f'<launch>{"".join(executables)}</launch>')
        self.process = subprocess.Popen(
            [sys.executable, '-c', RUN, str(file)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.lines: list[str] = []

    def wait_for(self, text: str) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip())
            if text in line:
                return
        pytest.fail(f'never said {text!r}: {self.lines}')

    def end(self, timeout_s: float = 10.0) -> int:
        rest, _ = self.process.communicate(timeout=timeout_s)
        self.lines += rest.splitlines()
        return self.process.returncode

    @property
    def text(self) -> str:
        return '\n'.join(self.lines)


def shell(script: str, name: str, extra: str = '') -> str:
    return f"""<executable cmd="bash -c '{script}'" name="{name}" {extra}/>"""


@pytest.fixture
def launch(tmp_path):
    started = []

    def start(*executables):
        started.append(Launch(tmp_path, *executables))
        return started[-1]

    yield start
    for running in started:
        if running.process.poll() is None:
            running.process.kill()
            running.process.wait()


def test_lines_bear_the_name_of_who_says_them(launch):
    running = launch(shell('echo one; echo two >&amp;2; printf three', 'talker'))
    assert running.end() == 0
    assert running.lines[:3] == ['[talker] one', '[talker] two', '[talker] three']
    assert running.lines[3] == '[cobalt up] talker ended'


def test_ctrl_c_ends_all_quietly(launch):
    running = launch(shell('echo up; exec sleep 60', 'a'), shell('exec sleep 60', 'b'))
    running.wait_for('up')
    started = time.monotonic()
    running.process.send_signal(signal.SIGINT)
    assert running.end() == 0
    assert time.monotonic() - started < 2.0
    assert 'Traceback' not in running.text


@pytest.mark.parametrize('after_s', [0.1, 0.4, 1.5])
def test_ctrl_c_at_any_moment_of_a_start_shows_no_traceback(launch, after_s):
    running = launch(shell('echo up; exec sleep 60', 'a'), '<node pkg="cobalt_devices" exec="keyboard_node"/>')
    running.wait_for('up')
    time.sleep(after_s)
    started = time.monotonic()
    running.process.send_signal(signal.SIGINT)
    assert running.end() == 0
    assert time.monotonic() - started < 5.0
    assert 'Traceback' not in running.text


def test_who_does_not_end_is_killed_in_time_with_all_it_started(launch):
    deaf = 'trap : INT TERM; sleep 60 &amp; echo $!; while :; do sleep 60; done'
    running = launch(shell(deaf, 'deaf'))
    running.wait_for('[deaf]')
    grandchild = int(running.lines[-1].split()[1])
    started = time.monotonic()
    running.process.send_signal(signal.SIGTERM)
    assert running.end() == 0
    assert 2.0 < time.monotonic() - started < 5.0
    assert 'deaf did not end by itself and was killed' in running.text
    assert not psutil.pid_exists(grandchild) or psutil.Process(grandchild).status() == psutil.STATUS_ZOMBIE


def test_who_dies_is_named_and_the_others_go_on(launch):
    running = launch(shell('sleep 0.2; kill -9 $$', 'victim'), shell('sleep 1; echo still here', 'other'))
    assert running.end() == 1
    assert '[cobalt up] victim died (killed by SIGKILL)' in running.text
    assert '[other] still here' in running.text


def test_who_is_to_respawn_starts_again_and_no_more_often_than_allowed(launch, tmp_path):
    count = f'echo x &gt;&gt; {tmp_path}/starts; kill -9 $$'
    respawn = 'respawn="true" respawn_delay="0.2" respawn_max_retries="2"'
    running = launch(shell(count, 'victim', respawn), shell('sleep 2; echo still here', 'other'))
    assert running.end() == 1
    assert (tmp_path / 'starts').read_text().split() == ['x'] * 3
    assert running.text.count('victim died (killed by SIGKILL)') == 3
    assert running.text.count('victim starts again') == 2
    assert running.text.count('the others go on') == 1


def test_ctrl_c_ends_what_waits_for_its_next_start(launch):
    running = launch(shell('echo once; exit 1', 'victim', 'respawn="true" respawn_delay="30"'))
    running.wait_for('victim starts again')
    running.process.send_signal(signal.SIGINT)
    assert running.end(timeout_s=2.0) == 0
    assert running.text.count('once') == 1


def test_who_refuses_to_start_is_not_started_again(launch):
    running = launch(shell('exit 2', 'refuses', 'respawn="true"'), shell('exec sleep 60', 'other'))
    assert running.end() == 2
    assert 'starts again' not in running.text


def test_on_exit_shutdown_ends_the_rest(launch):
    running = launch(shell('sleep 0.2', 'first', 'on_exit="shutdown"'), shell('exec sleep 60', 'other'))
    assert running.end() == 0


def test_a_node_that_refuses_to_start_ends_the_rest(launch):
    running = launch(shell('echo port 8080 is busy >&amp;2; exit 2', 'bridge'), shell('exec sleep 60', 'other'))
    assert running.end() == 2
    assert running.text.count('port 8080 is busy') == 1
    assert 'bridge refused to start' in running.text


def test_a_program_that_is_not_there_is_said(launch):
    running = launch('<executable cmd="/no/such/program" name="ghost"/>', shell('exec sleep 60', 'other'))
    assert running.end() == 2
    assert 'ghost could not be started: No such file or directory: /no/such/program' in running.text


def test_children_end_when_the_supervisor_is_killed(launch):
    running = launch(shell('echo $$; exec sleep 60', 'a'))
    running.wait_for('[a]')
    child = int(running.lines[-1].split()[1])
    os.kill(running.process.pid, signal.SIGKILL)
    running.process.wait()
    deadline = time.monotonic() + 3.0
    while psutil.pid_exists(child) and psutil.Process(child).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline, 'the child lives on'
        time.sleep(0.05)


def test_nodes_learn_whether_a_person_at_a_terminal_reads_them(tmp_path, monkeypatch):
    """Only then do they print what no file may keep."""
    monkeypatch.delenv('COBALT_TERMINAL', raising=False)
    line = shell('echo terminal=$COBALT_TERMINAL.', 'teller')
    to_a_pipe = Launch(tmp_path, line)
    to_a_pipe.end()
    assert 'terminal=.' in to_a_pipe.text
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [sys.executable, '-c', RUN, str(tmp_path / 'test.launch.xml')], stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    seen = b''
    try:
        while b'terminal=' not in seen:
            seen += os.read(ours, 4096)
        process.wait(10.0)
    finally:
        process.kill()
        os.close(ours)
    assert b'terminal=1.' in seen
