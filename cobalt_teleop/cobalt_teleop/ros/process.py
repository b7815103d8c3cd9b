"""The life of a node's process: starts, spins, ends quietly on SIGINT and SIGTERM.

Measured: with rclpy's own handlers `ros2 launch` (which sends SIGINT twice) makes an ordinary `finally: destroy_node()`
fail 7 times of 8; this order never did.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import rclpy
from rclpy.executors import Executor, ExternalShutdownException, ShutdownException, SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.parameter_file import read_parameter_file
from cobalt_teleop.ros.parameters import help_text

SPIN_S = 1.0
"""An executor looks at least this often whether it is to end [s]; Kilted's EventsExecutor does nothing in `spin`."""


class Stop:
    """The order to end this process, from a signal or from the node itself."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self.exit_code = 0
        self.reason = ''

    def request(self, reason: str = '', *, exit_code: int = 0) -> None:
        """Asks the process to end; an exit code other than 0 comes with a sentence for the person."""
        if not self._event.is_set():
            self.reason, self.exit_code = reason, exit_code
            self._event.set()

    def wait(self) -> None:
        """Waits for the order."""
        while not self._event.wait(0.5):
            pass


class _EndedWhileStarting(BaseException):
    """SIGTERM came while a node was being made, which may take longer than whoever sent it waits."""


def _name_transport_profile() -> None:
    """Gives Fast DDS its profile file under the old name where ROS 2 reads that one alone; later ones warn of it."""
    profile = os.environ.get('FASTDDS_DEFAULT_PROFILES_FILE')
    if profile and os.environ.get('ROS_DISTRO') == 'jazzy':
        os.environ.setdefault('FASTRTPS_DEFAULT_PROFILES_FILE', profile)


@dataclass(frozen=True)
class NodePlan:
    """A node that a process runs.

    Attributes:
        name: Of the node.
        parameters: Its parameter dataclass, for `--help`.
        build: Makes it; may raise CobaltError. If the node has a method `close`, it is called at the end.
    """

    name: str
    parameters: type[Any]
    build: Callable[[Stop], Node]


def _parameter_files(arguments: Sequence[str]) -> list[Path]:
    return [Path(file) for word, file in pairwise(arguments) if word == '--params-file']


def run_node(
    program: str,
    summary: str,
    parameters: type[Any],
    build: Callable[[Stop], Node],
    argv: Sequence[str] | None = None,
    make_executor: Callable[[], Executor] = SingleThreadedExecutor,
) -> int:
    """Runs a node until SIGINT, SIGTERM, or its own request to stop.

    Args:
        program: Name of the executable, for messages.
        summary: One sentence, for `--help`.
        parameters: The node's parameter dataclass, for `--help`.
        build: Makes the node; may raise CobaltError. If the node has a method `close`, it is called at the end.
        argv: Arguments without the program's name; those of the process by default.
        make_executor: Returns the executor that spins the node.

    Returns:
        The exit code: 0 after a signal, 2 if the node refused to start, 1 if it failed.
    """
    return run_nodes(program, summary, (NodePlan(program, parameters, build),), argv, make_executor)


def run_nodes(
    program: str,
    summary: str,
    plans: Sequence[NodePlan],
    argv: Sequence[str] | None = None,
    make_executor: Callable[[], Executor] = SingleThreadedExecutor,
) -> int:
    """Runs several nodes in one process and one executor, as `run_node` runs one.

    Args:
        program: Name of the executable, for messages.
        summary: For `--help`.
        plans: The nodes.
        argv: Arguments without the program's name; those of the process by default.
        make_executor: Returns the executor that spins the nodes.

    Returns:
        The exit code, as `run_node`.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    own = arguments[: arguments.index('--ros-args')] if '--ros-args' in arguments else arguments
    if '--help' in own or '-h' in own:
        print(help_text(program, summary, {plan.name: plan.parameters for plan in plans}))
        return 0
    if own:
        print(f"{program}: unknown argument '{own[0]}'. See {program} --help", file=sys.stderr)
        return 2

    _name_transport_profile()
    stop = Stop()
    starting = False

    def on_signal(number: int, _frame: object) -> None:
        stop.request()
        if number == signal.SIGTERM and starting:
            raise _EndedWhileStarting

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, on_signal)
    try:
        for file in _parameter_files(arguments):
            read_parameter_file(file)
    except CobaltError as error:
        print(f'{program}: {error}', file=sys.stderr)
        return 2
    try:
        rclpy.init(args=[program, *arguments], signal_handler_options=SignalHandlerOptions.NO)
    except Exception as error:
        print(f'{program}: ROS 2 did not start: {error}', file=sys.stderr)
        return 2
    nodes: list[Node] = []
    try:
        try:
            starting = True
            nodes += (plan.build(stop) for plan in plans)
            starting = False
        except _EndedWhileStarting:
            return 0
        except CobaltError as error:
            print(f'{program}: {error}', file=sys.stderr)
            return 2
        except rclpy_implementation.RCLError as error:
            print(f'{program}: ROS 2 refused the node: {error}', file=sys.stderr)
            return 2
        executor = make_executor()
        for node in nodes:
            executor.add_node(node)
        ending = threading.Event()

        def spin() -> None:
            try:
                while not ending.is_set():
                    executor.spin_once(timeout_sec=SPIN_S)
            except (ExternalShutdownException, ShutdownException):
                pass
            except Exception as error:
                nodes[0].get_logger().fatal(f'{type(error).__name__}: {error}')
                stop.request(f'stopped by an unexpected {type(error).__name__}: {error}', exit_code=1)
                raise

        spinner = threading.Thread(target=spin, name='executor', daemon=True)
        spinner.start()
        stop.wait()
        ending.set()
        executor.shutdown(timeout_sec=2.0)
        spinner.join(timeout=2.0)
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        for node in nodes:
            close = getattr(node, 'close', None)
            if close is not None:
                close()
            node.destroy_node()
        rclpy.try_shutdown()
    if stop.reason:
        print(f'{program}: {stop.reason}', file=sys.stderr)
    return stop.exit_code
