"""The recording of one episode: from the first subscription to the closed bag."""

import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rclpy.node import Node

from cobalt_recorder import episode_facts
from cobalt_recorder.bag_thread import BagThread, RawMessage
from cobalt_recorder.bag_writer import BagWriter
from cobalt_recorder.live_quality import LiveQuality
from cobalt_recorder.pre_roll import PreRoll
from cobalt_recorder.quality_rules import QualityRules
from cobalt_recorder.reserved_file import being_written
from cobalt_recorder.topic_count import TopicCount
from cobalt_recorder.topic_taker import TopicTaker, count_message, offered_by, raw_message
from cobalt_teleop.core import topics
from cobalt_teleop.core.errors import CobaltError

_LINGER_S = 0.15
"""What arrives so long after the last row still belongs to the episode [s]."""


@dataclass(frozen=True, kw_only=True)
class RecorderOptions:
    """How episodes are recorded.

    Attributes:
        dataset: Folder of all bags.
        min_free_bytes: Free space below which no episode starts.
        queue_bytes: Bound of what waits for the disk, for each workcell.
        split_bytes: Size of a file from which on a bag goes on in another one; 0 for never.
        pre_roll_s: What came so long before an episode is recorded with it [s].
        rules: What is asked of an episode.
    """

    dataset: Path
    min_free_bytes: int
    queue_bytes: int
    split_bytes: int
    pre_roll_s: float
    rules: QualityRules


def folder_name(text: str, otherwise: str) -> str:
    """Returns a text as the name of one folder: letters, digits, `.`, `_`, `-`, and no dot in front."""
    return re.sub(r'[^A-Za-z0-9._-]', '_', text).lstrip('.') or otherwise


