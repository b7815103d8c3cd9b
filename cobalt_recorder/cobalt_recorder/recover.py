"""Makes a whole bag of what is intact in a damaged one, whose own bytes are kept."""

import contextlib
import json
import os
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import yaml
from mcap.records import Channel, Schema

from cobalt_recorder import episode_facts
from cobalt_recorder.bag_copy import BagCopy
from cobalt_recorder.bag_reader import Decoder, bag_file, read_bag
from cobalt_recorder.bag_writer import LIBRARY, BagWriter
from cobalt_recorder.file_hash import file_hash
from cobalt_recorder.mcap_salvage import Damage, McapSalvage
from cobalt_recorder.reserved_file import being_written
from cobalt_recorder.rosbag2_metadata import FILE_NAME, read_metadata, sync_folder
from cobalt_teleop.core import topics
from cobalt_teleop.core.episode import Outcome, OutcomeSource, Phase
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.ros.interface_text import message_text

DAMAGED = '.damaged'
"""Behind the name of a file that was recovered: its bytes as they were found."""

RECOVERY = 'cobalt.recovery'
CUT_OFF = 'the recorder ended in the midst of it'
_ROOM = 1.1


@dataclass(frozen=True)
class Recovery:
    """What came of a recovery.

    Attributes:
        folder: Of the whole bag.
        original: The file as it was found.
        messages: Kept, by topic.
        seconds: From the first kept message to the last [s].
        damage: What could not be read.
        unnamed: Messages lost because nothing in the file describes their topic.
        cut_off: The episode's end is not in the file.
    """

    folder: Path
    original: Path
    messages: dict[str, int]
    seconds: float
    damage: tuple[Damage, ...]
    unnamed: int
    cut_off: bool

    @property
    def lost(self) -> list[str]:
        """What was lost, in words."""
        lines = []
        for damage in self.damage:
            held = ', '.join(f'{count} of {topic}' for topic, count in sorted(damage.messages.items()))
            place = f'bytes {damage.start} to {damage.end}: ' if damage.end > damage.start else ''
            span = f' over {(damage.last_ns - damage.first_ns) / 1e9:.2f} s' if damage.first_ns else ''
            lines.append(f'{place}{damage.what}{f"; it held {held}{span}" if held else ""}')
        if self.unnamed:
            lines.append(f'{self.unnamed} messages are of topics that nothing in the file describes')
        return lines

    def as_json(self) -> dict[str, Any]:
        """Returns it for programs."""
        return {
            'path': str(self.folder),
            'original': str(self.original),
            'messages': self.messages,
            'seconds': round(self.seconds, 3),
            'cut_off': self.cut_off,
            'unnamed': self.unnamed,
            'damage': [asdict(damage) for damage in self.damage],
            'lost': self.lost,
        }


def damage_of(path: Path) -> str:
    """Returns in words why a bag needs to be recovered; empty if it is whole.

    Raises:
        CobaltError: There is no bag, or it is being recorded.
    """
    file = bag_file(path)
    if being_written(file):
        raise CobaltError(f'{file} is being recorded: wait for its end.')
    try:
        damage = read_bag(file).damage
    except CobaltError as error:
        return str(error)
    if damage:
        return damage
    try:
        read_metadata(file.parent)
    except (OSError, ValueError):
        return f'{FILE_NAME} is missing or cannot be read'
    return ''


def recover(
    path: Path,
    output: Path | None = None,
    progress: Callable[[int], None] = lambda _: None,
    *,
    ended_by: str = CUT_OFF,
) -> Recovery:
    """Writes what is intact into a whole bag.

    Args:
        path: Folder of the bag, or its MCAP file.
        output: Folder of the whole bag, which must not exist. If not given, the whole bag takes the place of the
            damaged file, whose bytes stay beside it under a name that ends in `.damaged`.
        progress: Told how many bytes of the file are read.
        ended_by: Why the recording broke off, in words, if the file itself doesn't tell.

    Raises:
        CobaltError: There is no bag, nothing of it can be recovered, or there is no room.
    """
    file = bag_file(path)
    if being_written(file):
        raise CobaltError(f'{file} is being recorded: wait for its end.')
    made = output.expanduser().absolute() if output is not None else file.parent / f'.recovering-{os.getpid()}'
    kept = _free_name(file)
    try:
        _require_room(file, made)
        recovery = _write(file, made, kept if output is None else file, progress, ended_by)
    except FileExistsError as error:
        raise CobaltError(f'{made} is there already: give another folder.') from error
    except OSError as error:
        raise CobaltError(f'{file} cannot be recovered to {made}: {error.strerror or error}') from error
    if output is not None:
        return recovery
    try:
        _exchange(file, made, kept)
    except OSError as error:
        raise CobaltError(f'{file.parent} cannot be changed: {error.strerror or error}') from error
    return Recovery(**{**vars(recovery), 'folder': file.parent})


def _free_name(file: Path) -> Path:
    for count in range(1, 1000):
        name = file.with_name(f'{file.name}{DAMAGED}{count if count > 1 else ""}')
        if not name.exists():
            return name
    raise CobaltError(f'{file.parent} is full of files that end in {DAMAGED}.')


