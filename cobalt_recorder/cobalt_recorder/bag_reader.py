"""Reads a bag in file order, whole or broken, without ROS 2."""

import json
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from mcap.exceptions import McapError
from mcap.records import Channel, Footer, Message, Metadata, Schema
from mcap.stream_reader import StreamReader
from mcap_ros2.decoder import DecoderFactory

from cobalt_recorder import episode_facts
from cobalt_recorder.rosbag2_metadata import read_metadata, storage_files
from cobalt_recorder.yaml_text import parse_yaml
from cobalt_teleop.core.errors import CobaltError

MCAP_MAGIC = b'\x89MCAP0\r\n'
"""Begins and ends each file."""


@dataclass
class TopicSummary:
    """What a bag holds of one topic.

    Attributes:
        name: Full name.
        type: ROS type.
        count: Messages.
        first_ns: Log time of the first [ns].
        last_ns: Log time of the last [ns].
        expected: Messages that were published, by the recorder's counts; None if it left none.
        sequence_gaps: Messages missing by the publisher's own numbers, as found in the file; only if
            the topic has one publisher.
        publishers: How many there were when the topic was added.
    """

    name: str
    type: str
    count: int = 0
    first_ns: int = 0
    last_ns: int = 0
    expected: int | None = None
    sequence_gaps: int = 0
    publishers: int = 1
    _last_sequence: int = field(default=0, repr=False)

    @property
    def dropped(self) -> int:
        """Messages known to be missing from the file."""
        return self.sequence_gaps if self.expected is None else max(0, self.expected - self.count)

    @property
    def rate_hz(self) -> float:
        """Mean rate [Hz]; 0 with fewer than two messages."""
        return (self.count - 1) / (self.last_ns - self.first_ns) * 1e9 if self.last_ns > self.first_ns else 0.0

    def note(self, message: Message) -> None:
        """Counts one message of the file."""
        self.count += 1
        self.first_ns = min(self.first_ns, message.log_time) if self.first_ns else message.log_time
        self.last_ns = max(self.last_ns, message.log_time)
        if self.publishers <= 1 and message.sequence > self._last_sequence > 0:
            self.sequence_gaps += message.sequence - self._last_sequence - 1
        self._last_sequence = message.sequence


@dataclass
class Bag:
    """A bag that was read once.

    Attributes:
        folder: Of the bag.
        file: The MCAP file.
        size_bytes: Of the file.
        complete: The file was closed properly.
        damage: Where and why reading ended before the end, in words; empty if it didn't.
        facts: Metadata records, by name.
        topics: By name.
    """

    folder: Path
    file: Path
    size_bytes: int = 0
    complete: bool = False
    damage: str = ''
    facts: dict[str, dict[str, str]] = field(default_factory=dict)
    topics: dict[str, TopicSummary] = field(default_factory=dict)

    def fact(self, record: str, name: str, default: str = '') -> str:
        """Returns one fact."""
        return self.facts.get(record, {}).get(name, default)

    @property
    def episode_id(self) -> str:
        """Id of the episode; the folder's name if the file holds none."""
        return self.fact(episode_facts.EPISODE, 'episode_id') or self.folder.name

    def topic(self, suffix: str) -> TopicSummary | None:
        """Returns the topic of the workcell whose relative name this is."""
        workcell_id = self.fact(episode_facts.EPISODE, 'workcell_id')
        return self.topics.get(f'/{workcell_id}/{suffix}')


def bag_file(path: Path) -> Path:
    """Returns the MCAP file of a bag, whatever its metadata.yaml says.

    Raises:
        CobaltError: There is none, or there are several.
    """
    path = path.expanduser().absolute()
    if path.is_file():
        return path
    files = sorted(path.glob('*.mcap'))
    if len(files) != 1:
        found = f'{len(files)} .mcap files' if files else 'no .mcap file'
        raise CobaltError(f'{path} holds {found}: give the file that is to be recovered.')
    return files[0]


def is_closed(file: Path) -> bool:
    """Tells whether a file ends as a closed MCAP file does, without reading the rest.

    Raises:
        OSError: It cannot be read.
    """
    with file.open('rb') as stream:
        stream.seek(-min(len(MCAP_MAGIC), file.stat().st_size), os.SEEK_END)
        return stream.read() == MCAP_MAGIC and file.stat().st_size > len(MCAP_MAGIC)


