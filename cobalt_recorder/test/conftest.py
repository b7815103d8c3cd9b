import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

# A graph of their own for these tests, whatever else runs on this machine; processes they start inherit it.
os.environ['ROS_DOMAIN_ID'] = str(random.SystemRandom().randint(20, 39))


class RecorderProcess:
    """A recorder_node, as a user would start it."""

    def __init__(self, dataset, **parameters):
        self.dataset = Path(dataset)
        values = {'dataset': dataset, 'min_free_mb': 1} | parameters
        arguments = [word for name, value in values.items() for word in ('-p', f'{name}:={value}')]
        code = 'from cobalt_recorder.recorder_node import main; main()'
        self.process = subprocess.Popen(
            [sys.executable, '-c', code, '--ros-args', *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._lines = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            self._lines.append(line)

    @property
    def output(self):
        return ''.join(self._lines)

    def end(self, number=signal.SIGTERM, timeout_s=10.0):
        """Sends a signal; returns the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(timeout_s)
        self._reader.join(timeout_s)
        return code


@pytest.fixture
def start_recorder():
    started = []

    def start(dataset, **parameters):
        started.append(RecorderProcess(dataset, **parameters))
        return started[-1]

    yield start
    for recorder in started:
        if recorder.process.poll() is None:
            recorder.end(signal.SIGKILL)


@pytest.fixture
def start_host():
    import rclpy
    from host_stand_in import HostStandIn
    from rclpy.context import Context

    context = Context()
    rclpy.init(context=context)
    started = []

    def start(*arguments, **options):
        started.append(HostStandIn(context, *arguments, **options))
        return started[-1]

    yield start
    for host in started:
        host.close()
    rclpy.shutdown(context=context)
