import sys
from pathlib import Path

import pytest
from running_stack import RunningStack

sys.path.insert(0, str(Path(__file__).parents[1] / 'cobalt_teleop' / 'test'))


@pytest.fixture
def start_stack(tmp_path):
    """Starts stacks that end with the test."""
    started = []

    def start(launch_file='sim.launch.xml', *, workcells=1, **arguments):
        stack = RunningStack(
            tmp_path / f'stack_{len(started)}.log',
            launch_file,
            arguments={'dataset': tmp_path / 'dataset'} | arguments,
        )
        started.append(stack)
        if workcells:
            stack.wait_until_live(workcells)
        return stack

    yield start
    for stack in started:
        stack.stop()
