"""One MCAP file that is being written: timed small chunks, durable chunk by chunk, checked against what was written."""

import time
import zlib
from collections import Counter
from collections.abc import Mapping
from io import BufferedWriter
from pathlib import Path

from mcap.exceptions import McapError
from mcap.reader import make_reader
from mcap.writer import CompressionType, Writer

from cobalt_recorder.offered_qos import as_yaml_list
from cobalt_recorder.reserved_file import ReservedFile
from cobalt_recorder.rosbag2_metadata import FileEntry, TopicEntry

CHUNK_BYTES = 256 * 1024
"""Size at which a chunk is closed: small, so that no message waits long for the compression of the chunk it ends."""

CHUNK_SECONDS = 0.6
"""Age at which a chunk is closed, so that less than a second is lost with the process or the power: some of that passes
before a message comes into a chunk."""

LIBRARY = 'cobalt_recorder'
"""What the file says of who wrote it."""

RESERVE_BYTES = 2 * 1024 * 1024
"""Put aside for the open chunk, the index and the metadata: of an hour of chunks, when the disk runs full."""

_BLOCK_BYTES = 1024 * 1024


class McapFile:
    """A new file. Not safe for use by several threads at once.

    Args:
        path: Must not exist.

    Raises:
        OSError: It cannot be made, or its reserve doesn't fit.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.about = FileEntry(path.name)
        """What metadata.yaml says of it."""
        self._file = ReservedFile(path, reserve_bytes=RESERVE_BYTES)
        self._writer = Writer(
            BufferedWriter(self._file),
            chunk_size=CHUNK_BYTES,
            compression=CompressionType.LZ4,
            enable_data_crcs=True,
        )
        self._writer.start(profile='ros2', library=LIBRARY)
        self._schemas: dict[str, int] = {}
        self._channels: dict[str, int] = {}
        self._counts: Counter[str] = Counter()
        self._chunk_started: float | None = None
        self.flush()

    @property
    def size_bytes(self) -> int:
        """Size so far."""
        return self._file.tell()

    @property
    def disk_full(self) -> bool:
        """The disk has run full; what is written now comes from the reserve: close soon."""
        return self._file.full

    @property
    def interference(self) -> str:
        """What somebody else did to the open file, in words; empty if nothing."""
        return self._file.interference()

    def add_topic(self, topic: TopicEntry, definition: bytes) -> None:
        """Makes a topic known.

        Args:
            topic: Whose.
            definition: Text of its type.
        """
        if topic.type not in self._schemas:
            self._schemas[topic.type] = self._writer.register_schema(
                name=topic.type, encoding='ros2msg', data=definition
            )
        self._channels[topic.name] = self._writer.register_channel(
            topic=topic.name,
            message_encoding='cdr',
            schema_id=self._schemas[topic.type],
            metadata={'offered_qos_profiles': as_yaml_list(topic.qos), 'topic_type_hash': topic.type_hash},
        )

    def add_facts(self, name: str, facts: Mapping[str, str]) -> None:
        """Writes a metadata record."""
        self._writer.add_metadata(name, dict(facts))

    def write(self, topic: str, data: bytes, *, received_ns: int, published_ns: int, sequence: int) -> None:
        """Writes one message of a topic that was added.

        Raises:
            OSError: It could not be written, not even from the reserve.
        """
        self._writer.add_message(self._channels[topic], received_ns, data, published_ns, sequence & 0xFFFFFFFF)
        self._counts[topic] += 1
        self.about.note(received_ns)
        if self._chunk_started is None:
            self._chunk_started = time.monotonic()

    def close_old_chunk(self) -> bool:
        """Closes the open chunk if its time has come; returns whether it has, and wants to be made durable."""
        if self._chunk_started is None or time.monotonic() - self._chunk_started < CHUNK_SECONDS:
            return False
        self._close_chunk()
        return True

    def flush(self) -> None:
        """Closes the open chunk and makes it durable."""
        self._close_chunk()
        self.sync()

    def sync(self) -> None:
        """Makes the closed chunks durable. Safe in another thread than the one that writes."""
        self._file.sync()

    def _close_chunk(self) -> None:
        self._writer.flush()  # type: ignore[no-untyped-call]
        self._chunk_started = None

    def close(self) -> None:
        """Writes the index; all of the file is durable when this returns.

        Raises:
            OSError: The end could not be written, or somebody has removed or cut the file. Whole chunks stay readable
                in file order.
        """
        interference = self._file.interference()
        try:
            self._writer.finish()  # type: ignore[no-untyped-call]
            self._writer.flush()  # type: ignore[no-untyped-call]
            self._file.sync()
        finally:
            self._file.close()
        if interference:
            raise OSError(interference)

    def is_as_written(self) -> bool:
        """Reads the closed file back, byte for byte; about a second for a gigabyte.

        Raises:
            OSError: It cannot be read.
        """
        crc = 0
        with self.path.open('rb') as stream:
            while block := stream.read(_BLOCK_BYTES):
                crc = zlib.crc32(block, crc)
            return (stream.tell(), crc) == (self._file.tell(), self._file.crc)

    def check(self) -> None:
        """Reopens the closed file, and compares its bytes and its counts with what was written.

        Raises:
            OSError: They differ.
        """
        if not self.is_as_written():
            raise OSError(f'{self.path} does not hold what was written to it')
        with self.path.open('rb') as stream:
            try:
                summary = make_reader(stream).get_summary()
            except McapError as error:
                raise OSError(f'the closed file cannot be read: {error}') from error
        counted = dict(summary.statistics.channel_message_counts) if summary and summary.statistics else {}
        for name, channel in self._channels.items():
            if counted.get(channel, 0) != self._counts[name]:
                raise OSError(
                    f'the closed file holds {counted.get(channel, 0)} of {self._counts[name]} messages of {name}'
                )
