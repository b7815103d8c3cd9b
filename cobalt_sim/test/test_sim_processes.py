"""Workcells that are shared out among processes: the same names and seeds, and all end together."""

import json
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from cobalt_sim.sim_parameters import SimParameters
from cobalt_sim.sim_processes import shares
from cobalt_teleop.core.parameter_table import ParameterError


def test_each_gets_its_own_workcells_with_the_names_and_seeds_of_one_process():
    told = shares(SimParameters(num_envs=8, processes=3, seed=10, first_env=2, gpus=('0', '1')))
    assert [(one.num_envs, one.first_env, one.seed, one.gpus) for one in told] == [
        (3, 2, 10, ('0',)),
        (3, 5, 13, ('1',)),
        (2, 8, 16, ('0',)),
    ]
    assert {one.processes for one in told} == {1}


def test_there_are_no_processes_without_workcells_and_no_gpu_is_named_unless_it_is_asked_for():
    told = shares(SimParameters(num_envs=2, processes=8))
    assert [(one.num_envs, one.gpus) for one in told] == [(1, ()), (1, ())]
    with pytest.raises(ParameterError, match='must be numbers such as 0'):
        SimParameters(gpus=('first',))


WATCH = """
import json, rclpy, sys, time
from cobalt_teleop.ros.workcells import WorkcellWatch
rclpy.init()
node, found = rclpy.create_node('watch'), {}
watch = WorkcellWatch(node, lambda info: found.update({info.workcell_id: info.host_id}), ())
end = time.monotonic() + 20.0
while len(found) < 3 and time.monotonic() < end:
    rclpy.spin_once(node, timeout_sec=0.1)
print(json.dumps(found))
"""


@pytest.fixture
def processes():
    environment = {**os.environ, 'ROS_DOMAIN_ID': str(40 + os.getpid() % 10)}
    words = [sys.executable, '-m', 'cobalt_sim.sim_node', '--ros-args']
    for given in ('num_envs:=3', 'processes:=2', 'cameras:=""', 'task:=reach_position'):
        words += ['-p', given]
    parent = subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True)
    told = subprocess.run([sys.executable, '-c', WATCH], env=environment, capture_output=True, text=True, check=True)
    children = psutil.Process(parent.pid).children()
    yield parent, children, json.loads(told.stdout)
    for process in (*children, parent):
        if process.poll() is None if isinstance(process, subprocess.Popen) else process.is_running():
            process.kill()
    parent.communicate()


def gone(children, within_s=8.0):
    end_s = time.monotonic() + within_s
    while any(child.is_running() and child.status() != psutil.STATUS_ZOMBIE for child in children):
        if time.monotonic() > end_s:
            return False
        time.sleep(0.05)
    return True


def test_all_workcells_are_served_and_end_with_the_parent(processes):
    parent, children, found = processes
    assert found == {'env_0': 'sim_0', 'env_1': 'sim_0', 'env_2': 'sim_1'}
    parent.send_signal(signal.SIGINT)
    assert parent.wait(10.0) == 0
    assert gone(children)


@pytest.mark.parametrize('killed', ['parent', 'child'])
def test_none_outlives_another(processes, killed):
    parent, children, _ = processes
    (parent if killed == 'parent' else children[1]).kill()
    assert gone(children)
    assert parent.wait(10.0) == (-signal.SIGKILL if killed == 'parent' else 1)
    if killed == 'child':
        assert 'sim_1 has ended with -9, so all end' in parent.stderr.read()
