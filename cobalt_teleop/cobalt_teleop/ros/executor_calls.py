"""Runs functions on a node's executor, from any thread: endpoints come and go there and nowhere else."""

import threading
from collections import deque
from collections.abc import Callable

from rclpy.node import Node


class ExecutorCalls:
    """A queue of functions that the node's executor empties.

    What is posted before the node has an executor runs with what is posted next.

    Args:
        node: Whose executor it is.
    """

    def __init__(self, node: Node) -> None:
        self._calls: deque[Callable[[], None]] = deque()
        self._lock = threading.Lock()
        self._closed = False
        self._node = node

    def post(self, call: Callable[[], None]) -> None:
        """Has `call` run soon; calls run in the order in which they were posted."""
        with self._lock:
            if self._closed:
                return
            self._calls.append(call)
        executor = self._node.executor
        if executor is not None:
            executor.create_task(self._run)

    def close(self) -> None:
        """Drops what has not run."""
        with self._lock:
            self._closed = True
            self._calls.clear()

    def _run(self) -> None:
        while self._calls:
            self._calls.popleft()()
