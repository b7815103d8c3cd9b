"""Who published a message, for callbacks that must not take one publisher for another."""

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from rclpy.node import Node

_PROCESS_BYTES = 12


class Origin(NamedTuple):
    """The publisher of a message.

    Attributes:
        gid: Of the publisher; empty where the middleware does not tell (before Kilted): all are one then.
        process: What the publishers of one process share; with a middleware that has no such thing, the gid.
    """

    gid: bytes
    process: bytes


UNTOLD = Origin(b'', b'')


def origin_of(info: Any) -> Origin:
    """Returns the publisher that the middleware's information on a message names."""
    publisher = info.get('publisher_gid')
    if not publisher:
        return UNTOLD
    gid = bytes(publisher['data'])
    # In Fast DDS the participant's prefix comes first, and a process has one participant.
    return Origin(
        gid, gid[:_PROCESS_BYTES] if publisher['implementation_identifier'].startswith('rmw_fastrtps') else gid
    )


class WithOrigin:
    """A subscription's callback that is handed each message with its publisher.

    Kilted's EventsExecutor hands message and information over as one tuple, other executors as two arguments; rclpy
    asks the signature whether a callback wants the information.

    Args:
        take: Called with the message and its publisher.
    """

    __signature__ = inspect.Signature(
        [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in ('message', 'info')]
    )

    def __init__(self, take: Callable[[Any, Origin], None]) -> None:
        self._take = take

    def __call__(self, *given: Any) -> None:
        """Takes what an executor hands over."""
        message, info = given if len(given) == 2 else given[0]
        self._take(message, origin_of(info))


def publishers_of(node: Node, topic: str) -> dict[bytes, str]:
    """Returns the full name of the node of each publisher of a topic, by the publisher's gid."""
    return {
        bytes(info.endpoint_gid): f'{info.node_namespace.rstrip("/")}/{info.node_name}'
        for info in node.get_publishers_info_by_topic(topic)
    }
