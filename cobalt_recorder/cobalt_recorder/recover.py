"""Makes a whole bag of what is intact in a damaged one, whose own bytes are kept."""

import contextlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import yaml
from mcap.records import Channel, Message, Schema

from cobalt_recorder import episode_facts
from cobalt_recorder.bag_copy import BagCopy
from cobalt_recorder.bag_reader import Decoder, bag_files, read_bag
from cobalt_recorder.bag_writer import BagWriter
from cobalt_recorder.file_hash import hash_of_files
from cobalt_recorder.mcap_file import LIBRARY
from cobalt_recorder.mcap_salvage import Damage, McapSalvage
from cobalt_recorder.reserved_file import being_written
from cobalt_recorder.rosbag2_metadata import FILE_NAME, read_metadata, storage_files, sync_folder
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
        originals: The files as they were found.
        messages: Kept, by topic.
        seconds: From the first kept message to the last [s].
        damage: What could not be read.
        unnamed: Messages lost because nothing in the file describes their topic.
        cut_off: The episode's end is not in the file.
    """

    folder: Path
    originals: tuple[Path, ...]
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
            if len(self.originals) > 1:
                place = f'{damage.file}: {place}'
            span = f' over {(damage.last_ns - damage.first_ns) / 1e9:.2f} s' if damage.first_ns else ''
            lines.append(f'{place}{damage.what}{f"; it held {held}{span}" if held else ""}')
        if self.unnamed:
            lines.append(f'{self.unnamed} messages are of topics that nothing in the file describes')
        return lines

    def as_json(self) -> dict[str, Any]:
        """Returns it for programs."""
        return {
            'path': str(self.folder),
            'originals': [str(file) for file in self.originals],
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
    files = bag_files(path)
    _require_ended(files)
    try:
        damage = read_bag(files[0] if len(files) == 1 else files[0].parent).damage
    except CobaltError as error:
        return str(error)
    if damage:
        return damage
    try:
        named = {Path(name).name for name in storage_files(read_metadata(files[0].parent))}
    except (OSError, ValueError):
        return f'{FILE_NAME} is missing or cannot be read'
    there = {file.name for file in files}
    if there - named:
        return f'{FILE_NAME} does not name {min(there - named)}'
    return f'{min(named - there)} is missing' if named - there else ''


def _require_ended(files: Sequence[Path]) -> None:
    written = next((file for file in files if being_written(file)), None)
    if written is not None:
        raise CobaltError(f'{written} is being recorded: wait for its end.')


def recover(
    path: Path,
    output: Path | None = None,
    progress: Callable[[int], None] = lambda _: None,
    *,
    ended_by: str = CUT_OFF,
) -> Recovery:
    """Writes what is intact into a whole bag.

    Args:
        path: Folder of the bag, or an MCAP file.
        output: Folder of the whole bag, which must not exist. If not given, the whole bag takes the place of the
            damaged files, whose bytes stay beside it under names that end in `.damaged`.
        progress: Told how many bytes of the files are read.
        ended_by: Why the recording broke off, in words, if the files themselves don't tell.

    Raises:
        CobaltError: There is no bag, nothing of it can be recovered, or there is no room.
    """
    files = bag_files(path)
    _require_ended(files)
    folder = files[0].parent
    made = output.expanduser().absolute() if output is not None else folder / f'.recovering-{os.getpid()}'
    kept = tuple(_free_name(file) for file in files) if output is None else files
    try:
        _require_room(files, made)
        recovery = _write(files, made, kept, progress, ended_by)
    except FileExistsError as error:
        raise CobaltError(f'{made} is there already: give another folder.') from error
    except OSError as error:
        raise CobaltError(f'{path} cannot be recovered to {made}: {error.strerror or error}') from error
    if output is not None:
        return recovery
    try:
        _exchange(files, made, kept)
    except OSError as error:
        raise CobaltError(f'{folder} cannot be changed: {error.strerror or error}') from error
    return replace(recovery, folder=folder)


def _free_name(file: Path) -> Path:
    for count in range(1, 1000):
        name = file.with_name(f'{file.name}{DAMAGED}{count if count > 1 else ""}')
        if not name.exists():
            return name
    raise CobaltError(f'{file.parent} is full of files that end in {DAMAGED}.')


def _require_room(files: Sequence[Path], made: Path) -> None:
    there = next(folder for folder in made.parents if folder.exists())
    free, needed = shutil.disk_usage(there).free, sum(file.stat().st_size for file in files) * _ROOM
    if free < needed:
        raise CobaltError(f'{needed / 1e6:.1f} MB are needed in {there}, but {free / 1e6:.1f} are free.')


def _exchange(files: Sequence[Path], made: Path, kept: Sequence[Path]) -> None:
    """Puts the whole bag, which is one file, into the place of the damaged files, whose bytes are kept first.

    At any time either the first damaged file or the whole one has its name.
    """
    first, folder = files[0], files[0].parent
    for file, name in zip(files, kept, strict=True):
        try:
            name.hardlink_to(file)
        except OSError:
            shutil.copyfile(file, name)
    sync_folder(folder)
    (made / first.name).replace(first)
    (made / FILE_NAME).replace(folder / FILE_NAME)
    for file in files[1:]:
        file.unlink()
    sync_folder(folder)
    made.rmdir()


class _Salvages:
    """What is intact in the files of a bag, one after the other."""

    def __init__(self, files: Sequence[Path], progress: Callable[[int], None], stack: contextlib.ExitStack) -> None:
        self._salvages: dict[Path, McapSalvage] = {}
        self.facts: dict[str, dict[str, str]] = {}
        before = 0
        for file in files:
            salvage = McapSalvage(file, lambda read, before=before: progress(before + read))  # type: ignore[misc]
            stack.callback(salvage.close)
            _assume_topics(salvage, file.parent)
            self._salvages[file] = salvage
            self.facts |= salvage.facts
            before += file.stat().st_size

    def messages(self) -> Iterator[tuple[Schema, Channel, Message]]:
        for salvage in self._salvages.values():
            yield from salvage.messages()

    @property
    def damage(self) -> tuple[Damage, ...]:
        return tuple(
            replace(damage, file=file.name) for file, salvage in self._salvages.items() for damage in salvage.damage
        )

    @property
    def unnamed(self) -> int:
        return sum(sum(salvage.unnamed.values()) for salvage in self._salvages.values())


def _write(
    files: Sequence[Path], made: Path, originals: Sequence[Path], progress: Callable[[int], None], ended_by: str
) -> Recovery:
    with contextlib.ExitStack() as stack:
        salvages = _Salvages(files, progress, stack)
        in_place = originals[0] != files[0]
        writer = BagWriter(made, _begin(files[0], salvages.facts), file_name=files[0].name if in_place else '')
        try:
            return _copy(salvages, writer, files, originals, ended_by)
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise


def _copy(
    salvages: _Salvages, writer: BagWriter, files: Sequence[Path], originals: Sequence[Path], ended_by: str
) -> Recovery:
    newest: tuple[Any, Any] | None = None
    copy = BagCopy(writer)
    for record, facts in list(salvages.facts.items()):
        if record != episode_facts.END:
            writer.add_facts(record, facts)
    for schema, channel, message in salvages.messages():
        copy.copy(schema, channel, message)
        if schema.name == topics.EPISODE.type:
            newest = schema, message
    if not writer.counts and not salvages.facts:
        raise CobaltError(f'{files[0]} holds nothing that is intact.')
    end = salvages.facts.get(episode_facts.END)
    recovery = Recovery(
        folder=writer.folder,
        originals=tuple(originals),
        messages=writer.counts,
        seconds=copy.seconds,
        damage=salvages.damage,
        unnamed=salvages.unnamed,
        cut_off=end is None,
    )
    writer.add_facts(RECOVERY, _about(recovery, files))
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


def _about(recovery: Recovery, files: Sequence[Path]) -> dict[str, str]:
    return {
        'source': ', '.join(file.name for file in recovery.originals),
        'source_sha256': hash_of_files(files),
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
