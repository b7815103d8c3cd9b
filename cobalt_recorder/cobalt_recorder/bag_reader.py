"""Reads a bag in file order, whole or broken, without ROS 2."""

import heapq
import json
import os
import re
import zlib
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from mcap.exceptions import McapError
from mcap.reader import make_reader
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
        files: The MCAP files, in the order in which they were written.
        size_bytes: Of all files.
        complete: All files were closed properly.
        damage: Where and why reading ended before the end, in words; empty if it didn't.
        facts: Metadata records, by name.
        topics: By name.
    """

    folder: Path
    files: tuple[Path, ...]
    size_bytes: int = 0
    complete: bool = False
    damage: str = ''
    facts: dict[str, dict[str, str]] = field(default_factory=dict)
    topics: dict[str, TopicSummary] = field(default_factory=dict)

    @property
    def file(self) -> Path:
        """Where the bag is: its file, or the folder of several."""
        return self.files[0] if len(self.files) == 1 else self.folder

    def unread(self) -> 'Bag':
        """Returns the same bag before it was read."""
        return _of_files(self.folder, self.files)

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


def bag_files(path: Path) -> tuple[Path, ...]:
    """Returns the MCAP files of a bag in the order of their numbers, whatever its metadata.yaml says.

    Args:
        path: The bag's folder, or one of its files: of a bag of several, that stands for all.

    Raises:
        CobaltError: There is none, or there are several that do not belong together by their names.
    """
    path = path.expanduser().absolute()
    if path.is_file():
        with suppress(OSError, ValueError):
            names = storage_files(read_metadata(path.parent))
            return tuple(path.parent / name for name in names) if path.name in names else (path,)
        return (path,)
    files = tuple(sorted(path.glob('*.mcap'), key=_number))
    if not files:
        raise CobaltError(f'{path} holds no .mcap file.')
    if len({_number(file)[0] for file in files}) > 1:
        raise CobaltError(f'{path} holds {len(files)} .mcap files of several names: give the one to be recovered.')
    return files


def _number(file: Path) -> tuple[str, int]:
    name, number = re.fullmatch(r'(.*?)(?:_(\d{1,9}))?', file.stem, re.DOTALL).groups()  # type: ignore[union-attr]
    return name, int(number or 0)


def _of_files(folder: Path, files: Sequence[Path]) -> Bag:
    return Bag(folder, tuple(files), sum(file.stat().st_size for file in files))


def is_closed(file: Path) -> bool:
    """Tells whether a file ends as a closed MCAP file does, without reading the rest.

    Raises:
        OSError: It cannot be read.
    """
    with file.open('rb') as stream:
        stream.seek(-min(len(MCAP_MAGIC), file.stat().st_size), os.SEEK_END)
        return stream.read() == MCAP_MAGIC and file.stat().st_size > len(MCAP_MAGIC)


def find_bag(path: Path) -> Bag:
    """Finds the files of a bag, without reading them.

    Args:
        path: The bag's folder, or an MCAP file in it: then that one alone.

    Raises:
        CobaltError: There is no bag.
    """
    path = path.expanduser().absolute()
    if not path.exists():
        raise CobaltError(f'{path} does not exist. Give the folder of a bag, such as <dataset>/<task>/<episode id>.')
    if path.is_file():
        if path.suffix != '.mcap':
            raise CobaltError(f'{path} is not a bag. Give the folder of a bag, or its .mcap file.')
        return _of_files(path.parent, (path,))
    try:
        names = storage_files(read_metadata(path))
    except FileNotFoundError:
        names = []
    except (OSError, ValueError) as error:
        raise CobaltError(f'{error}. The .mcap file itself may still be whole: give its path.') from error
    files = tuple(path / name for name in names) or tuple(sorted(path.glob('*.mcap'), key=_number))
    if not files:
        below = len(list(path.glob('**/*.mcap')))
        hint = f' {below} bags lie in folders below it: give one of those.' if below else ''
        raise CobaltError(f'{path} holds no bag: neither metadata.yaml nor an .mcap file.{hint}')
    missing = next((file for file in files if not file.exists()), None)
    if missing is not None:
        raise CobaltError(f'{missing} is missing, although {path / "metadata.yaml"} names it.')
    return _of_files(path, files)


def read_messages(bag: Bag) -> Iterator[tuple[TopicSummary, Schema | None, Message]]:
    """Yields every message in the order of the files, and fills in what the bag holds.

    A file that was not closed properly is read up to its last whole chunk; `bag.damage` then says where it ends.

    Raises:
        CobaltError: One is no MCAP file at all.
    """
    complete = True
    for file in bag.files:
        closed, damage = yield from _read_file(bag, file)
        complete &= closed
        if damage:
            bag.damage = bag.damage or (f'{file.name}: {damage}' if len(bag.files) > 1 else damage)
    bag.complete = complete
    try:
        counts = json.loads(bag.fact(episode_facts.END, 'counts', '{}'))
        expected = {name: int(counts[name]['expected']) for name in bag.topics if name in counts}
    except (ValueError, KeyError, TypeError):
        bag.damage = bag.damage or "the recorder's counts in it cannot be read"
        return
    for name, count in expected.items():
        bag.topics[name].expected = count


def _read_file(bag: Bag, file: Path) -> Generator[tuple[TopicSummary, Schema | None, Message], None, tuple[bool, str]]:
    """Yields the messages of one file; returns whether it was closed, and what is wrong with it, in words."""
    channels: dict[int, tuple[TopicSummary, Schema | None]] = {}
    schemas: dict[int, Schema] = {}
    seen_anything = closed = False
    damage, size_bytes = '', file.stat().st_size
    with file.open('rb') as stream:
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
                    closed = True
                    damage = _index_damage(stream, size_bytes, record)
        except Exception as error:
            # The bytes may be anything, and so may be what a decoder makes of them.
            if not seen_anything:
                raise CobaltError(f'{file} is not an MCAP file: {error}') from error
            closed = False
            damage = f'it breaks off after {stream.tell()} of {size_bytes} bytes'
    return closed, damage or ('' if closed else 'it was not closed: its index is missing')


def messages_by_time(
    bag: Bag, *, topics: Iterable[str] | None = None, start_ns: int | None = None
) -> Iterator[tuple[Schema | None, Channel, Message]]:
    """Yields the messages of a whole bag in the order of their log times, by the index of its files.

    Args:
        bag: Whose.
        topics: Only these.
        start_ns: Only from this log time on [ns].
    """
    with ExitStack() as stack:
        streams = [
            make_reader(stack.enter_context(file.open('rb'))).iter_messages(topics=topics, starting_at=start_ns)
            for file in bag.files
        ]
        yield from heapq.merge(*streams, key=lambda one: int(one[2].log_time))


def channels_of(bag: Bag) -> dict[str, Channel]:
    """Returns the channel of each topic of a whole bag, by the topic's name."""
    found: dict[str, Channel] = {}
    for file in bag.files:
        with file.open('rb') as stream:
            summary = make_reader(stream).get_summary()
        for channel in summary.channels.values() if summary is not None else ():
            found.setdefault(channel.topic, channel)
    return found


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
    """Decodes messages by the definitions in the bag itself, of whichever of its files."""

    def __init__(self) -> None:
        self._decoders: dict[tuple[str, bytes], Any] = {}

    def decode(self, schema: Schema, message: Message) -> Any:
        """Returns the message as an object with the fields of its type."""
        definition = schema.name, schema.data
        if definition not in self._decoders:
            self._decoders[definition] = DecoderFactory().decoder_for('cdr', schema)
        return self._decoders[definition](message.data)
