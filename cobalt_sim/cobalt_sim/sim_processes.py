"""Workcells shared out among several processes, each a host of its own: one interpreter is busy with so many."""

import os
import signal
import subprocess
import sys
from dataclasses import fields, replace
from functools import partial
from typing import Any

import yaml
from rclpy.node import Node

from cobalt_sim.sim_parameters import SimParameters
from cobalt_teleop.core.child_process import end_with_parent
from cobalt_teleop.ros.parameters import read_parameters
from cobalt_teleop.ros.process import Stop

_LOOK_S = 0.2
_PATIENCE_S = 8.0


def shares(parameters: SimParameters) -> list[SimParameters]:
    """Returns what each process is told: its own workcells, with the names and seeds that they would have in one."""
    count = min(parameters.processes, parameters.num_envs)
    threads = parameters.render_threads or max(1, (os.cpu_count() or 1) // count)
    told, first = [], 0
    for number in range(count):
        own = parameters.num_envs // count + (number < parameters.num_envs % count)
        place = number % max(1, len(parameters.gpus))
        told.append(
            replace(
                parameters,
                processes=1,
                num_envs=own,
                first_env=parameters.first_env + first,
                seed=parameters.seed + first,
                render_threads=threads,
                gpus=parameters.gpus[place : place + 1],
            )
        )
        first += own
    return told


class SimProcesses(Node):
    """Starts the hosts `sim_0`, `sim_1` and so on, and ends with the first of them that ends.

    Args:
        stop: Told when one has ended.
    """

    def __init__(self, stop: Stop) -> None:
        super().__init__('sim')
        parameters = read_parameters(self, SimParameters)
        self._stop = stop
        self._children = {
            f'sim_{number}': _start(f'sim_{number}', own) for number, own in enumerate(shares(parameters))
        }
        self.create_timer(_LOOK_S, self._look)

    def _look(self) -> None:
        for name, child in self._children.items():
            if (code := child.poll()) is not None:
                self._stop.request(f'{name} has ended with {code}, so all end', exit_code=2 if code == 2 else 1)

    def close(self) -> None:
        """Ends all."""
        for child in self._children.values():
            child.send_signal(signal.SIGINT)
        for child in self._children.values():
            try:
                child.wait(_PATIENCE_S)
            except subprocess.TimeoutExpired:
                child.kill()


def _start(name: str, parameters: SimParameters) -> subprocess.Popen[bytes]:
    environment = dict(os.environ)
    if parameters.gpus:
        environment['MUJOCO_EGL_DEVICE_ID'] = parameters.gpus[0]
    words = ['--ros-args', '-r', f'__node:={name}', *_as_arguments(parameters)]
    return subprocess.Popen(
        [sys.executable, '-m', 'cobalt_sim.sim_node', *words],
        env=environment,
        preexec_fn=partial(end_with_parent, os.getpid()),
    )


def _as_arguments(parameters: SimParameters) -> list[str]:
    words: list[str] = []
    for field in fields(parameters):
        value: Any = getattr(parameters, field.name)
        if value == field.default:
            continue
        content = (list(value) or '') if isinstance(value, tuple) else value  # ROS knows no empty list
        text = yaml.safe_dump(content, default_flow_style=True, width=10**6).removesuffix('\n').removesuffix('\n...')
        words += ['-p', f'{field.name}:={text}']
    return words
