"""Two hosts of one name in one ROS domain: the second is refused, and one that was killed comes back."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from ament_index_python.packages import get_package_prefix
from running_stack import free_domain

from cobalt_bringup.doctor_checks import workcells

SIM = Path(get_package_prefix('cobalt_sim')) / 'lib' / 'cobalt_sim' / 'sim_node'


@pytest.fixture
def start_sim(tmp_path):
    started = []

    def start(*, domain=None, **parameters):
        words = [str(SIM), '--ros-args', '-p', 'cameras:=""']
        for name, value in parameters.items():
            words += ['-p', f'{name}:={value}']
        process = subprocess.Popen(
            words,
            env=os.environ | {'ROS_DOMAIN_ID': str(free_domain() if domain is None else domain)},
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


@pytest.fixture
def live(monkeypatch):
    monkeypatch.setenv('ROS_DOMAIN_ID', str(free_domain()))

    def wait(names, timeout_s=20.0):
        end = time.monotonic() + timeout_s
        while not (detail := workcells().detail).startswith(f'live in ROS domain {free_domain()}: {names};'):
            assert time.monotonic() < end, detail
        return True

    return wait


def test_a_second_simulator_is_refused_in_one_line_and_the_first_goes_on(start_sim, live):
    first = start_sim(num_envs=2)
    assert live('env_0, env_1')
    second = start_sim()
    _, errors = second.communicate(timeout=30)
    assert second.returncode == 2
    assert errors.count('\n') == 1
    assert f"serves 'env_0' in ROS domain {free_domain()} already" in errors
    assert f'ROS_DOMAIN_ID={free_domain() + 1}' in errors
    assert first.poll() is None
    assert live('env_0, env_1')


def test_other_names_and_other_domains_are_served_beside_it(start_sim, live):
    start_sim()
    assert live('env_0')
    named = start_sim(workcell_prefix='lab_')
    elsewhere = start_sim(domain=free_domain() - 80)
    assert live('env_0, lab_0')
    assert named.poll() is None and elsewhere.poll() is None


def test_one_that_was_killed_comes_back_while_the_graph_still_has_its_shadow(start_sim, live):
    first = start_sim()
    assert live('env_0')
    first.send_signal(signal.SIGKILL)
    first.wait()
    start_sim()
    assert live('env_0')
