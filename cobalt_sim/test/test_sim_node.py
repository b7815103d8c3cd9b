"""Starts the real nodes."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest


@pytest.fixture
def environment():
    return {**os.environ, 'ROS_DOMAIN_ID': str(40 + os.getpid() % 20)}


def command(module, **parameters):
    words = [sys.executable, '-m', f'cobalt_sim.{module}', '--ros-args']
    for name, value in parameters.items():
        words += ['-p', f'{name}:={value}']
    return words


@pytest.fixture
def start_sim(environment):
    started = []

    def start(**parameters):
        process = subprocess.Popen(
            command('sim_node', **parameters),
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def test_the_scripted_operator_lifts_every_cube_through_ros_alone(start_sim, environment):
    sim = start_sim(num_envs=3, cameras='front', width=160, height=120)
    # An episode in which the expert fumbles ends after a minute by itself, and says so.
    operator = subprocess.run(
        command('scripted_operator.node', num_workcells=3, episodes=1),
        env=environment, capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert operator.returncode == 0, operator.stdout + operator.stderr
    assert '3 of 3 episodes succeeded in 3 workcells' in operator.stdout
    sim.send_signal(signal.SIGINT)
    started_s = time.monotonic()
    _, errors = sim.communicate(timeout=10)
    assert sim.returncode == 0
    assert time.monotonic() - started_s < 5.0
    assert 'Traceback' not in errors


def test_a_scripted_operator_has_two_hands(start_sim, environment):
    start_sim(task='two_arm_lift', robot='two_pandas', cameras='""')
    operator = subprocess.run(
        command('scripted_operator.node', episodes=1),
        env=environment, capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert operator.returncode == 0, operator.stdout + operator.stderr
    assert '1 of 1 episodes succeeded' in operator.stdout


def test_it_draws_nothing_and_needs_no_opengl_without_cameras(start_sim, environment):
    environment['MUJOCO_GL'] = 'glfw'
    sim = start_sim(num_envs=1, cameras='""')
    time.sleep(3.0)
    assert sim.poll() is None
    sim.send_signal(signal.SIGTERM)
    _, errors = sim.communicate(timeout=10)
    assert sim.returncode == 0
    assert errors.count('Traceback') == 0


def test_without_a_working_opengl_it_ends_with_the_line_to_type(start_sim, environment):
    environment.update(MUJOCO_GL='egl', MUJOCO_EGL_DEVICE_ID='99')
    sim = start_sim()
    _, errors = sim.communicate(timeout=30)
    assert sim.returncode == 2
    assert len(errors.strip().splitlines()) == 1
    assert 'no OpenGL to render pictures with (egl: ' in errors
    assert 'Type: sudo apt-get install libegl1 libgl1-mesa-dri' in errors


@pytest.mark.parametrize(
    ('parameters', 'sentence'),
    [
        (
            {'task': 'fly'},
            "parameter 'task' is 'fly', but must be one of lift, stack, ",
        ),
        ({'robot': 'fly'}, "there is no robot 'fly'; known are franka_panda"),
        ({'cameras': 'side'}, "there is no camera 'side'; this scene has front, wrist"),
        ({'num_envs': 65}, "parameter 'num_envs' is 65, but must be in 1 to 64"),
        ({'profile': 'ugly'}, "parameter 'profile' is 'ugly', but must be one of fast, nice"),
        ({'width': 321}, 'pictures are 321 x 240, but video needs even numbers'),
    ],
)
def test_a_bad_parameter_ends_it_with_one_sentence(start_sim, parameters, sentence):
    sim = start_sim(**parameters)
    _, errors = sim.communicate(timeout=30)
    assert sim.returncode == 2
    assert sentence in errors
    assert len(errors.strip().splitlines()) == 1


def test_sigterm_ends_it_while_it_is_still_being_made(start_sim):
    sim = start_sim(num_envs=64, cameras='""')
    made = Path(f'/proc/{sim.pid}/status')
    end_s = time.monotonic() + 20.0
    # Its handler for SIGTERM stands: the simulation is about to be made.
    while not int(re.search(r'SigCgt:\t(\w+)', made.read_text())[1], 16) >> (signal.SIGTERM - 1) & 1:
        assert time.monotonic() < end_s
        time.sleep(0.005)
    time.sleep(0.1)
    sim.send_signal(signal.SIGTERM)
    sent_s = time.monotonic()
    _, errors = sim.communicate(timeout=10)
    assert sim.returncode == 0
    assert time.monotonic() - sent_s < 1.5
    assert 'Traceback' not in errors
