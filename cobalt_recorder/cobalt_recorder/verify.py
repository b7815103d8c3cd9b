"""Checks a bag as a reader would meet it: file, metadata, definitions, every message, stamps, rates, rows, video."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cobalt_recorder import episode_facts
from cobalt_recorder.bag_reader import Bag, Decoder, find_bag, read_messages
from cobalt_recorder.judge import read_episode
from cobalt_recorder.metrics import completeness, timing
from cobalt_recorder.metrics.record import EpisodeRecord
from cobalt_recorder.rosbag2_metadata import read_metadata
from cobalt_recorder.trim import TRIM
from cobalt_teleop.core.errors import CobaltError

_RATE_SHARE = 0.9
"""Of the declared rate: slower is worth a note. The bag is whole all the same, and the rules judge its rates."""


@dataclass(frozen=True)
class Check:
    """One thing that was looked at.

    Attributes:
        name: Such as stamps.
        problems: What the bag lacks, in words; empty if it is whole.
        notes: What is worth knowing of a bag that is whole.
    """

    name: str
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass
class _Pass:
    """What one reading of all messages finds."""

    undecodable: Counter[str] = field(default_factory=Counter)
    backwards: Counter[str] = field(default_factory=Counter)
    without_definition: set[str] = field(default_factory=set)
    newest_ns: dict[str, int] = field(default_factory=dict)


def verify_bag(path: Path) -> tuple[Bag, list[Check]]:
    """Reads a bag and decodes every message in it.

    Args:
        path: The bag's folder, or the MCAP file in it.

    Raises:
        CobaltError: There is no bag.
    """
    bag = find_bag(path)
    found = _read(bag)
    checks = [
        Check('file', (bag.damage,) if bag.damage else ()),
        Check('metadata', tuple(_metadata_problems(bag))),
        Check('definitions', tuple(f'{name} has none' for name in sorted(found.without_definition))),
        Check(
            'messages', tuple(f'{count} of {name} do not decode' for name, count in sorted(found.undecodable.items()))
        ),
        Check(
            'counts',
            tuple(
                f'{topic.dropped} of {topic.name} are missing'
                for topic in sorted(bag.topics.values(), key=lambda topic: topic.name)
                if topic.dropped
            ),
        ),
        Check('log times', tuple(f'{name} goes back {count} times' for name, count in sorted(found.backwards.items()))),
    ]
    if bag.facts.get(episode_facts.EPISODE):
        checks += _episode_checks(path)
    return bag, checks


def _read(bag: Bag) -> _Pass:
    found, decoder = _Pass(), Decoder()
    for summary, schema, message in read_messages(bag):
        if message.log_time < found.newest_ns.get(summary.name, 0):
            found.backwards[summary.name] += 1
        found.newest_ns[summary.name] = message.log_time
        if schema is None or not schema.data:
            found.without_definition.add(summary.name)
            continue
        try:
            decoder.decode(schema, message)
        except Exception:
            # Bytes of others may be anything, and so may be what they do to a decoder.
            found.undecodable[summary.name] += 1
    return found


def _metadata_problems(bag: Bag) -> Iterator[str]:
    try:
        information = read_metadata(bag.folder)
        counts = {
            str(entry['topic_metadata']['name']): int(entry['message_count'])
            for entry in information['topics_with_message_count']
        }
        total = int(information['message_count'])
    except FileNotFoundError:
        yield 'metadata.yaml is missing'
        return
    except (OSError, ValueError, KeyError, TypeError) as error:
        yield f'metadata.yaml cannot be read: {error}'
        return
    held = {name: topic.count for name, topic in bag.topics.items()}
    if total != sum(held.values()):
        yield f'metadata.yaml tells of {total} messages, the file holds {sum(held.values())}'
    yield from _different(counts, held)


def _different(told: Mapping[str, int], held: Mapping[str, int]) -> Iterator[str]:
    for name in sorted(told.keys() | held.keys()):
        if told.get(name) != held.get(name):
            yield f'metadata.yaml tells of {told.get(name, 0)} messages of {name}, the file holds {held.get(name, 0)}'


def _episode_checks(path: Path) -> list[Check]:
    bag = find_bag(path)
    try:
        episode = read_episode(bag)
    except CobaltError:
        raise
    except Exception as error:
        return [Check('rows', (f'the episode cannot be understood: {type(error).__name__}: {error}',))]
    return [
        Check('rows', tuple(_row_problems(bag, episode))),
        Check('rates', notes=tuple(_slow_rates(bag, episode))),
        Check('video', tuple(_video_problems(episode))),
    ]


def _row_problems(bag: Bag, episode: EpisodeRecord) -> Iterator[str]:
    if not len(episode.steps):
        yield 'there is no row of the episode'
        return
    missing, backwards = completeness.rows_missing(episode).value, timing.stamps_backwards(episode.steps.ticks).value
    if missing:
        yield f'{missing:.0f} ticks have none'
    if backwards:
        yield f'the time of {backwards:.0f} goes back'
    if not episode.steps.ticks['terminal'][-1] and TRIM not in bag.facts:
        yield 'the last one is not the end of the episode'


def _slow_rates(bag: Bag, episode: EpisodeRecord) -> Iterator[str]:
    achieved, declared = timing.rate(episode.steps.ticks).value, episode.control_rate_hz
    if achieved < _RATE_SHARE * declared:
        yield f'control ran at {achieved:.2f} of {declared:g} Hz'
    for name, rate_hz in _camera_rates(bag).items():
        topic = bag.topic(f'camera/{name}/video')
        if topic is not None and topic.count > 1 and topic.rate_hz < _RATE_SHARE * rate_hz:
            yield f'{name} sent {topic.rate_hz:.2f} of {rate_hz:g} pictures a second'


def _camera_rates(bag: Bag) -> dict[str, float]:
    cameras: list[dict[str, Any]] = episode_facts.cameras(bag.facts.get(episode_facts.WORKCELL, {}))
    return {str(camera['name']): float(camera.get('rate_hz', math.nan)) for camera in cameras}


def _video_problems(episode: EpisodeRecord) -> Iterator[str]:
    for name in sorted(episode.cameras):
        undecodable = completeness.frames_undecodable(episode, name).value
        missing = completeness.frames_missing(episode, name).value
        if undecodable:
            yield f'{undecodable:.0f} pictures of {name} do not decode'
        if missing:
            yield f'{missing:.0f} pictures that rows refer to are missing from {name}'
