"""What tests of a device's page stand on: a bridge, a host with ideal arms, the device's nodes, pages in Chromium."""

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
import rclpy
from bridge_process import BridgeProcess
from chromium import chromium_path
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from ros_operator import Operator
from running_stack import free_domain

from cobalt_teleop.core import topics
from cobalt_teleop.workcell_host.host_node import HostNode
from cobalt_teleop.workcell_host.ideal_plant import IdealPlant
from cobalt_teleop.workcell_host.plant import Capabilities
from cobalt_teleop.workcell_host.workcell import HostOptions

FLAGS = ('--no-sandbox', '--disable-background-networking', '--disable-component-update')


class PatientPlant(IdealPlant):
    """Ideal arms of which a machine that is busy with a browser is not too slow to be told every 200 ms.

    Args:
        parts: Names of its arms.
        watchdog_s: Age of a command above which they hold [s].
    """

    def __init__(self, parts: tuple[str, ...] = ('arm',), *, watchdog_s: float) -> None:
        super().__init__(parts)
        self._watchdog_s = watchdog_s

    @property
    def capabilities(self) -> Capabilities:
        """What it is and can do."""
        known = super().capabilities
        patient = [replace(part, limits=replace(part.limits, watchdog_s=self._watchdog_s)) for part in known.parts]
        return replace(known, parts=tuple(patient))


@contextmanager
def running_stack(
    plants: Mapping[str, IdealPlant],
    make_nodes: Callable[[], Sequence[Node]],
    options: HostOptions | None = None,
    **bridge: Any,
) -> Iterator[BridgeProcess]:
    """Runs a bridge, a host and nodes of devices; `listener` of the bridge hears each workcell's control_step.

    Args:
        plants: By workcell.
        make_nodes: Makes the devices' nodes, once ROS runs.
        options: Of the host.
        bridge: Parameters of the bridge.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('ROS_DOMAIN_ID', os.environ.get('ROS_DOMAIN_ID', str(free_domain())))
        rclpy.init()
        host = HostNode('test_host')
        host.host(plants, options or HostOptions(render_threads=1))
        nodes = [host, *make_nodes()]
        executors = [SingleThreadedExecutor() for _ in nodes]
        for node, executor in zip(nodes, executors, strict=True):
            executor.add_node(node)
            threading.Thread(target=executor.spin, daemon=True).start()
        made = BridgeProcess(grace_s=3.0, **bridge).wait_until_served()
        made.listener = Operator('listener')
        for workcell in plants:
            made.listener.listen(topics.CONTROL_STEP, workcell)
        yield made
        output = made.stop()
        made.listener.close()
        for executor in executors:
            executor.shutdown()
        for node in nodes:
            if hasattr(node, 'close'):
                node.close()
            node.destroy_node()
        rclpy.try_shutdown()
    assert 'Traceback' not in output, output


@contextmanager
def running_chromium(flags: Sequence[str] = FLAGS) -> Iterator[Browser]:
    """Runs a Chromium for all tests of a file."""
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=chromium_path(), args=list(flags))
        yield made
        made.close()


def new_page(context: BrowserContext, scripts: Sequence[str]) -> Page:
    """Returns an empty page that runs scripts before its own, and collects in `problems` what it throws."""
    page = context.new_page()
    page.problems = []
    page.on('pageerror', lambda error: page.problems.append(str(error)))
    page.on('console', lambda entry: entry.type == 'error' and page.problems.append(entry.text))
    for script in scripts:
        page.add_init_script(script)
    return page
