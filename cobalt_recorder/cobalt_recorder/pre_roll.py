"""What a workcell has published of late while nothing is recorded: it becomes the beginning of the next bag."""

import math
import time
from collections import deque
from typing import Any

from rclpy.node import Node

from cobalt_recorder.bag_thread import RawMessage
from cobalt_recorder.key_frames import is_key_frame
from cobalt_recorder.topic_taker import TopicTaker

_IN_BOTH_NS = 100_000_000
"""What came so shortly before the end may still come to the recording itself [ns]."""


class _Newest:
    """The newest messages of one topic; those of a video begin with a key frame."""

    def __init__(self, *, is_video: bool) -> None:
        self._is_video = is_video
        self._groups: deque[list[RawMessage]] = deque()

    @property
    def oldest_ns(self) -> float:
        """Infinite if nothing is kept."""
        return self._groups[0][0].received_ns if self._groups else math.inf

    def add(self, message: RawMessage) -> int:
        """Keeps a message, unless nothing can be made of it; returns its bytes."""
        if not self._is_video or is_key_frame(message.data):
            self._groups.append([message])
        elif self._groups:
            self._groups[-1].append(message)
        else:
            return 0
        return len(message.data)

    def drop_oldest(self) -> int:
        """Drops what cannot be used alone; returns its bytes."""
        return sum(len(message.data) for message in self._groups.popleft())

    def has_older_than(self, time_ns: int) -> bool:
        """A video's group is needed as long as the next one begins too late."""
        if self._is_video:
            return len(self._groups) > 1 and self._groups[1][0].received_ns <= time_ns
        return self.oldest_ns < time_ns

    def messages(self) -> list[RawMessage]:
        return [message for group in self._groups for message in group]


class PreRoll:
    """Listens to a workcell, and keeps the last seconds. Its methods belong to the executor's thread.

    Args:
        node: Owns the subscriptions.
        info: WorkcellInfo of the workcell.
        seconds: How much is kept [s]; of a video, from the key frame before that on.
        most_bytes: Bound of what is kept; the oldest goes first.
    """

    def __init__(self, node: Node, info: Any, *, seconds: float, most_bytes: int) -> None:
        self._kept_ns = int(seconds * 1e9)
        self._most_bytes = most_bytes
        self._bytes = 0
        self._taker = TopicTaker(node, info.workcell_id)
        self._newest: dict[str, _Newest] = {}

    def sweep(self, info: Any, *, forgets: bool = True) -> None:
        """Takes what has come. Call many times a second.

        Args:
            info: Newest WorkcellInfo.
            forgets: What is too old goes; not any more once an episode was announced.
        """
        self._taker.look_around(info)
        self._taker.unsettled()  # asks cameras for their first key frame
        for message in self._taker.take():
            self._keep(message)
        if forgets:
            self._forget()
        while self._bytes > self._most_bytes:
            self._bytes -= min(self._newest.values(), key=lambda kept: kept.oldest_ns).drop_oldest()

    def end(self, info: Any, *, first: dict[str, int]) -> list[RawMessage]:
        """Ends the subscriptions; returns what came before a recording, in the order of arrival.

        Args:
            info: Newest WorkcellInfo.
            first: When the first message of each topic was published that the recording has itself [ns].
        """
        self.sweep(info, forgets=False)
        self._taker.close()
        until_ns = time.time_ns() - _IN_BOTH_NS
        before = [
            message
            for name, kept in self._newest.items()
            for message in kept.messages()
            if message.published_ns < first.get(name, until_ns)
        ]
        return sorted(before, key=lambda message: message.received_ns)

    def _forget(self) -> None:
        oldest_ns = time.time_ns() - self._kept_ns
        for kept in self._newest.values():
            while kept.has_older_than(oldest_ns):
                self._bytes -= kept.drop_oldest()

    def _keep(self, message: RawMessage) -> None:
        if message.topic not in self._newest:
            self._newest[message.topic] = _Newest(is_video=self._taker.is_video(message.topic))
        self._bytes += self._newest[message.topic].add(message)
