"""A bridge as a process, and a host beside it, for tests."""

import os
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from rclpy.executors import SingleThreadedExecutor

from cobalt_teleop.bridge.door.invitations import Invitations
from cobalt_teleop.bridge.door.state_folder import StateFolder
from cobalt_teleop.core.lease import LeaseDesk
from cobalt_teleop.workcell_host import workcell
from cobalt_teleop.workcell_host.host_node import HostNode
from cobalt_teleop.workcell_host.ideal_plant import IdealPlant
from cobalt_teleop.workcell_host.workcell import HostOptions

RUN_BRIDGE = 'import sys; from cobalt_teleop.bridge.bridge_node import main; sys.exit(main())'


def free_port():
    with socket.socket() as taken:
        taken.bind(('127.0.0.1', 0))
        return taken.getsockname()[1]


class BridgeProcess:
    """webrtc_bridge on a free port.

    Args:
        parameters: Beside the port; `state_dir` is a new folder if it is not among them. With a `host`, it is off
            loopback, and speaks TLS.
    """

    def __init__(self, **parameters):
        self.port = parameters.pop('port', None) or free_port()
        self._own_state = None if 'state_dir' in parameters else tempfile.TemporaryDirectory(prefix='cobalt-state-')
        if self._own_state is not None:
            parameters['state_dir'] = self._own_state.name
        options = [
            part for name, value in {'port': self.port, **parameters}.items() for part in ('-p', f'{name}:={value}')
        ]
        self.process = subprocess.Popen(
            [sys.executable, '-c', RUN_BRIDGE, '--ros-args', *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=os.environ | {'PYTHONUNBUFFERED': '1'},
        )
        self.state_dir = parameters['state_dir']
        self.secure = 'host' in parameters
        self.url = f'{"https" if self.secure else "http"}://127.0.0.1:{self.port}/'

    @property
    def owner(self):
        """The token of whoever runs it."""
        return Path(self.state_dir, 'owner_token').read_text()

    def link(self, role, **values):
        """Returns an address that lets somebody in as that, for an hour."""
        token = Invitations(StateFolder(self.state_dir)).issue(role, '', 3600.0, **values)
        return f'{self.url}?invite={urllib.parse.quote(token)}'

    def client_context(self):
        """Returns what a client needs to trust this bridge's own certificate; None if it has none."""
        if not self.secure:
            return None
        return ssl.create_default_context(cafile=f'{self.state_dir}/certificate.pem')

    def wait_until_served(self):
        end = time.monotonic() + 45.0
        while time.monotonic() < end and self.process.poll() is None:
            try:
                with urllib.request.urlopen(self.url + 'healthz', timeout=1.0, context=self.client_context()):
                    return self
            except OSError:
                time.sleep(0.05)
        raise AssertionError(f'the bridge does not serve: {self.stop()}')

    def stop(self):
        """Returns all that it wrote."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            output, _ = self.process.communicate(timeout=8.0)
        except subprocess.TimeoutExpired:
            self.process.kill()
            output, _ = self.process.communicate()
            output += '\nit had to be killed'
        if self._own_state is not None:
            self._own_state.cleanup()
        return output


@contextmanager
def long_leases():
    """Hosts that start meanwhile wait long for a killed bridge: this machine may start a new one slowly."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workcell, 'LeaseDesk', partial(LeaseDesk, duration_s=120.0))
        yield


@contextmanager
def running_host(*workcells, plant=IdealPlant):
    """Runs a host with the ideal plant on its executor."""
    node = HostNode('test_host')
    node.host({name: plant() for name in workcells}, HostOptions(render_threads=1))
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    thread = threading.Thread(target=executor.spin, daemon=True)
    thread.start()
    try:
        yield node
    finally:
        executor.shutdown()
        thread.join(2.0)
        node.close()
        node.destroy_node()
