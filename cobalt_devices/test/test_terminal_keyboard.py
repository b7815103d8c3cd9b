"""The terminal back end in a real terminal (a pty), against the real host with an ideal arm."""

import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time

import pytest
import rclpy

from cobalt_teleop.core import topics
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.ros.endpoints import create_subscription

COMMAND = [sys.executable, '-m', 'cobalt_devices.keyboard_node', '--ros-args', '-p', 'backend:=terminal']


class Terminal:
    def __init__(self):
        self.master, self.slave = pty.openpty()
        self.before = termios.tcgetattr(self.slave)
        self.process = subprocess.Popen(
            [*COMMAND, '-p', 'view_yaw_deg:=0.0', '-p', 'linear_speed:=0.1'],
            stdin=self.slave, stdout=self.slave, stderr=self.slave,
        )  # fmt: skip
        self.text = ''

    def read(self, seconds):
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self.master], [], [], left)[0]:
                self.text += os.read(self.master, 4096).decode(errors='replace')

    def wait_for(self, words, timeout_s=10.0):
        end = time.monotonic() + timeout_s
        while words not in self.text:
            assert time.monotonic() < end, f'never showed {words!r}: {self.text}'
            self.read(0.1)

    def type(self, text):
        os.write(self.master, text.encode())

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.master)
        os.close(self.slave)


@pytest.fixture
def terminal():
    made = Terminal()
    yield made
    made.close()


@pytest.fixture
def steps(host, spin):
    heard = []
    create_subscription(spin(rclpy.create_node('listener')), topics.CONTROL_STEP, 'env_0', heard.append)
    return heard


def height(steps):
    return steps[-1].parts[0].pose.position.z


@pytest.fixture
def states(host, spin):
    heard = []
    create_subscription(spin(rclpy.create_node('state_listener')), topics.CONTROL_STATE, 'env_0', heard.append)
    return heard


def test_keys_of_a_terminal_drive_and_escape_gives_everything_back(steps, states, terminal):
    terminal.wait_for('you have control')
    terminal.wait_for('press a key to move')
    assert 'cannot tell when a key is released' in terminal.text
    before = height(steps)
    terminal.type('e')
    terminal.read(0.9)
    tapped = height(steps)
    assert 0.003 < tapped - before < 0.012
    for _ in range(20):
        terminal.type('e')
        terminal.read(0.033)
    terminal.wait_for('keys: up')
    terminal.wait_for('moves by your keys')
    terminal.read(0.6)
    assert height(steps) - tapped > 0.04
    assert states[-1].lease_id
    terminal.type('\x1b')
    assert terminal.process.wait(5.0) == 0
    assert termios.tcgetattr(terminal.slave) == terminal.before
    terminal.read(0.3)
    assert not states[-1].lease_id


def hold(terminal, seconds, key='e'):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        terminal.type(key)
        terminal.read(0.033)


def test_a_key_that_stays_down_over_a_stop_drives_no_more_until_it_was_let_go_of(host, steps, terminal):
    terminal.wait_for('you have control')
    hold(terminal, 0.8)
    workcell = host._workcells['env_0']
    workcell.emergency_stop('Ada')
    hold(terminal, 0.6)
    workcell.clear_emergency_stop('Ada', True)
    hold(terminal, 0.6)
    held = height(steps)
    for pause_s in (0.2, 0.5):
        terminal.read(pause_s)
        hold(terminal, 0.5)
    terminal.wait_for('release all keys for 1 s')
    assert height(steps) == pytest.approx(held, abs=1e-4)
    terminal.read(1.2)
    hold(terminal, 0.6)
    assert height(steps) > held + 0.02


@pytest.mark.parametrize('stands_s', [0.5, 0.9])
def test_what_was_typed_while_the_node_stood_still_moves_nothing(stands_s, steps, terminal):
    terminal.wait_for('you have control')
    hold(terminal, 0.6)
    terminal.process.send_signal(signal.SIGSTOP)
    for _ in range(round(stands_s / 0.033)):
        terminal.type('e')
        time.sleep(0.033)
    held = height(steps)
    terminal.process.send_signal(signal.SIGCONT)
    hold(terminal, 1.0)
    assert height(steps) == pytest.approx(held, abs=1e-4)
    terminal.read(1.2)
    hold(terminal, 0.6)
    assert height(steps) > held + 0.02


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_signals_give_the_terminal_back(number, terminal):
    terminal.wait_for('waiting for a workcell')
    assert termios.tcgetattr(terminal.slave) != terminal.before
    terminal.process.send_signal(number)
    assert terminal.process.wait(5.0) == 0
    assert termios.tcgetattr(terminal.slave) == terminal.before
    terminal.read(0.2)
    assert 'Traceback' not in terminal.text


def test_who_asks_for_control_is_shown_and_gets_it_once_no_key_was_pressed_for_a_while(host, states, terminal):
    terminal.wait_for('you have control')
    with pytest.raises(CobaltError):
        host._workcells['env_0'].acquire('page', 'Grace', [], True, [])
    terminal.wait_for('Grace asks for control: press nothing for 3 s to give it')
    for _ in range(4):  # who still drives keeps it
        terminal.type('e')
        terminal.read(1.0)
    assert states[-1].holder and states[-1].sources == ['keyboard']
    terminal.wait_for('nobody has control: press a key for it')
    terminal.read(2.5)
    assert not states[-1].holder, 'it is not asked for again by itself'
    terminal.text = ''
    hold(terminal, 0.5)
    terminal.wait_for('you have control')


def test_a_tapped_key_is_shown(host, terminal):
    terminal.wait_for('you have control')
    terminal.type('e')
    terminal.wait_for('keys: up')
