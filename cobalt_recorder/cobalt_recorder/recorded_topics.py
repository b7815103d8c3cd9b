"""Which topics of a workcell belong into its bag."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cobalt_teleop.core import topics
from cobalt_teleop.core.topics import Qos, Topic

_ANY_PUBLISHER = Qos(reliable=False, latched=False, depth=10)
"""Matches whatever a publisher offers."""


@dataclass(frozen=True)
class RecordedTopic:
    """A topic of the bag.

    Attributes:
        topic: Name, type and quality of service.
        declared: An episode doesn't start without it.
    """

    topic: Topic
    declared: bool


def recorded_topics(
    workcell_id: str,
    *,
    parts: Sequence[str],
    cameras: Sequence[str],
    declared: Sequence[str],
    graph: Mapping[str, Sequence[str]],
) -> tuple[dict[str, RecordedTopic], list[str]]:
    """Returns what is recorded of a workcell, and what was declared but isn't there yet.

    `episode` is not among it: the recorder always listens to that.

    Args:
        workcell_id: The workcell.
        parts: Names of its parts.
        cameras: Names of its cameras that are switched on.
        declared: Full names of the topics that a recording must hold.
        graph: Types of each topic that has an endpoint, by full name.

    Returns:
        Recorded topics by full name; and full names of declared topics whose type nobody knows yet.
    """
    wanted = [topics.CONTROL_STEP, topics.CONTROL_STATE, topics.WORKCELL, topics.LINK]
    for part in parts:
        wanted += [topics.teleop_command(part), topics.policy_command(part)]
    wanted += [topics.video(camera) for camera in cameras]
    wanted += [topics.camera_info(camera) for camera in cameras]
    wanted += [topic for name in sorted(graph) if (topic := _found(name, workcell_id, graph[name])) is not None]
    known = {topic.absolute(workcell_id): topic for topic in wanted}
    unknown = []
    prefix = f'/{workcell_id}/'
    for name in declared:
        if name in known or name == topics.EPISODE.absolute(workcell_id):
            continue
        if name.startswith(prefix) and graph.get(name):
            known[name] = Topic(name.removeprefix(prefix), graph[name][0], _ANY_PUBLISHER)
        else:
            unknown.append(name)
    found = {name: RecordedTopic(topic, name in declared) for name, topic in known.items()}
    return found, unknown


def _found(name: str, workcell_id: str, types: Sequence[str]) -> Topic | None:
    """Returns what a topic of the graph is, if it is one of those that some workcells have."""
    match name.removeprefix(f'/{workcell_id}/').split('/'):
        case 'operator', device, part:
            topic = topics.operator_sample(device, part)
        case 'object', thing, 'pose':
            topic = topics.object_pose(thing)
        case [topics.SIMULATOR_STATE.name]:
            topic = topics.SIMULATOR_STATE
        case _:
            return None
    return topic if topic.type in types and name == topic.absolute(workcell_id) else None
