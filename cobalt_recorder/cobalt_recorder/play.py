"""Publishes the messages of a bag on their topics again, as they were: same bytes, same intervals, offered QoS."""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

from cobalt_recorder.bag_reader import Bag, TopicSummary, channels_of, messages_by_time
from cobalt_recorder.offered_qos import INFINITE_NS, OfferedQos, from_yaml_list
from cobalt_recorder.trim import require_whole
from cobalt_teleop.core import topics
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.ros.message_types import message_class

_DISCOVERY_S = 1.0
_HEARD_S = 2.0
_LEAST_DEPTH = 10
_COMMAND_TYPES = (topics.teleop_command('any').type, topics.operator_sample('any', 'any').type)


@dataclass(frozen=True, kw_only=True)
class PlayOptions:
    """How a bag is played.

    Attributes:
        rate: Times the recorded speed.
        start_s: Where it begins, since the first message [s].
        prefix: Put in front of every topic, such as /replay.
        loop: Begins again at the end.
        commands: Plays what operators and policies commanded, too.
        topics: Only these; empty for all.
    """

    rate: float = 1.0
    start_s: float = 0.0
    prefix: str = ''
    loop: bool = False
    commands: bool = False
    topics: tuple[str, ...] = ()


def played_topics(bag: Bag, options: PlayOptions) -> list[TopicSummary]:
    """Returns the topics that are played, in the order of their names.

    Raises:
        CobaltError: A topic is asked for that the bag lacks, or nothing is left.
    """
    unknown = sorted(set(options.topics) - bag.topics.keys())
    if unknown:
        raise CobaltError(f'{bag.folder} has no topic {unknown[0]}. It has: {", ".join(sorted(bag.topics))}')
    found = [
        topic
        for name, topic in sorted(bag.topics.items())
        if (not options.topics or name in options.topics)
        and (options.commands or name in options.topics or topic.type not in _COMMAND_TYPES)
    ]
    if not found:
        raise CobaltError(f'{bag.folder} has nothing to play but commands: ask for them with --commands.')
    return found


class Player:
    """Plays one bag.

    Args:
        node: Owns the publishers.
        path: Folder of the bag, or its MCAP file.
        options: How.

    Raises:
        CobaltError: There is no whole bag, a message type is not installed, or somebody publishes on a topic already.
    """

    def __init__(self, node: Node, path: Path, options: PlayOptions) -> None:
        self._options = options
        self._bag = require_whole(path)
        self._topics = played_topics(self._bag, options)
        self.total = sum(topic.count for topic in self._topics)
        """Messages of the whole bag that are to be published."""
        qos = self._offered()
        time.sleep(_DISCOVERY_S)
        for topic in self._topics:
            others = node.get_publishers_info_by_topic(options.prefix + topic.name)
            if others:
                raise CobaltError(
                    f'{others[0].node_name} publishes on {options.prefix + topic.name} already: '
                    'give --prefix /replay to play beside it.'
                )
        self._publishers = {
            topic.name: node.create_publisher(
                message_class(topic.type), options.prefix + topic.name, _profile(qos.get(topic.name))
            )
            for topic in self._topics
        }
        time.sleep(_DISCOVERY_S)

    def play(self, stop: threading.Event, progress: Callable[[int], None] = lambda _: None) -> int:
        """Publishes until the end, or until `stop`; returns how many messages were published."""
        count = 0
        while True:
            began_s = time.monotonic()
            zero_ns: int | None = None
            for channel, message in self._messages():
                zero_ns = message.log_time if zero_ns is None else zero_ns
                due_s = began_s + (message.log_time - zero_ns) / 1e9 / self._options.rate
                if stop.wait(max(0.0, due_s - time.monotonic())):
                    return count
                self._publishers[channel.topic].publish(message.data)
                count += 1
                progress(count)
            if not self._options.loop or zero_ns is None:
                self._wait_heard()
                return count

    def _wait_heard(self) -> None:
        """Waits until reliable subscribers have the last messages, which would be lost with their publishers."""
        until_s = time.monotonic() + _HEARD_S
        for publisher in self._publishers.values():
            publisher.wait_for_all_acked(Duration(seconds=max(0.0, until_s - time.monotonic())))

    def _messages(self) -> Iterator[tuple[Any, Any]]:
        names = [topic.name for topic in self._topics]
        start_ns = min(topic.first_ns for topic in self._topics if topic.count) + round(self._options.start_s * 1e9)
        for _, channel, message in messages_by_time(self._bag, topics=names, start_ns=start_ns):
            yield channel, message

    def _offered(self) -> dict[str, OfferedQos]:
        offered = {
            name: from_yaml_list(channel.metadata.get('offered_qos_profiles', ''))
            for name, channel in channels_of(self._bag).items()
        }
        return {name: profiles[0] for name, profiles in offered.items() if profiles}


def _profile(offered: OfferedQos | None) -> QoSProfile:
    """Returns the profile of a publisher that offers what the recorded one did; reliable if nothing is known."""
    known = offered or OfferedQos()
    latched, reliable = known.durability == 'transient_local', known.reliability == 'reliable'
    profile = QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=max(known.depth, _LEAST_DEPTH),
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
    )
    if known.lifespan_ns < INFINITE_NS:
        profile.lifespan = Duration(nanoseconds=known.lifespan_ns)
    return profile
