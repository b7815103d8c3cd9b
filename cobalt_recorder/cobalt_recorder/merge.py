"""Joins the messages of several bags into one new bag, in the order of their log times."""

import heapq
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cobalt_recorder.bag_copy import BagCopy
from cobalt_recorder.bag_reader import Bag, messages_by_time
from cobalt_recorder.bag_writer import BagWriter
from cobalt_recorder.file_hash import hash_of_files
from cobalt_recorder.trim import require_whole
from cobalt_teleop.core.errors import CobaltError

MERGE = 'cobalt.merge'


def merge(
    paths: Sequence[Path], output: Path, progress: Callable[[int, int], None] = lambda *_: None
) -> dict[str, int]:
    """Writes a new bag, to be looked at as one: it is no episode, whatever the bags are.

    Args:
        paths: Folders of bags, or their MCAP files.
        output: Folder of the new bag, which must not exist.
        progress: Told how many messages of how many are written.

    Returns:
        How many messages of each topic it holds.

    Raises:
        CobaltError: A bag is not there or not whole, bags do not fit, or the new bag cannot be written.
    """
    output = output.expanduser().absolute()
    bags = [require_whole(path) for path in paths]
    _require_one_type(bags)
    total = sum(topic.count for bag in bags for topic in bag.topics.values())
    holders = Counter(name for bag in bags for name in bag.topics)
    shared = {name for name, count in holders.items() if count > 1}
    names = ', '.join(bag.folder.name for bag in bags)
    try:
        writer = BagWriter(output, {'merged_from': names})
        copy = BagCopy(writer)
        sources = [{'name': bag.folder.name, 'sha256': hash_of_files(bag.files), 'facts': bag.facts} for bag in bags]
        writer.add_facts(MERGE, {'sources': json.dumps(sources)})
        merged = heapq.merge(*(_messages(bag) for bag in bags), key=lambda one: int(one[2].log_time))
        for index, (schema, channel, message) in enumerate(merged):
            # Numbers of different publishers side by side would look like gaps.
            copy.copy(schema, channel, replace(message, sequence=0) if channel.topic in shared else message)
            progress(index + 1, total)
        writer.close(f'{MERGE}.end', {'messages': str(sum(writer.counts.values()))}, {})
    except FileExistsError as error:
        raise CobaltError(f'{output} is there already: give another folder.') from error
    except OSError as error:
        raise CobaltError(f'{output} cannot be written: {error.strerror or error}') from error
    return writer.counts


def _messages(bag: Bag) -> Iterator[tuple[Any, Any, Any]]:
    return (one for one in messages_by_time(bag) if one[0])


def _require_one_type(bags: Sequence[Bag]) -> None:
    known: dict[str, tuple[str, Path]] = {}
    for bag in bags:
        for topic in bag.topics.values():
            kind, where = known.setdefault(topic.name, (topic.type, bag.folder))
            if kind != topic.type:
                raise CobaltError(
                    f'{topic.name} is of type {kind} in {where}, but of type {topic.type} in {bag.folder}: '
                    'such bags cannot be merged.'
                )
