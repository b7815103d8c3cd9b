"""A host, a bridge and the keyboard's node on one host of the small internet, and an operator's browser on another."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import rclpy
from bridge_process import BridgeProcess, running_host
from chromium import open_page, wait_for
from namespaces import SERVER_ADDRESS, SmallInternet
from playwright.sync_api import Page
from ros_operator import Operator, until

from cobalt_teleop.core import topics
from cobalt_teleop.workcell_host.ideal_plant import IdealPlant

PORT = 8443
TOKEN = 'a-token-for-tests-alone'
_RUN_KEYBOARD = 'import sys; from cobalt_devices.keyboard_node import main; sys.exit(main())'


class RemoteStack:
    """What runs on the server, and what it says.

    Args:
        operator: Hears control_step and samples.
        bridge: Serves pages on every network.
    """

    def __init__(self, operator: Operator, bridge: BridgeProcess) -> None:
        self._operator = operator
        self.bridge = bridge
        self.address = f'https://{SERVER_ADDRESS}:{PORT}/'
        operator.listen(topics.CONTROL_STEP)
        operator.listen(topics.CONTROL_STATE)
        operator.listen(topics.LINK)

    @property
    def height(self) -> float:
        """Measured height of the tool [m]."""
        return float(self._step().parts[0].pose.position.z)

    @property
    def moves(self) -> bool:
        """The host follows somebody."""
        return int(self._step().parts[0].authority) == 1

    @property
    def lease_id(self) -> str:
        """Of whoever has control; empty if nobody has."""
        return str(self._operator.newest(topics.CONTROL_STATE).lease_id)

    def steps_since(self, count: int) -> list[Any]:
        """Returns the rows after the first `count`."""
        return list(self._operator.heard[(topics.CONTROL_STEP.name, 'env_0')][count:])

    @property
    def link(self) -> Any:
        """Newest LinkStats that tells of a camera; None if there was none."""
        told = self._operator.heard[(topics.LINK.name, 'env_0')]
        return next((stats for stats in reversed(told) if stats.cameras), None)

    @property
    def steps(self) -> int:
        """How many rows have come."""
        return len(self._operator.heard[(topics.CONTROL_STEP.name, 'env_0')])

    def _step(self) -> Any:
        return until(lambda: self._operator.newest(topics.CONTROL_STEP), 'a row')


@contextlib.contextmanager
def remote_stack(
    internet: SmallInternet, *, plant: Callable[[], IdealPlant] = IdealPlant, **parameters: Any
) -> Iterator[RemoteStack]:
    """Runs a stack on the server.

    Args:
        internet: Where.
        plant: Makes what the host drives.
        parameters: Of the bridge.
    """
    os.environ['COBALT_TOKEN'] = TOKEN
    with internet.server.entered():
        rclpy.init()
        keyboard = subprocess.Popen([sys.executable, '-c', _RUN_KEYBOARD])
        try:
            with running_host('env_0', plant=plant):
                bridge = BridgeProcess(**{'host': '0.0.0.0', 'port': PORT} | parameters)
                operator = Operator('onlooker')
                try:
                    _wait_until_served(bridge)
                    yield RemoteStack(operator, bridge)
                finally:
                    operator.close()
                    printed = bridge.stop()
            assert 'Traceback' not in printed, printed
        finally:
            keyboard.send_signal(signal.SIGINT)
            keyboard.wait(10.0)
            rclpy.try_shutdown()
            del os.environ['COBALT_TOKEN']


def _wait_until_served(bridge: BridgeProcess) -> None:
    def answers() -> bool:
        assert bridge.process.poll() is None, bridge.stop()
        try:
            socket.create_connection((SERVER_ADDRESS, PORT), 1.0).close()
        except OSError:
            return False
        return True

    until(answers, 'the bridge', 20.0)


@contextlib.contextmanager
def remote_page(
    internet: SmallInternet, address: str, folder: Path, *, query: str = '', **options: Any
) -> Iterator[Page]:
    """Opens an address of the server in a browser on the client.

    Args:
        internet: Where.
        address: Without a token.
        folder: For the browser's starter.
        query: What else the address asks for.
        options: Of `open_page`.
    """
    with open_page(
        f'{address}?token={TOKEN}&{query}', starter=lambda path: internet.client.wrapper(path, folder), **options
    ) as page:
        yield page


def wait_until_live(page: Page, timeout_s: float = 30.0) -> float:
    """Waits for live video; returns how long that took [s]."""
    started = time.monotonic()
    wait_for(page, "cobalt.connection.level === 'live'", timeout_s)
    return time.monotonic() - started


def take_control(page: Page) -> None:
    """Takes control by a short press of a key."""
    page.keyboard.press('KeyE', delay=80)
    wait_for(page, 'cobalt.control.yours', 8.0)
