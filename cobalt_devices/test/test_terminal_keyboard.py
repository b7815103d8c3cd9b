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


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_signals_give_the_terminal_back(number, terminal):
    terminal.wait_for('waiting for a workcell')
    assert termios.tcgetattr(terminal.slave) != terminal.before
    terminal.process.send_signal(number)
    assert terminal.process.wait(5.0) == 0
    assert termios.tcgetattr(terminal.slave) == terminal.before
    terminal.read(0.2)
    assert 'Traceback' not in terminal.text
