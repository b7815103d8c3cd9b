"""Writes one rosbag2 bag in MCAP from serialised messages, in one file or, if it grows long, in several."""

from collections.abc import Mapping
from pathlib import Path

from cobalt_recorder.mcap_file import McapFile
from cobalt_recorder.offered_qos import OfferedQos
from cobalt_recorder.rosbag2_metadata import BagMetadata, TopicEntry, sync_folder
from cobalt_teleop.ros.interface_text import message_text


class BagWriter:
    """One bag: a folder with metadata.yaml, which is there from the start, and its MCAP files.

    Not safe for use by several threads at once, but for `sync`.

    Args:
        folder: Of the bag; made here, and must not exist.
        custom: Facts for `custom_data` of metadata.yaml.
        file_name: Of the MCAP file; named after the folder if not given, as further files are.
        split_bytes: Size of a file from which on the bag goes on in another one; 0 for never. Where the disk has no
            room for another file the bag stays in the one it has.

    Raises:
        OSError: The folder or file cannot be made; FileExistsError if the folder is there already.
    """

    def __init__(self, folder: Path, custom: Mapping[str, str], *, file_name: str = '', split_bytes: int = 0) -> None:
        self.folder = folder
        self._split_bytes = self._next_split = split_bytes
        folder.mkdir(parents=True)
        try:
            self._file = McapFile(folder / (file_name or f'{folder.name}_0.mcap'))
        except OSError:
            folder.rmdir()
            raise
        self._full: list[McapFile] = []
        self._metadata = BagMetadata(files=[self._file.about], custom=dict(custom))
        self._topics: dict[str, TopicEntry] = {}
        self._definitions: dict[str, bytes] = {}
        self._metadata.write(folder)
        sync_folder(folder.parent)

    @property
    def bytes_written(self) -> int:
        """Size of the files so far."""
        return sum(file.size_bytes for file in (*self._full, self._file))

    @property
    def disk_full(self) -> bool:
        """The disk has run full; what is written now comes from the reserve: close soon."""
        return self._file.disk_full

    @property
    def counts(self) -> dict[str, int]:
        """Messages written, by topic."""
        return {name: entry.count for name, entry in self._topics.items()}

    @property
    def interference(self) -> str:
        """What somebody else did to the open file, in words; empty if nothing."""
        return self._file.interference

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
        if name in self._topics:
            return
        if ros_type not in self._definitions:
            self._definitions[ros_type] = message_text(ros_type).encode() if definition is None else definition
        entry = TopicEntry(name, ros_type, qos, type_hash)
        self._file.add_topic(entry, self._definitions[ros_type])
        self._topics[name] = entry
        self._metadata.topics.append(entry)

    def write_metadata(self) -> None:
        """Brings metadata.yaml up to date with the topics and counts so far."""
        self._metadata.write(self.folder)

    def add_facts(self, name: str, facts: Mapping[str, str]) -> None:
        """Writes a metadata record, at once."""
        self._file.add_facts(name, facts)
        self._file.flush()

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
        if self._split_bytes and self._file.size_bytes >= self._next_split:
            self._go_on_in_another_file()
        self._file.write(topic, data, received_ns=received_ns, published_ns=published_ns, sequence=sequence)
        self._topics[topic].count += 1

    def close_old_chunk(self) -> bool:
        """Closes the open chunk if its time has come. Call several times a second.

        Returns:
            Whether it has: then call `sync`, in another thread if messages are not to wait for the disk.
        """
        return self._file.close_old_chunk()

    def sync(self) -> None:
        """Makes the closed chunks durable.

        Raises:
            OSError: They could not be made durable.
        """
        self._file.sync()

    def flush(self) -> None:
        """Closes the open chunk and makes it durable."""
        self._file.flush()

    def close(self, name: str, facts: Mapping[str, str], custom: Mapping[str, str]) -> None:
        """Writes the last metadata record, the index and metadata.yaml; all of it is durable when this returns.

        Args:
            name: Of the metadata record.
            facts: Its content.
            custom: Joined to `custom_data` of metadata.yaml.

        Raises:
            OSError: The end could not be written, or a closed file doesn't hold what was written, byte for byte.
                Whole chunks stay readable in file order.
        """
        self._metadata.custom.update(custom)
        try:
            self._file.add_facts(name, facts)
            self._file.close()
        finally:
            self._metadata.write(self.folder)
        for file in (*self._full, self._file):
            file.check()

    def remains(self) -> str:
        """Returns in words what is left of a bag that was closed after something went wrong."""
        try:
            whole = all(file.is_as_written() for file in (*self._full, self._file))
        except OSError:
            return f'nothing of it is in {self.folder}'
        return (
            'what was written until then is kept' if whole else '`cobalt bag info` shows what of it can still be read'
        )

    def _go_on_in_another_file(self) -> None:
        number = len(self._full) + 1
        try:
            file = McapFile(self.folder / f'{self.folder.name}_{number}.mcap')
        except OSError:
            self._next_split += self._split_bytes
            return
        for topic in self._metadata.topics:
            file.add_topic(topic, self._definitions[topic.type])
        self._metadata.files.append(file.about)
        self._metadata.write(self.folder)
        full, self._file, self._next_split = self._file, file, self._split_bytes
        self._full.append(full)
        full.close()
