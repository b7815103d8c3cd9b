"""Cuts a stretch of time out of a bag into a new bag.

Joined to the stretch is what it cannot be read without, with its own stamps: the newest message of each latched topic
before it, and the frames of each camera since the last key frame before it.
"""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cobalt_recorder import episode_facts
from cobalt_recorder.bag_copy import BagCopy
from cobalt_recorder.bag_reader import Bag, Decoder, messages_by_time, read_bag
from cobalt_recorder.bag_writer import BagWriter
from cobalt_recorder.file_hash import hash_of_files
from cobalt_recorder.key_frames import is_key_frame
from cobalt_recorder.metrics.step_table import is_of_episode
from cobalt_recorder.offered_qos import from_yaml_list
from cobalt_teleop.core import topics
from cobalt_teleop.core.errors import CobaltError

TRIM = 'cobalt.trim'
_VIDEO_TYPE = topics.video('any').type


@dataclass(frozen=True)
class Trimmed:
    """What came of it.

    Attributes:
        folder: Of the new bag.
        messages: By topic.
        seconds: Of the stretch [s].
    """

    folder: Path
    messages: dict[str, int]
    seconds: float


class _Lead:
    """What comes before the stretch, and is needed to read it."""

    def __init__(self) -> None:
        self._kept: dict[str, list[tuple[Any, Any, Any]]] = {}

    def note(self, schema: Any, channel: Any, message: Any) -> None:
        if schema.name == _VIDEO_TYPE:
            with suppress(ValueError):
                if is_key_frame(message.data):
                    self._kept[channel.topic] = []
            self._kept.setdefault(channel.topic, []).append((schema, channel, message))
        elif any(
            qos.durability == 'transient_local'
            for qos in from_yaml_list(channel.metadata.get('offered_qos_profiles', ''))
        ):
            self._kept[channel.topic] = [(schema, channel, message)]

    def messages(self) -> list[tuple[Any, Any, Any]]:
        found = [one for kept in self._kept.values() for one in kept]
        return sorted(found, key=lambda one: int(one[2].log_time))


class _Rows:
    """The first and last row of the episode in the stretch."""

    def __init__(self, episode_id: str) -> None:
        self._episode_id = episode_id
        self._decoder = Decoder()
        self.steps: list[int] = []

    def note(self, schema: Any, message: Any) -> None:
        if schema.name != topics.CONTROL_STEP.type:
            return
        try:
            row = self._decoder.decode(schema, message)
        except Exception:
            # Bytes of others may be anything, and so may be what they do to a decoder; `verify` tells of them.
            return
        if is_of_episode(row, self._episode_id):
            self.steps.append(int(row.step))


def require_whole(path: Path) -> Bag:
    """Returns a bag that can be read by its index.

    Raises:
        CobaltError: There is none, or it is damaged.
    """
    bag = read_bag(path)
    if bag.damage:
        raise CobaltError(f'{bag.file} is damaged: {bag.damage}. Make it whole first: cobalt bag recover {bag.folder}')
    return bag


def trim(
    path: Path, output: Path, start_s: float, end_s: float, progress: Callable[[int, int], None] = lambda *_: None
) -> Trimmed:
    """Writes the messages from one time to another into a new bag.

    Args:
        path: Folder of the bag, or an MCAP file.
        output: Folder of the new bag, which must not exist.
        start_s: Since the first message [s].
        end_s: Since the first message [s].
        progress: Told how many messages of how many are read.

    Raises:
        CobaltError: There is no whole bag, nothing lies in the stretch, or the new bag cannot be written.
    """
    bag = require_whole(path)
    output = output.expanduser().absolute()
    times = [(topic.first_ns, topic.last_ns) for topic in bag.topics.values() if topic.count]
    if not times:
        raise CobaltError(f'{bag.file} holds no messages.')
    zero_ns = min(first for first, _ in times)
    length_s = (max(last for _, last in times) - zero_ns) / 1e9
    if not start_s < end_s or start_s > length_s or end_s < 0.0:
        raise CobaltError(f'from {start_s:g} to {end_s:g} s is no part of the bag, which has {length_s:.2f} s.')
    first_ns, last_ns = zero_ns + round(start_s * 1e9), zero_ns + round(min(end_s, length_s) * 1e9)
    try:
        writer = BagWriter(output, {**bag.facts.get(episode_facts.EPISODE, {}), 'trimmed_from': str(bag.folder)})
    except OSError as error:
        raise CobaltError(f'{output} cannot be made: {error.strerror or error}') from error
    for name, facts in bag.facts.items():
        if name != episode_facts.END:
            writer.add_facts(name, facts)
    copy, lead, rows = BagCopy(writer), _Lead(), _Rows(bag.episode_id)
    total, in_stretch = sum(topic.count for topic in bag.topics.values()), False
    try:
        for index, (schema, channel, message) in enumerate(messages_by_time(bag)):
            progress(index + 1, total)
            if schema is None or message.log_time > last_ns:
                continue
            if message.log_time < first_ns:
                lead.note(schema, channel, message)
                continue
            if not in_stretch:
                in_stretch = True
                for one in lead.messages():
                    copy.copy(*one)
            copy.copy(schema, channel, message)
            rows.note(schema, message)
        about = {
            'source': bag.folder.name,
            'source_sha256': hash_of_files(bag.files),
            'from_ns': str(first_ns),
            'to_ns': str(last_ns),
        }
        writer.add_facts(TRIM, about)
        end = _end(bag, rows.steps, writer.counts)
        writer.close(episode_facts.END, end, {name: value for name, value in end.items() if name != 'counts'})
    except OSError as error:
        raise CobaltError(f'{output} cannot be written: {error.strerror or error}') from error
    return Trimmed(output, writer.counts, (last_ns - first_ns) / 1e9)


def _end(bag: Bag, steps: list[int], counts: dict[str, int]) -> dict[str, str]:
    end = dict(bag.facts.get(episode_facts.END, {}))
    if steps:
        end |= {'first_step': str(min(steps)), 'last_step': str(max(steps))}
    held = {name: {'expected': count, 'received': count, 'dropped': 0} for name, count in counts.items()}
    return {**end, 'counts': json.dumps(held)}
