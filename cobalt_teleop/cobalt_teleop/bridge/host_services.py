"""Calls the services of one host, from the event loop."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

from rclpy.client import Client
from rclpy.exceptions import InvalidHandle
from rclpy.node import Node

from cobalt_interfaces import srv
from cobalt_teleop.core import topics
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.ros.executor_calls import ExecutorCalls

READY_PERIOD_S = 0.05

REPEAT_S = 0.7
"""An answer to a client that the host has just discovered may be lost: repeatable questions are asked again [s]."""

REPEATABLE = frozenset({'AcquireControl', 'LabelEpisode', 'EmergencyStop', 'SetCamera'})

USED_SERVICES = (
    'AcquireControl',
    'ReleaseControl',
    'TransferControl',
    'StartEpisode',
    'EndEpisode',
    'LabelEpisode',
    'Home',
    'EmergencyStop',
    'ClearEmergencyStop',
    'SetCamera',
)


class ServiceError(CobaltError):
    """A host did not answer, or said no; the message is for the operator."""


class RefusedError(ServiceError):
    """A host said no.

    Args:
        reason: In words.
        answer: The service's response.
    """

    def __init__(self, reason: str, answer: Any) -> None:
        super().__init__(reason)
        self.answer = answer


class HostServices:
    """Clients that stand as long as the bridge runs: a stop waits for no discovery.

    Args:
        node: Owns them.
        calls: The way onto the node's executor.
        loop: Where answers are awaited.
        host_id: Whose services.
    """

    def __init__(self, node: Node, calls: ExecutorCalls, loop: asyncio.AbstractEventLoop, host_id: str) -> None:
        self._node = node
        self._calls = calls
        self._loop = loop
        self._host_id = host_id
        self._clients: dict[str, Client] = {}
        calls.post(self._open)

    async def call(self, service: str, timeout_s: float, **fields: Any) -> Any:
        """Calls a service of the host and returns its answer, which says ok.

        Args:
            service: Its name.
            timeout_s: For the host to be there, and again for its answer [s].
            fields: Of the request.

        Raises:
            ServiceError: The host is not there, did not answer in time, or refused; with the reason in words.
        """
        deadline_s = time.monotonic() + timeout_s
        while not self._is_ready(service):
            if time.monotonic() > deadline_s:
                raise ServiceError(f'the host {self._host_id} is not there')
            await asyncio.sleep(READY_PERIOD_S)
        response = await self._answer(service, timeout_s, fields)
        if not response.ok:
            raise RefusedError(response.reason or f'the host {self._host_id} refused without a reason', response)
        return response

    def release_at_exit(self, workcell_id: str, lease_id: str) -> None:
        """Gives a lease back without waiting for an answer: for the end of the process, when no executor spins."""
        client = self._clients.get('ReleaseControl')
        if client is not None and client.service_is_ready():
            client.call_async(srv.ReleaseControl.Request(workcell_id=workcell_id, lease_id=lease_id))

    async def _answer(self, service: str, timeout_s: float, fields: dict[str, Any]) -> Any:
        """Returns the first answer, to whichever time of asking: a slow host answers them all, each late."""
        answer: asyncio.Future[Any] = self._loop.create_future()

        def settle(result: Any, error: Exception | None) -> None:
            if not answer.done():
                if error is None:
                    answer.set_result(result)
                else:
                    answer.set_exception(error)

        deadline_s = time.monotonic() + timeout_s
        while not answer.done():
            left_s = deadline_s - time.monotonic()
            if left_s <= 0.0:
                answer.cancel()
                raise ServiceError(f'the host {self._host_id} did not answer within {timeout_s:g} s')
            self._calls.post(lambda: self._call(service, fields, settle))
            await asyncio.wait({answer}, timeout=min(left_s, REPEAT_S) if service in REPEATABLE else left_s)
        return answer.result()

    def _open(self) -> None:
        for service in USED_SERVICES:
            self._clients[service] = self._node.create_client(
                getattr(srv, service), topics.service_name(self._host_id, service)
            )

    def _is_ready(self, service: str) -> bool:
        client = self._clients.get(service)
        try:
            return client is not None and bool(client.service_is_ready())
        except InvalidHandle:
            return False  # the process is ending

    def _call(self, service: str, fields: dict[str, Any], settle: Callable[[Any, Exception | None], None]) -> None:
        future = self._clients[service].call_async(getattr(srv, service).Request(**fields))
        future.add_done_callback(lambda done: self._to_loop(lambda: settle(done.result(), done.exception())))

    def _to_loop(self, call: Callable[[], None]) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(call)