def _require_room(file: Path, made: Path) -> None:
    there = next(folder for folder in made.parents if folder.exists())
    free, needed = shutil.disk_usage(there).free, file.stat().st_size * _ROOM
    if free < needed:
        raise CobaltError(f'{needed / 1e6:.1f} MB are needed in {there}, but {free / 1e6:.1f} are free.')


def _exchange(file: Path, made: Path, kept: Path) -> None:
    """Puts the whole bag into the place of the damaged file; at any time, one of the two has its name."""
    try:
        kept.hardlink_to(file)
    except OSError:
        shutil.copyfile(file, kept)
    sync_folder(file.parent)
    (made / file.name).replace(file)
    (made / FILE_NAME).replace(file.parent / FILE_NAME)
    sync_folder(file.parent)
    made.rmdir()


def _write(file: Path, made: Path, original: Path, progress: Callable[[int], None], ended_by: str) -> Recovery:
    with contextlib.closing(McapSalvage(file, progress)) as salvage:
        _assume_topics(salvage, file.parent)
        name = file.name if original != file else f'{made.name}_0.mcap'
        writer = BagWriter(made, _begin(file, salvage.facts), file_name=name)
        try:
            return _copy(salvage, writer, file, original, ended_by)
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise


def _copy(salvage: McapSalvage, writer: BagWriter, file: Path, original: Path, ended_by: str) -> Recovery:
    newest: tuple[Any, Any] | None = None
    copy = BagCopy(writer)
    for record, facts in list(salvage.facts.items()):
        if record != episode_facts.END:
            writer.add_facts(record, facts)
    for schema, channel, message in salvage.messages():
        copy.copy(schema, channel, message)
        if schema.name == topics.EPISODE.type:
            newest = schema, message
    if not writer.counts and not salvage.facts:
        raise CobaltError(f'{file} holds nothing that is intact.')
    end = salvage.facts.get(episode_facts.END)
    recovery = Recovery(
        folder=writer.folder,
        original=original,
        messages=writer.counts,
        seconds=copy.seconds,
        damage=tuple(salvage.damage),
        unnamed=sum(salvage.unnamed.values()),
        cut_off=end is None,
    )
    writer.add_facts(RECOVERY, _about(recovery, file))
    end = _cut_off(newest, ended_by) if end is None else end
    writer.close(episode_facts.END, end, {name: value for name, value in end.items() if name != 'counts'})
    return recovery


def _assume_topics(salvage: McapSalvage, folder: Path) -> None:
    """Tells of the topics by metadata.yaml, in whose order BagWriter numbers its channels.

    The first chunk alone describes them: if that is damaged, and the file has no end, nothing else in it does.
    """
    if salvage.library != LIBRARY:
        return
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError, CobaltError):
        for number, entry in enumerate(read_metadata(folder)['topics_with_message_count'], start=1):
            about = entry['topic_metadata']
            name, ros_type = str(about['name']), str(about['type'])
            schema = Schema(id=number, name=ros_type, encoding='ros2msg', data=message_text(ros_type).encode())
            facts = {
                'offered_qos_profiles': yaml.safe_dump(about['offered_qos_profiles'], sort_keys=False),
                'topic_type_hash': str(about['type_description_hash']),
            }
            salvage.assume(
                schema, Channel(id=number, topic=name, message_encoding='cdr', metadata=facts, schema_id=number)
            )


def _begin(file: Path, facts: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Returns what metadata.yaml knew of the beginning, or what the file's own facts tell of it."""
    with contextlib.suppress(OSError, ValueError):
        custom = read_metadata(file.parent).get('custom_data')
        if isinstance(custom, Mapping):
            return {str(name): str(value) for name, value in custom.items()}
    return {**facts.get(episode_facts.RECORDING, {}), **facts.get(episode_facts.EPISODE, {})}


def _about(recovery: Recovery, file: Path) -> dict[str, str]:
    return {
        'source': recovery.original.name,
        'source_sha256': file_hash(file),
        'recovered_ns': str(time.time_ns()),
        'recorder_version': episode_facts.recorder_version(),
        'lost': json.dumps(recovery.lost),
    }


def _cut_off(newest: tuple[Any, Any] | None, ended_by: str) -> dict[str, str]:
    """Returns the end of an episode that has none, from its newest state in the file: `schema, message`."""
    facts = {
        'outcome': Outcome.ABORTED.name,
        'outcome_source': OutcomeSource.PREDICATE.name,
        'end_reason': ended_by,
        'ended_by': 'recorder',
    }
    if newest is None:
        return facts
    try:
        state = Decoder().decode(*newest)
        if state.phase in (Phase.ENDING, Phase.ENDED) and state.outcome != Outcome.UNKNOWN:
            facts['outcome'] = Outcome(state.outcome).name
            facts['outcome_source'] = OutcomeSource(state.outcome_source).name
        facts['first_step'], facts['last_step'] = str(state.first_step), str(state.last_step)
    except Exception:
        # The bytes may be anything, and so may be what a decoder makes of them.
        return facts
    return facts
