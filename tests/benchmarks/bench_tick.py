#!/usr/bin/env python3
"""Missed ticks, CPU and tick-to-picture time for numbers of driven workcells, with one camera each and without."""

import argparse
import os
import subprocess
import sys
import threading

import harness

harness.enter_workspace()

import psutil  # noqa: E402
from driven_host import DrivenHost  # noqa: E402
from running_stack import cpu_percent, free_domain  # noqa: E402


def measure_one(envs: int, camera: str, seconds: float) -> harness.Figures:
    """Starts a simulator, drives all its workcells, returns figures."""
    host = subprocess.Popen(
        [
            sys.executable,
            '-m',
            'cobalt_sim.sim_node',
            '--ros-args',
            '-p',
            f'num_envs:={envs}',
            '-p',
            'cameras:=front',
            '--log-level',
            'warn',
        ],
        stdout=subprocess.DEVNULL,
    )
    driver = DrivenHost('sim', [f'env_{index}' for index in range(envs)], camera)
    try:
        driver.take_control()
        driver.measure(2.0)
        result: dict[str, float] = {}

        def watch_cpu() -> None:
            result.update(cpu_percent({'host': psutil.Process(host.pid)}, seconds))

        watcher = threading.Thread(target=watch_cpu)
        watcher.start()
        missed, waits, durations = driver.measure(seconds)
        watcher.join()
    finally:
        driver.close()
        host.terminate()
        host.wait(10.0)
    figures = {'ticks_missed_share': missed, 'cpu_percent': result['host']}
    figures |= harness.percentiles('tick', durations, (50, 95))
    figures |= harness.percentiles('tick_to_picture', waits, (50, 95))
    return figures


def measure(arguments: argparse.Namespace) -> harness.Figures:
    """Measures each number of workcells."""
    os.environ['ROS_DOMAIN_ID'] = str(free_domain())
    figures: harness.Figures = {}
    envs = arguments.envs or ([1, 8] if arguments.quick else [1, 2, 4, 8, 32])
    seconds = arguments.seconds or (4.0 if arguments.quick else 20.0)
    for count in envs:
        for label, camera in ((f'envs_{count}', 'front'), (f'envs_{count}.no_pictures', '')):
            harness.say(f'{label}: {seconds:g} s ...')
            for name, value in measure_one(count, camera, seconds).items():
                figures[f'{label}.{name}'] = value
    return figures


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds --envs and --seconds."""
    parser.add_argument('--envs', type=int, nargs='+', metavar='N', help='numbers of workcells (1 2 4 8 32)')
    parser.add_argument('--seconds', type=float, help='length of each measurement [s] (20)')


if __name__ == '__main__':
    sys.exit(harness.run('tick', __doc__, measure, add_arguments))