def find_bag(path: Path) -> Bag:
    """Finds the file of a bag, without reading it.

    Args:
        path: The bag's folder, or the MCAP file in it.

    Raises:
        CobaltError: There is no bag.
    """
    path = path.expanduser().absolute()
    if not path.exists():
        raise CobaltError(f'{path} does not exist. Give the folder of a bag, such as <dataset>/<task>/<episode id>.')
    if path.is_file():
        if path.suffix != '.mcap':
            raise CobaltError(f'{path} is not a bag. Give the folder of a bag, or its .mcap file.')
        return Bag(path.parent, path, path.stat().st_size)
    try:
        names = storage_files(read_metadata(path))
    except FileNotFoundError:
        names = []
    except (OSError, ValueError) as error:
        raise CobaltError(f'{error}. The .mcap file itself may still be whole: give its path.') from error
    files = [path / name for name in names] or sorted(path.glob('*.mcap'))
    if not files:
        below = len(list(path.glob('**/*.mcap')))
        hint = f' {below} bags lie in folders below it: give one of those.' if below else ''
        raise CobaltError(f'{path} holds no bag: neither metadata.yaml nor an .mcap file.{hint}')
    if not files[0].exists():
        raise CobaltError(f'{files[0]} is missing, although {path / "metadata.yaml"} names it.')
    return Bag(path, files[0], files[0].stat().st_size)


def read_messages(bag: Bag) -> Iterator[tuple[TopicSummary, Schema | None, Message]]:
    """Yields every message in the order of the file, and fills in what the bag holds.

    A file that was not closed properly is read up to its last whole chunk; `bag.damage` then says where it ends.

    Raises:
        CobaltError: It is no MCAP file at all.
    """
    channels: dict[int, tuple[TopicSummary, Schema | None]] = {}
    schemas: dict[int, Schema] = {}
    seen_anything = False
    with bag.file.open('rb') as stream:
        try:
            for record in StreamReader(stream, validate_crcs=True).records:
                seen_anything = True
                if isinstance(record, Schema):
                    schemas[record.id] = record
                elif isinstance(record, Channel):
                    schema = schemas.get(record.schema_id)
                    summary = bag.topics.setdefault(record.topic, _summary(record, schema))
                    channels[record.id] = summary, schema
                elif isinstance(record, Metadata):
                    bag.facts[record.name] = dict(record.metadata)
                elif isinstance(record, Message):
                    if record.channel_id not in channels:
                        raise McapError('a message of a topic that the file does not name')
                    summary, schema = channels[record.channel_id]
                    summary.note(record)
                    yield summary, schema, record
                elif isinstance(record, Footer):
                    bag.complete = True
                    bag.damage = _index_damage(stream, bag.size_bytes, record)
        except Exception as error:
            # The bytes may be anything, and so may be what a decoder makes of them.
            if not seen_anything:
                raise CobaltError(f'{bag.file} is not an MCAP file: {error}') from error
            bag.complete = False
            bag.damage = f'it breaks off after {stream.tell()} of {bag.size_bytes} bytes'
    if not bag.complete and not bag.damage:
        bag.damage = 'it was not closed: its index is missing'
    try:
        counts = json.loads(bag.fact(episode_facts.END, 'counts', '{}'))
        expected = {name: int(counts[name]['expected']) for name in bag.topics if name in counts}
    except (ValueError, KeyError, TypeError):
        bag.damage = bag.damage or "the recorder's counts in it cannot be read"
        return
    for name, count in expected.items():
        bag.topics[name].expected = count


def _index_damage(stream: BinaryIO, size_bytes: int, footer: Footer) -> str:
    """Returns in words what is wrong with the index behind the data; empty if nothing.

    Its checksum covers all up to itself: what follows is 4 bytes of its own, and 8 that end each file.
    """
    if not footer.summary_crc or not footer.summary_start:
        return ''
    place = stream.tell()
    stream.seek(footer.summary_start)
    content = stream.read(size_bytes - footer.summary_start - 12)
    stream.seek(place)
    return '' if zlib.crc32(content) == footer.summary_crc else 'its index is not as it was written'


def _summary(channel: Channel, schema: Schema | None) -> TopicSummary:
    offered = parse_yaml(channel.metadata.get('offered_qos_profiles', '')) or []
    return TopicSummary(channel.topic, schema.name if schema else 'unknown', publishers=len(offered))


def read_bag(path: Path) -> Bag:
    """Reads what a bag holds, without decoding its messages.

    Raises:
        CobaltError: There is no bag, or nothing in it can be read.
    """
    bag = find_bag(path)
    for _ in read_messages(bag):
        pass
    return bag


class Decoder:
    """Decodes messages by the definitions in the bag itself."""

    def __init__(self) -> None:
        self._factory = DecoderFactory()
        self._decoders: dict[int, Any] = {}

    def decode(self, schema: Schema, message: Message) -> Any:
        """Returns the message as an object with the fields of its type."""
        if schema.id not in self._decoders:
            self._decoders[schema.id] = self._factory.decoder_for('cdr', schema)
        return self._decoders[schema.id](message.data)
