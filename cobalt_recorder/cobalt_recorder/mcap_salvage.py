"""Reads what is intact in an MCAP file that was cut short or altered, and tells what is not.

Records are followed from one to the next. Where one makes no sense, the next place is looked for at which a record
stands that can be read to its last byte, and that another one follows.
"""

import mmap
import re
import struct
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

from mcap.data_stream import ReadDataStream
from mcap.opcode import Opcode
from mcap.records import Channel, Chunk, Footer, Header, Message, MessageIndex, Metadata, Schema
from mcap.stream_reader import breakup_chunk

from cobalt_recorder.bag_reader import MCAP_MAGIC
from cobalt_teleop.core.errors import CobaltError

_HEAD = struct.Struct('<BQ')
_RECORD_HEAD = re.compile(rb'[\x01-\x0f].{4}\x00{4}', re.DOTALL)
"""An opcode, and a length below 4 GiB."""

_FRAMED: dict[int, Any] = {
    Opcode.HEADER: Header,
    Opcode.SCHEMA: Schema,
    Opcode.CHANNEL: Channel,
    Opcode.CHUNK: Chunk,
    Opcode.MESSAGE_INDEX: MessageIndex,
    Opcode.METADATA: Metadata,
    Opcode.FOOTER: Footer,
}
"""Records that tell their own length once more, so that a false one is found out."""


@dataclass(frozen=True)
class Damage:
    """A stretch of the file that cannot be read.

    Attributes:
        start: Its first byte.
        end: The byte behind its last.
        what: In words.
        messages: How many messages are known to have been in it, by topic.
        first_ns: Log time of the first of them [ns]; 0 if unknown.
        last_ns: Log time of the last of them [ns]; 0 if unknown.
        file: Name of the file, where a bag has several.
    """

    start: int
    end: int
    what: str
    messages: dict[str, int] = field(default_factory=dict)
    first_ns: int = 0
    last_ns: int = 0
    file: str = ''