class EpisodeRecording:
    """One episode of one workcell. Its methods belong to the executor's thread.

    Args:
        node: Owns the subscriptions.
        info: WorkcellInfo of the workcell.
        episode: EpisodeState when it began.
        options: Of the recorder.
    """

    def __init__(self, node: Node, info: Any, episode: Any, options: RecorderOptions) -> None:
        self._node = node
        self._info = info
        self._options = options
        self._workcell_id: str = info.workcell_id
        self._episode_topic = topics.EPISODE.absolute(self._workcell_id)
        self._episode_count = TopicCount()
        self._taker = TopicTaker(node, self._workcell_id)
        self._early: list[RawMessage] = []
        self.live = LiveQuality(self._workcell_id, episode.episode_id, info.control_rate_hz)
        """How it goes so far."""
        self._bag: BagThread | None = None
        self._in_bag: set[str] = set()
        self._last_row_s: float | None = None
        self.episode = episode
        self.folder = (
            options.dataset / folder_name(episode.task, 'untitled') / folder_name(episode.episode_id, 'unnamed')
        )
        self.began_s = time.monotonic()
        self._taker.look_around(info)

    @property
    def is_open(self) -> bool:
        """The bag is on the disk."""
        return self._bag is not None

    @property
    def closed(self) -> bool:
        """The bag was closed, well or not."""
        return self._bag is not None and self._bag.ended

    @property
    def fault(self) -> str:
        """Why the bag cannot go on, in words; empty while all is well."""
        return self._bag.fault if self._bag is not None else ''

    @property
    def remains(self) -> str:
        """What is left of a bag with a fault, in words, once it is closed."""
        return self._bag.remains if self._bag is not None else ''

    @property
    def bytes_written(self) -> int:
        """Size of the file so far."""
        return self._bag.bytes_written if self._bag is not None else 0

    @property
    def dropped(self) -> int:
        """Messages known to be missing, over all topics."""
        return sum(count.dropped for count in self._counts().values())

    @property
    def silence_s(self) -> float:
        """How long no control_step has come [s]."""
        return time.monotonic() - self._taker.last_step_s

    def missing(self) -> list[str]:
        """Returns the declared topics whose messages don't arrive yet."""
        return sorted([*self._taker.undeclared, *self._taker.unsettled()])

    def note_episode(self, data: bytes, info: dict[str, Any], episode: Any) -> None:
        """Takes a state of the episode, as bytes with the middleware's information and as a message."""
        self.episode = episode
        count_message(self._episode_count, info)
        self._write(raw_message(self._episode_topic, data, info))

    def sweep(self, *, watched: bool = False) -> None:
        """Takes and writes what has come. Call many times a second.

        Args:
            watched: Somebody hears of the live quality; it is followed only then, as that costs more than all else.
        """
        self._taker.look_around(self._info)
        for message in self._taker.take():
            if watched:
                self.live.note(message)
            self._write(message)

    def open(self, pre_roll: PreRoll | None = None) -> None:
        """Makes the bag, with all that has come so far.

        Args:
            pre_roll: Has what came before; it is ended.

        Raises:
            CobaltError: The disk doesn't take it.
        """
        before = self._before(pre_roll)
        begin = {
            **episode_facts.recording_facts(self._info),
            **episode_facts.episode_facts(self.episode),
            'robot': self._info.robot,
        }
        try:
            writer = BagWriter(self.folder, begin, split_bytes=self._options.split_bytes)
            writer.add_facts(episode_facts.RECORDING, episode_facts.recording_facts(self._info))
            writer.add_facts(episode_facts.WORKCELL, episode_facts.workcell_facts(self._info))
            writer.add_facts(episode_facts.EPISODE, episode_facts.episode_facts(self.episode))
            for topic in self._declared_topics():
                writer.add_topic(topic.name, topic.type, topic.qos, topic.type_hash)
                self._in_bag.add(topic.name)
            writer.write_metadata()
        except FileExistsError as error:
            raise CobaltError(self._why_it_exists()) from error
        except OSError as error:
            raise CobaltError(f'{self.folder} cannot be written: {error.strerror or error}') from error
        self._bag = BagThread(writer, queue_bytes=self._options.queue_bytes)
        counts = self._taker.counts
        for message in before:
            count_message(counts[message.topic], {})
            self._write(message)
        early, self._early = self._early, []
        for message in early:
            self._write(message)

    def _before(self, pre_roll: PreRoll | None) -> list[RawMessage]:
        """Returns what came before the episode was announced."""
        if pre_roll is None:
            return []
        self.sweep()
        first: dict[str, int] = {}
        for message in self._early:
            first[message.topic] = min(first.get(message.topic, message.published_ns), message.published_ns)
        recorded = self._taker.counts
        return [message for message in pre_roll.end(self._info, first=first) if message.topic in recorded]

    def _why_it_exists(self) -> str:
        files = list(self.folder.glob('*.mcap'))
        if any(being_written(file) for file in files):
            return f'another recorder_node records into {self.folder}: end one of them'
        if files:
            return (
                'the recorder was started anew in the midst of the episode: start another one '
                f'({self.folder} keeps what was recorded until then)'
            )
        return f'{self.folder} is there already, and is kept as it is: start another episode'

    def has_last_row(self) -> bool:
        """Tells whether the terminal row, and what belongs to it, has come."""
        newest = self._taker.last_step
        if newest is None or newest.step < self.episode.last_step:
            return False
        self._last_row_s = self._last_row_s or time.monotonic()
        return time.monotonic() - self._last_row_s >= _LINGER_S

    def finish(self, ended_by: str = '') -> None:
        """Ends the subscriptions and has the bag closed, which takes a moment: see `closed`.

        Args:
            ended_by: Why the recorder ends the episode, in words; empty if the host does.
        """
        if self._bag is not None:
            self.sweep()
            counts = {name: count.as_facts() for name, count in self._counts().items()}
            end = episode_facts.end_facts(self.episode, ended_by=ended_by, counts=counts)
            custom = {name: value for name, value in end.items() if name != 'counts'}
            self._bag.finish(episode_facts.END, end, custom)
        self._taker.close()

    def wait(self, timeout_s: float) -> bool:
        """Waits for the bag to be closed; returns False if the time has run out."""
        return self._bag is None or self._bag.wait(timeout_s)

    def _counts(self) -> dict[str, TopicCount]:
        return {self._episode_topic: self._episode_count, **self._taker.counts}

    def _declared_topics(self) -> list[Any]:
        names = [name for name in self._info.declared_topics if name != self._episode_topic]
        offered = [self._taker.offered(name) for name in names if name in self._taker.counts]
        return [offered_by(self._node, self._episode_topic, topics.EPISODE.type), *offered]

    def _write(self, message: RawMessage) -> None:
        if self._bag is None:
            self._early.append(message)
            return
        if message.topic not in self._in_bag:
            self._in_bag.add(message.topic)
            self._bag.add_topic(self._taker.offered(message.topic))
        if not self._bag.write(message):
            self._counts()[message.topic].refused += 1
