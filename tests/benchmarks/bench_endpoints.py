#!/usr/bin/env python3
"""CPU of idle nodes for numbers of workcells: the price of their end points."""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import harness

harness.enter_workspace()

from running_stack import RunningStack, cpu_percent, free_port  # noqa: E402

_NAMES = {
    'sim_node': 'host',
    'webrtc_bridge': 'bridge',
    'recorder_node': 'recorder',
    'page_devices': 'page_devices',
    'foxglove_server': 'foxglove',
}


def measure(arguments: argparse.Namespace) -> harness.Figures:
    """Measures each number of workcells."""
    figures: harness.Figures = {}
    seconds = 5.0 if arguments.quick else 15.0
    for count in arguments.envs or ([1, 8] if arguments.quick else [1, 8, 32]):
        harness.say(f'{count} idle workcells: {seconds:g} s ...')
        with tempfile.TemporaryDirectory() as folder:
            places = {'num_envs': count, 'dataset': f'{folder}/dataset'}
            places |= {'foxglove': 'true', 'foxglove_port': free_port()}
            with RunningStack(Path(folder) / 'stack.log', arguments=places) as stack:
                stack.wait_until_live(count)
                time.sleep(3.0)
                for name, percent in cpu_percent(stack.nodes(), seconds).items():
                    figures[f'{_NAMES[name]}.envs_{count}.cpu_percent'] = percent
    return figures


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds --envs."""
    parser.add_argument('--envs', type=int, nargs='+', metavar='N', help='numbers of workcells (1 8 32)')


if __name__ == '__main__':
    sys.exit(harness.run('endpoints', __doc__, measure, add_arguments))