class McapSalvage:
    """An MCAP file of which anything may be missing.

    Args:
        path: The file, which is only read.
        progress: Told how many bytes are read.

    Raises:
        CobaltError: There is nothing of an MCAP file in it.
        OSError: It cannot be read.
    """

    def __init__(self, path: Path, progress: Callable[[int], None] = lambda _: None) -> None:
        self._path = path
        self._progress = progress
        self.facts: dict[str, dict[str, str]] = {}
        """Metadata records, by name."""
        self.damage: list[Damage] = []
        """In the order of the file; whole once `messages` has ended."""
        self.unnamed: Counter[int] = Counter()
        """Messages of channels that nothing in the file describes, by channel."""
        self.library = ''
        """Which software wrote the file; empty if that is lost."""
        self._schemas: dict[int, Schema] = {}
        self._channels: dict[int, Channel] = {}
        self._assumed: dict[int, tuple[Schema, Channel]] = {}
        self._places: list[tuple[int, int, int]] = []
        with path.open('rb') as file:
            if not path.stat().st_size:
                raise CobaltError(f'{path} is empty: nothing of it can be recovered.')
            self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._find_records()
        if not self._places:
            raise CobaltError(f'{path} holds nothing of an MCAP file.')

    def assume(self, schema: Schema, channel: Channel) -> None:
        """Tells what a channel is, unless the file itself does."""
        self._assumed[channel.id] = schema, channel

    def close(self) -> None:
        """Closes the file."""
        self._data.close()

    def messages(self) -> Iterator[tuple[Schema, Channel, Message]]:
        """Yields every message that is intact, in the order of the file."""
        lost_chunk: Damage | None = None
        for opcode, start, end in self._places:
            self._progress(start)
            if opcode == Opcode.MESSAGE_INDEX:
                lost_chunk = self._note_lost(lost_chunk, self._parse(opcode, start, end))
            if opcode not in (Opcode.CHUNK, Opcode.MESSAGE):
                continue
            lost_chunk = None
            if opcode == Opcode.MESSAGE:
                yield from self._known([Message.read(self._stream(start, end), end - start)])
                continue
            try:
                records = breakup_chunk(self._parse(opcode, start, end), validate_crc=True)
            except Exception:
                # The bytes may be anything, and so may be what a decoder makes of them.
                lost_chunk = Damage(start - _HEAD.size, end, 'a chunk of messages is not as it was written')
                self.damage.append(lost_chunk)
                continue
            for record in records:
                self._learn(record)
            yield from self._known([record for record in records if isinstance(record, Message)])
        self.damage.sort(key=lambda damage: damage.start)
        self._progress(len(self._data))

    def _known(self, messages: list[Message]) -> Iterator[tuple[Schema, Channel, Message]]:
        for message in messages:
            channel = self._channels.get(message.channel_id)
            schema = self._schemas.get(channel.schema_id) if channel is not None else None
            if channel is None and message.channel_id in self._assumed:
                schema, channel = self._assumed[message.channel_id]
            if channel is None or schema is None:
                self.unnamed[message.channel_id] += 1
            else:
                yield schema, channel, message

    def _learn(self, record: Any) -> None:
        if isinstance(record, Schema):
            self._schemas[record.id] = record
        elif isinstance(record, Channel):
            self._channels[record.id] = record
        elif isinstance(record, Metadata):
            self.facts[record.name] = dict(record.metadata)

    def _note_lost(self, damage: Damage | None, index: MessageIndex) -> Damage | None:
        """Joins what the index behind a lost chunk tells of it."""
        if damage is None or not index.records:
            return damage
        channel = self._channels.get(index.channel_id) or self._assumed.get(index.channel_id, (None, None))[1]
        topic = channel.topic if channel is not None else f'channel {index.channel_id}'
        times = [time_ns for time_ns, _ in index.records]
        joined = Damage(
            damage.start,
            damage.end,
            damage.what,
            {**damage.messages, topic: damage.messages.get(topic, 0) + len(times)},
            min([*times, damage.first_ns] if damage.first_ns else times),
            max([*times, damage.last_ns]),
        )
        self.damage[self.damage.index(damage)] = joined
        return joined

    # Where records stand ------------------------------------------------------------------------------------------

    def _find_records(self) -> None:
        size = len(self._data)
        place = len(MCAP_MAGIC) if self._data[: len(MCAP_MAGIC)] == MCAP_MAGIC else 0
        if not place:
            self.damage.append(Damage(0, 0, 'the file does not begin as an MCAP file does'))
        ends = False
        while place < size:
            found = self._record_at(place)
            if found is None and self._data[place:] == MCAP_MAGIC:
                ends = True
                break
            if found is None:
                after = self._next_record(place + 1)
                self.damage.append(Damage(place, after, self._what(place, after)))
                place = after
                continue
            opcode, end = found
            self._places.append((opcode, place + _HEAD.size, end))
            place = end
        self._learn_definitions()
        if not ends:
            self.damage.append(Damage(size, size, 'the file was not closed: its end is missing'))

    def _learn_definitions(self) -> None:
        """Learns what stands outside chunks: of the summary at the end, only if its checksum holds."""
        until = len(self._data)
        for opcode, start, end in self._places:
            if opcode == Opcode.FOOTER:
                footer = self._parse(opcode, start, end)
                content = self._data[footer.summary_start : end - 4]
                if footer.summary_crc and zlib.crc32(content) != footer.summary_crc:
                    until = footer.summary_start
        for opcode, start, end in self._places:
            if opcode == Opcode.HEADER:
                self.library = str(self._parse(opcode, start, end).library)
            elif opcode == Opcode.METADATA or (opcode in (Opcode.SCHEMA, Opcode.CHANNEL) and start < until):
                self._learn(self._parse(opcode, start, end))

    def _what(self, start: int, end: int) -> str:
        if end < len(self._data):
            return f'{end - start} bytes are no records'
        return f'the last {end - start} bytes are of a record that is not whole'

    def _record_at(self, place: int) -> tuple[int, int] | None:
        """Returns opcode and end of the record that stands at a place; None if there is none that is whole."""
        if place + _HEAD.size > len(self._data):
            return None
        opcode, length = _HEAD.unpack_from(self._data, place)
        start = place + _HEAD.size
        end = start + length
        if not Opcode.HEADER <= opcode <= Opcode.DATA_END or end > len(self._data):
            return None
        kind = _FRAMED.get(opcode)
        if kind is not None:
            stream = self._stream(start, end)
            try:
                kind.read(stream)
            except Exception:
                # The bytes may be anything, and so may be what a decoder makes of them.
                return None
            if stream.count != length:
                return None
        return opcode, end

    def _next_record(self, place: int) -> int:
        """Returns where the next record stands that another one, or the end, follows; the file's size if none does."""
        while match := _RECORD_HEAD.search(self._data, place):
            found = self._record_at(match.start())
            if found is not None and self._follows(found[1]):
                return match.start()
            place = match.start() + 1
        return len(self._data)

    def _follows(self, place: int) -> bool:
        rest = len(self._data) - place
        if rest <= len(MCAP_MAGIC):
            return rest == 0 or self._data[place:] == MCAP_MAGIC
        return self._record_at(place) is not None

    def _stream(self, start: int, end: int) -> ReadDataStream:
        return ReadDataStream(BytesIO(self._data[start:end]))

    def _parse(self, opcode: int, start: int, end: int) -> Any:
        return _FRAMED[opcode].read(self._stream(start, end))
