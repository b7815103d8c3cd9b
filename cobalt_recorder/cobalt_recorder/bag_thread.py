"""Writes a bag in a thread of its own, so that a slow disk holds nobody up.

While much comes, another one makes it durable: neither waits for the other.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from cobalt_recorder.bag_writer import BagWriter
from cobalt_recorder.offered_qos import OfferedQos
from cobalt_teleop.core.errors import CobaltError

_LOOK_S = 0.1
"""How often small messages are written, and the age of the open chunk is looked at [s].

A thread that woke for each of them would cost more than what it writes.
"""

_AT_ONCE_BYTES = 500_000
"""When so much waits it is written at once."""

_GUARD_S = 0.5
"""How often the file is looked for in its place [s]."""


class RawMessage(NamedTuple):
    """A message as the middleware delivered it.

    Attributes:
        topic: Full name.
        data: CDR.
        received_ns: When this machine received it [ns].
        published_ns: When its source published it [ns].
        sequence: The publisher's count of its messages; 0 if unknown.
    """

    topic: str
    data: bytes
    received_ns: int
    published_ns: int
    sequence: int


@dataclass(frozen=True)
class NewTopic:
    """A topic that the bag has from here on."""

    name: str
    type: str
    qos: tuple[OfferedQos, ...]
    type_hash: str


@dataclass(frozen=True)
class _End:
    record: str
    facts: Mapping[str, str]
    custom: Mapping[str, str]


class BagThread:
    """A bag that is written behind a bounded queue.

    Args:
        writer: Belongs to the thread from here on.
        queue_bytes: Messages that would make the queue longer than this are refused.
    """

    def __init__(self, writer: BagWriter, *, queue_bytes: int) -> None:
        self._writer = writer
        self._limit = queue_bytes
        self._queue: deque[RawMessage | NewTopic | _End] = deque()
        self._queued_bytes = 0
        self._ends = False
        self._ready = threading.Condition()
        self._ended = threading.Event()
        self._fault = ''
        self._remains = ''
        self._guarded_s = time.monotonic()
        self._wants_sync = threading.Event()
        self._syncer = threading.Thread(target=self._sync, name=f'sync {writer.folder.name}', daemon=True)
        self._syncer.start()
        self._thread = threading.Thread(target=self._run, name=f'bag {writer.folder.name}', daemon=True)
        self._thread.start()

    @property
    def bytes_written(self) -> int:
        """Size of the file so far."""
        return self._writer.bytes_written

    @property
    def fault(self) -> str:
        """Why the bag cannot go on, in words; empty while all is well."""
        return self._fault

    @property
    def remains(self) -> str:
        """What is left of a bag with a fault, in words, once it has ended."""
        return self._remains

    @property
    def ended(self) -> bool:
        """The file is closed, well or not."""
        return self._ended.is_set()

    def add_topic(self, topic: NewTopic) -> None:
        """Makes a topic known to the bag, before its first message."""
        self._put(topic)

    def write(self, message: RawMessage) -> bool:
        """Queues a message; returns False if it was refused."""
        if self._fault or self._queued_bytes + len(message.data) > self._limit:
            return False
        self._put(message)
        return True

    def finish(self, record: str, facts: Mapping[str, str], custom: Mapping[str, str]) -> None:
        """Asks for all that is queued to be written and the file to be closed. Does not wait.

        Args:
            record: Name of the last metadata record.
            facts: Its content.
            custom: Joined to `custom_data` of metadata.yaml.
        """
        self._put(_End(record, facts, custom))

    def wait(self, timeout_s: float) -> bool:
        """Waits for the file to be closed; returns False if the time has run out."""
        return self._ended.wait(timeout_s)

    def _put(self, item: RawMessage | NewTopic | _End) -> None:
        with self._ready:
            self._queue.append(item)
            if isinstance(item, RawMessage):
                self._queued_bytes += len(item.data)
            self._ends |= isinstance(item, _End)
            if self._ends or self._queued_bytes >= _AT_ONCE_BYTES:
                self._ready.notify()

    def _take(self) -> list[RawMessage | NewTopic | _End]:
        with self._ready:
            if not self._ends and self._queued_bytes < _AT_ONCE_BYTES:
                self._ready.wait(_LOOK_S)
            items = list(self._queue)
            self._queue.clear()
            return items

    def _run(self) -> None:
        end: _End | None = None
        while end is None:
            for item in self._take():
                if isinstance(item, _End):
                    end = item
                else:
                    self._write_one(item)
            if not self._fault and end is None:
                self._attempt(self._close_old_chunk)
                self._guard()
        # Closed after a fault too: from the reserve, a full disk still gets a bag that ordinary readers open.
        try:
            self._writer.close(end.record, end.facts, end.custom)
        except OSError as error:
            self._fault = self._fault or _in_words(error)
        if self._fault:
            self._remains = self._writer.remains()
        self._ended.set()
        self._wants_sync.set()

    def _close_old_chunk(self) -> None:
        if not self._writer.close_old_chunk():
            return
        if self._queued_bytes < _AT_ONCE_BYTES:
            self._writer.sync()
        else:
            self._wants_sync.set()

    def _sync(self) -> None:
        while not self._ended.is_set():
            self._wants_sync.wait()
            self._wants_sync.clear()
            self._attempt(self._writer.sync)

    def _guard(self) -> None:
        if time.monotonic() - self._guarded_s >= _GUARD_S:
            self._guarded_s = time.monotonic()
            self._fault = self._fault or self._writer.interference

    def _write_one(self, item: RawMessage | NewTopic) -> None:
        if isinstance(item, NewTopic):
            self._attempt(lambda: self._writer.add_topic(item.name, item.type, item.qos, item.type_hash))
            return
        if not self._fault:
            self._attempt(
                lambda: self._writer.write(
                    item.topic,
                    item.data,
                    received_ns=item.received_ns,
                    published_ns=item.published_ns,
                    sequence=item.sequence,
                )
            )
        with self._ready:
            self._queued_bytes -= len(item.data)

    def _attempt(self, write: Callable[[], None]) -> None:
        try:
            write()
        except (OSError, CobaltError) as error:
            self._fault = _in_words(error)
        if self._writer.disk_full and not self._fault:
            self._fault = f'the disk of {self._writer.folder} is full'


def _in_words(error: Exception) -> str:
    return f'{error.strerror}: {error.filename}' if isinstance(error, OSError) and error.filename else str(error)
