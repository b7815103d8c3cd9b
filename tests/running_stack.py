"""Starts Cobalt as a user would, for tests and benchmarks: `cobalt up`, in a ROS domain of its own."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil


def free_port() -> int:
    """Returns a TCP port on loopback that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return int(probe.getsockname()[1])


def free_domain() -> int:
    """Returns a ROS domain for this process, so that stacks on one machine do not hear each other.

    Tests of packages take others: 20 to 86.
    """
    return 87 + os.getpid() % 10


_NODES = ('sim_node', 'webrtc_bridge', 'recorder_node', 'page_devices', 'keyboard_node', 'foxglove_server')


class RunningStack:
    """A started launch file.

    Args:
        log: File that keeps what the stack prints.
        launch_file: Name or path.
        arguments: Of the launch file; `port` is chosen if it is not given.
        domain: ROS_DOMAIN_ID.
    """

    def __init__(
        self,
        log: Path,
        launch_file: str = 'sim.launch.xml',
        *,
        arguments: Mapping[str, Any] | None = None,
        domain: int | None = None,
    ) -> None:
        self.arguments = {'port': free_port()} | dict(arguments or {})
        self.domain = free_domain() if domain is None else domain
        self.address = f'http://127.0.0.1:{self.arguments["port"]}/'
        self.log = log
        self._output = log.open('wb')
        self.started_s = time.monotonic()
        self.process = subprocess.Popen(
            [
                sys.executable,
                '-m',
                'cobalt_bringup.cli',
                'up',
                launch_file,
                *(f'{name}:={value}' for name, value in self.arguments.items()),
            ],
            stdout=self._output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env=os.environ
            | {'ROS_DOMAIN_ID': str(self.domain), 'XDG_STATE_HOME': str(log.parent.absolute() / 'state')},
        )

    def __enter__(self) -> 'RunningStack':
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def printed(self) -> str:
        """Returns what the stack has printed."""
        return self.log.read_text(errors='replace')

    def health(self) -> dict[str, Any] | None:
        """Returns the bridge's own word on its health; None while it does not answer."""
        try:
            with urllib.request.urlopen(self.address + 'healthz', timeout=2.0) as answer:
                return dict(json.load(answer))
        except (urllib.error.URLError, OSError, ValueError):
            return None

    def wait_until_live(self, workcells: int, timeout_s: float = 60.0) -> None:
        """Waits until the page is served and knows all workcells."""
        end = time.monotonic() + timeout_s
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise RuntimeError(f'the stack ended with {self.process.returncode}:\n{self.printed()}')
            health = self.health()
            if health is not None and len(health.get('workcells', ())) >= workcells:
                return
            time.sleep(0.1)
        raise TimeoutError(f'the stack is not live after {timeout_s:g} s: {self.health()}\n{self.printed()}')

    def nodes(self) -> dict[str, psutil.Process]:
        """Returns the running nodes by the name of their executable."""
        found = {}
        for child in psutil.Process(self.process.pid).children(recursive=True):
            try:
                for word in child.cmdline()[:3]:
                    if Path(word).name in _NODES:
                        found[Path(word).name] = child
            except psutil.Error:
                continue
        return found

    def stop(self, number: int = signal.SIGINT, timeout_s: float = 10.0) -> int:
        """Ends the stack as Ctrl-C does; returns the exit code of `cobalt up`."""
        if self.process.poll() is None:
            self.process.send_signal(number)
            try:
                self.process.wait(timeout_s)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self._output.close()
        return int(self.process.returncode)


def cpu_percent(processes: Mapping[str, psutil.Process], seconds: float) -> dict[str, float]:
    """Returns the CPU that each process, with its threads, uses over a while: 100 is one core."""

    def used(process: psutil.Process) -> float:
        times = process.cpu_times()
        return float(times.user + times.system)

    before = {name: used(process) for name, process in processes.items()}
    start_s = time.monotonic()
    time.sleep(seconds)
    elapsed_s = time.monotonic() - start_s
    return {name: 100.0 * (used(process) - before[name]) / elapsed_s for name, process in processes.items()}
