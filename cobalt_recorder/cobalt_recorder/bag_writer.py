"""Writes one rosbag2 bag in MCAP from serialised messages."""

import time
import zlib
from collections.abc import Mapping
from io import BufferedWriter
from pathlib import Path

from mcap.exceptions import McapError
from mcap.reader import make_reader
from mcap.writer import CompressionType, Writer

from cobalt_recorder.offered_qos import OfferedQos, as_yaml_list
from cobalt_recorder.reserved_file import ReservedFile
from cobalt_recorder.rosbag2_metadata import BagMetadata, TopicEntry, sync_folder
from cobalt_teleop.ros.interface_text import message_text

CHUNK_BYTES = 256 * 1024
"""Size at which a chunk is closed: small, so that no message waits long for the compression of the chunk it ends."""

CHUNK_SECONDS = 0.8
"""Age at which a chunk is closed, so that less than a second is lost with the process or the power."""

LIBRARY = 'cobalt_recorder'
"""What the file says of who wrote it."""

_BLOCK_BYTES = 1024 * 1024

RESERVE_BYTES = 2 * 1024 * 1024
"""Put aside for the open chunk, the index and the metadata: of an hour of chunks, when the disk runs full."""


class BagWriter:
    """One bag: a folder with metadata.yaml, which is there from the start, and one MCAP file.

    Not safe for use by several threads at once.

    Args:
        folder: Of the bag; made here, and must not exist.
        custom: Facts for `custom_data` of metadata.yaml.
        file_name: Of the MCAP file; named after the folder if not given.

    Raises:
        OSError: The folder or file cannot be made; FileExistsError if the folder is there already.
    """

    def __init__(self, folder: Path, custom: Mapping[str, str], *, file_name: str = '') -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self._metadata = BagMetadata(file_name=file_name or f'{folder.name}_0.mcap', custom=dict(custom))
        try:
            self._file = ReservedFile(folder / self._metadata.file_name, reserve_bytes=RESERVE_BYTES)
        except OSError:
            folder.rmdir()
            raise
        self._writer = Writer(
            BufferedWriter(self._file),
            chunk_size=CHUNK_BYTES,
            compression=CompressionType.LZ4,
            enable_data_crcs=True,
        )
        self._writer.start(profile='ros2', library=LIBRARY)
        self._schemas: dict[str, int] = {}
        self._channels: dict[str, tuple[int, TopicEntry]] = {}
        self._chunk_started: float | None = None
        self.flush()
        self._metadata.write(folder)
        sync_folder(folder.parent)

    @property
    def bytes_written(self) -> int:
        """Size of the file so far."""
        return self._file.tell()

    @property
    def disk_full(self) -> bool:
        """The disk has run full; what is written now comes from the reserve: close soon."""
        return self._file.full

    @property
    def counts(self) -> dict[str, int]:
        """Messages written, by topic."""
        return {name: entry.count for name, (_, entry) in self._channels.items()}

    @property
    def interference(self) -> str:
        """What somebody else did to the open file, in words; empty if nothing."""
        return self._file.interference()

    def add_topic(
        self,
        name: str,
        ros_type: str,
        qos: tuple[OfferedQos, ...] = (),
        type_hash: str = '',
        *,
        definition: bytes | None = None,
    ) -> None:
        """Makes the topic known; a second time has no effect.

        Args:
            name: Full name.
            ros_type: ROS type.
            qos: What its publishers offer.
            type_hash: RIHS01 hash of the type; empty if unknown.
            definition: Text of the type; the installed one if not given.

        Raises:
            CobaltError: The type's definition is not installed.
        """
        if name in self._channels:
            return
        if ros_type not in self._schemas:
            text = message_text(ros_type).encode() if definition is None else definition
            self._schemas[ros_type] = self._writer.register_schema(name=ros_type, encoding='ros2msg', data=text)
        about = {'offered_qos_profiles': as_yaml_list(qos), 'topic_type_hash': type_hash}
        channel = self._writer.register_channel(
            topic=name, message_encoding='cdr', schema_id=self._schemas[ros_type], metadata=about
        )
        entry = TopicEntry(name, ros_type, qos, type_hash)
        self._channels[name] = channel, entry
        self._metadata.topics.append(entry)

    def write_metadata(self) -> None:
        """Brings metadata.yaml up to date with the topics and counts so far."""
        self._metadata.write(self.folder)

    def add_facts(self, name: str, facts: Mapping[str, str]) -> None:
        """Writes a metadata record, at once."""
        self._writer.add_metadata(name, dict(facts))
        self.flush()

    def write(self, topic: str, data: bytes, *, received_ns: int, published_ns: int, sequence: int = 0) -> None:
        """Writes one message.

        Args:
            topic: One that was added.
            data: CDR as the middleware delivered it.
            received_ns: When this machine received it: the log time.
            published_ns: When its source published it.
            sequence: The publisher's count of its messages; 0 if unknown.

        Raises:
            OSError: It could not be written, not even from the reserve.
        """
        channel, entry = self._channels[topic]
        self._writer.add_message(channel, received_ns, data, published_ns, sequence & 0xFFFFFFFF)
        entry.count += 1
        about = self._metadata
        about.start_ns = min(about.start_ns, received_ns) if about.start_ns else received_ns
        about.end_ns = max(about.end_ns, received_ns)
        if self._chunk_started is None:
            self._chunk_started = time.monotonic()

    def close_old_chunk(self) -> None:
        """Closes the open chunk if its time has come, and makes it durable. Call several times a second."""
        if self._chunk_started is not None and time.monotonic() - self._chunk_started >= CHUNK_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Closes the open chunk and makes it durable."""
        self._writer.flush()  # type: ignore[no-untyped-call]
        self._file.sync()
        self._chunk_started = None

    def close(self, name: str, facts: Mapping[str, str], custom: Mapping[str, str]) -> None:
        """Writes the last metadata record, the index and metadata.yaml; all of it is durable when this returns.

        Args:
            name: Of the metadata record.
            facts: Its content.
            custom: Joined to `custom_data` of metadata.yaml.

        Raises:
            OSError: The end could not be written, or the closed file doesn't hold what was written, byte for byte.
                Whole chunks stay readable in file order.
        """
        self._metadata.custom.update(custom)
        interference = self._file.interference()
        try:
            self._writer.add_metadata(name, dict(facts))
            self._writer.finish()  # type: ignore[no-untyped-call]
            self._writer.flush()  # type: ignore[no-untyped-call]
            self._file.sync()
        finally:
            self._file.close()
            self._metadata.write(self.folder)
        if interference:
            raise OSError(interference)
        self._check()

    def remains(self) -> str:
        """Returns in words what is left of a bag that was closed after something went wrong."""
        try:
            whole = self._is_as_written()
        except OSError:
            return f'nothing of it is in {self.folder}'
        return (
            'what was written until then is kept' if whole else '`cobalt bag info` shows what of it can still be read'
        )

    def _is_as_written(self) -> bool:
        """Reads the closed file back; about a second for a gigabyte."""
        crc = 0
        with (self.folder / self._metadata.file_name).open('rb') as stream:
            while block := stream.read(_BLOCK_BYTES):
                crc = zlib.crc32(block, crc)
            return (stream.tell(), crc) == (self._file.tell(), self._file.crc)

    def _check(self) -> None:
        """Reopens the closed file, and compares its bytes and its counts with what was written."""
        if not self._is_as_written():
            raise OSError(f'{self.folder / self._metadata.file_name} does not hold what was written to it')
        with (self.folder / self._metadata.file_name).open('rb') as stream:
            try:
                summary = make_reader(stream).get_summary()
            except McapError as error:
                raise OSError(f'the closed file cannot be read: {error}') from error
        counted = dict(summary.statistics.channel_message_counts) if summary and summary.statistics else {}
        for name, (channel, entry) in self._channels.items():
            if counted.get(channel, 0) != entry.count:
                raise OSError(f'the closed file holds {counted.get(channel, 0)} of {entry.count} messages of {name}')
