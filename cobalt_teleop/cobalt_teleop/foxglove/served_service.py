"""One service of the ROS graph as a service of the server."""

import contextlib
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from typing import Any

from foxglove import MessageSchema, Schema, Service, ServiceRequest, ServiceSchema
from rclpy.exceptions import InvalidHandle
from rclpy.node import Node
from rclpy.serialization import deserialize_message, serialize_message

from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.ros.executor_calls import ExecutorCalls
from cobalt_teleop.ros.interface_text import service_texts
from cobalt_teleop.ros.message_types import message_class

MAX_REQUEST_BYTES = 64 * 1024
_READY_PERIOD_S = 0.02


class ServiceCallError(CobaltError):
    """A call could not be passed on, or was not answered; the message is for the person at the client."""


class ServedService:
    """Passes a client's calls to a ROS service.

    Args:
        node: Owns the ROS client.
        calls: The way onto the node's executor.
        name: Full name of the service.
        ros_type: Its type, such as `std_srvs/srv/Trigger`.
        timeout_s: How long an answer may take [s].
        log: Hears of each call.

    Raises:
        CobaltError: The type is not installed.
    """

    def __init__(
        self,
        node: Node,
        calls: ExecutorCalls,
        name: str,
        ros_type: str,
        *,
        timeout_s: float,
        log: Callable[[str], object],
    ) -> None:
        self._node = node
        self._calls = calls
        self._name = name
        self._class = message_class(ros_type)
        self._timeout_s = timeout_s
        self._log = log
        self.type = ros_type
        request, response = service_texts(ros_type)
        self.service = Service(
            name,
            schema=ServiceSchema(
                ros_type,
                request=_schema(f'{ros_type}_Request', request),
                response=_schema(f'{ros_type}_Response', response),
            ),
            handler=self._answer,
        )
        self._client = node.create_client(self._class, name)
        self._ended = threading.Event()
        self._answers: set[Future[Any]] = set()

    def end_calls(self) -> None:
        """Lets the calls that still wait for an answer fail at once; may be called from any thread."""
        self._ended.set()
        for answer in tuple(self._answers):
            with contextlib.suppress(InvalidStateError):
                answer.set_exception(ServiceCallError(f'the server ended before {self._name} answered'))

    def close(self) -> None:
        """Ends the ROS client, on the executor."""
        self._node.destroy_client(self._client)

    def _answer(self, request: ServiceRequest) -> bytes:
        """Runs in a thread of the server; what it raises is told to the client."""
        deadline_s = time.monotonic() + self._timeout_s
        try:
            message = self._message(request)
            while not self._is_ready():
                if time.monotonic() > deadline_s or self._ended.is_set():
                    raise ServiceCallError(f'nobody serves {self._name} any more')
                time.sleep(_READY_PERIOD_S)
            response = self._response(message, deadline_s)
        except ServiceCallError as error:
            self._log(f'client {request.client_id} called {self._name}: {error}')
            raise
        self._log(f'client {request.client_id} called {self._name}: {_verdict(response)}')
        return bytes(serialize_message(response))

    def _response(self, message: Any, deadline_s: float) -> Any:
        answer: Future[Any] = Future()
        self._answers.add(answer)
        self._calls.post(lambda: self._ask(message, answer))
        try:
            return answer.result(max(0.0, deadline_s - time.monotonic()))
        except TimeoutError:
            raise ServiceCallError(f'{self._name} did not answer within {self._timeout_s:g} s') from None
        finally:
            self._answers.discard(answer)

    def _message(self, request: ServiceRequest) -> Any:
        if len(request.payload) > MAX_REQUEST_BYTES:
            raise ServiceCallError(f'the request has {len(request.payload)} bytes; {MAX_REQUEST_BYTES} are allowed')
        try:
            return deserialize_message(request.payload, self._class.Request)
        except Exception as error:
            raise ServiceCallError(f'the request is no {self.type}_Request in CDR: {error}') from None

    def _is_ready(self) -> bool:
        try:
            return bool(self._client.service_is_ready())
        except InvalidHandle:
            return False  # the executor has just destroyed it

    def _ask(self, message: Any, answer: 'Future[Any]') -> None:
        try:
            asked = self._client.call_async(message)
        except InvalidHandle:
            answer.set_exception(ServiceCallError(f'nobody serves {self._name} any more'))
            return

        def settle(done: Any) -> None:
            with contextlib.suppress(InvalidStateError):  # nobody waits for it any more
                if done.exception() is not None:
                    answer.set_exception(ServiceCallError(f'{self._name} failed: {done.exception()}'))
                else:
                    answer.set_result(done.result())

        asked.add_done_callback(settle)


def _schema(name: str, text: str) -> MessageSchema:
    return MessageSchema(encoding='cdr', schema=Schema(name=name, encoding='ros2msg', data=text.encode()))


def _verdict(response: Any) -> str:
    if getattr(response, 'ok', True):
        return 'done'
    return f'refused: {getattr(response, "reason", "") or "without a reason"}'
