"""Takes the serialised messages of the recorded topics from the middleware, and counts them."""

import time
from typing import Any

from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.publisher import Publisher
from std_msgs.msg import Empty

from cobalt_recorder.bag_thread import NewTopic, RawMessage
from cobalt_recorder.key_frames import is_key_frame
from cobalt_recorder.offered_qos import INFINITE_NS, OfferedQos
from cobalt_recorder.recorded_topics import RecordedTopic, recorded_topics
from cobalt_recorder.step_header import StepHeader, read_step_header
from cobalt_recorder.topic_count import TopicCount
from cobalt_teleop.core import topics
from cobalt_teleop.ros.endpoints import TakenSubscription, create_publisher

_KEPT_BY_MIDDLEWARE = 200
"""Messages of a topic that wait until they are taken: seconds, however busy the process is."""

_SETTLED_S = 0.5
"""A matched publisher that stays silent for so long has nothing to say: latched messages would have come [s]."""


_LOOK_AROUND_S = 1.0
"""How often new devices are looked for [s]."""

_ASK_S = 0.3
"""How often a camera is asked for its first key frame [s]."""

_VIDEO_TYPE = topics.video('any').type
_CALIBRATION_TYPE = topics.camera_info('any').type


def raw_message(topic: str, data: bytes, info: dict[str, Any]) -> RawMessage:
    """Returns a message with its times as the middleware tells them."""
    received_ns = info.get('received_timestamp') or time.time_ns()
    sequence = info.get('publication_sequence_number')
    return RawMessage(
        topic=topic,
        data=data,
        received_ns=received_ns,
        published_ns=info.get('source_timestamp') or received_ns,
        sequence=sequence if sequence is not None and sequence < 2**32 else 0,
    )


def count_message(count: TopicCount, info: dict[str, Any]) -> None:
    """Counts a message by its publisher's id and number, where the middleware tells them."""
    gid = info.get('publisher_gid')
    count.note(bytes(gid['data']) if gid else b'', info.get('publication_sequence_number'))


def offered_by(node: Node, name: str, ros_type: str) -> NewTopic:
    """Returns a topic with what its publishers offer now."""
    endpoints = node.get_publishers_info_by_topic(name)
    type_hash = next((str(getattr(endpoint, 'topic_type_hash', '')) for endpoint in endpoints), '')
    return NewTopic(name, ros_type, tuple(_offered(endpoint.qos_profile) for endpoint in endpoints), type_hash)


def _offered(profile: Any) -> OfferedQos:
    def nanoseconds(duration: Duration) -> int:
        return min(int(duration.nanoseconds), INFINITE_NS)

    return OfferedQos(
        history=profile.history.name.lower(),
        depth=profile.depth,
        reliability=profile.reliability.name.lower(),
        durability=profile.durability.name.lower(),
        liveliness=profile.liveliness.name.lower(),
        deadline_ns=nanoseconds(profile.deadline),
        lifespan_ns=nanoseconds(profile.lifespan),
        lease_ns=nanoseconds(profile.liveliness_lease_duration),
    )


class _Taken:
    """One subscription.

    Of a video, nothing counts before the first key frame, as nobody could decode it. Of a calibration, which stays the
    same, one message is enough.
    """

    def __init__(self, node: Node, workcell_id: str, recorded: RecordedTopic) -> None:
        self.declared = recorded.declared
        self.type = recorded.topic.type
        self.subscription = TakenSubscription(
            node, recorded.topic, workcell_id, raw=True, depth=_KEPT_BY_MIDDLEWARE, hidden=True
        )
        self.count = TopicCount()
        self.matched_s: float | None = None
        self.is_video = recorded.topic.type == _VIDEO_TYPE
        self._is_enough = recorded.topic.type == _CALIBRATION_TYPE and not recorded.declared
        self._closed = False
        self._requests = _key_frame_requests(node, workcell_id, recorded.topic) if self.is_video else None
        self._asked_s = 0.0
        self._newest_ns = 0
        self._node = node

    def take(self) -> list[RawMessage]:
        if self._closed:
            return []
        messages: list[RawMessage] = []
        for data, info in self.subscription.take_all():
            if self.is_video and not self.count.received and not is_key_frame(data):
                continue
            count_message(self.count, info)
            messages.append(self._in_order(raw_message(self.subscription.topic_name, data, info)))
            if self._is_enough:
                self.close()
                break
        return messages

    def _in_order(self, message: RawMessage) -> RawMessage:
        # A reliable message that was sent again carries a later receive stamp than those that it is delivered before.
        # Readers go by the log time, so it must rise as the messages do.
        if message.received_ns > self._newest_ns:
            self._newest_ns = message.received_ns
            return message
        self._newest_ns += 1
        return message._replace(received_ns=self._newest_ns)

    def settled(self, now_s: float) -> bool:
        if self.count.received:
            self._end_requests()
            return True
        if self.matched_s is None and self.subscription.publisher_count:
            self.matched_s = now_s
        if self.is_video:
            self._ask(now_s)
            return False
        return self.matched_s is not None and now_s - self.matched_s >= _SETTLED_S

    def close(self) -> None:
        self._end_requests()
        if not self._closed:
            self._closed = True
            self.subscription.close()

    def _ask(self, now_s: float) -> None:
        if self._requests is not None and now_s - self._asked_s >= _ASK_S:
            self._asked_s = now_s
            self._requests.publish(Empty())

    def _end_requests(self) -> None:
        if self._requests is not None:
            self._node.destroy_publisher(self._requests)
            self._requests = None


def _key_frame_requests(node: Node, workcell_id: str, video: topics.Topic) -> Publisher:
    camera = video.name.split('/')[-2]
    return create_publisher(node, topics.request_key_frame(camera), workcell_id)


class TopicTaker:
    """The subscriptions of one episode. Its methods belong to the executor's thread.

    Args:
        node: Owns the subscriptions.
        workcell_id: The workcell.
    """

    def __init__(self, node: Node, workcell_id: str) -> None:
        self._node = node
        self._workcell_id = workcell_id
        self._steps = topics.CONTROL_STEP.absolute(workcell_id)
        self._topics: dict[str, _Taken] = {}
        self.last_step: StepHeader | None = None
        self.last_step_s = time.monotonic()
        self._looked_s = float('-inf')
        self.undeclared: list[str] = []
        """Declared topics whose type nobody knows yet."""

    @property
    def counts(self) -> dict[str, TopicCount]:
        """Counts by topic."""
        return {name: taken.count for name, taken in self._topics.items()}

    def look_around(self, info: Any) -> None:
        """Subscribes to what is recorded of the workcell, as devices come and cameras are switched on; once a second.

        Args:
            info: Newest WorkcellInfo.
        """
        if time.monotonic() - self._looked_s < _LOOK_AROUND_S:
            return
        self._looked_s = time.monotonic()
        found, self.undeclared = recorded_topics(
            self._workcell_id,
            parts=[part.name for part in info.parts],
            cameras=[camera.name for camera in info.cameras if camera.enabled],
            declared=list(info.declared_topics),
            graph=dict(self._node.get_topic_names_and_types()),
        )
        self.listen(found)

    def listen(self, wanted: dict[str, RecordedTopic]) -> None:
        """Subscribes to those topics to which it has not subscribed yet."""
        for name, recorded in wanted.items():
            if name not in self._topics:
                self._topics[name] = _Taken(self._node, self._workcell_id, recorded)

    def is_video(self, name: str) -> bool:
        """Tells whether a topic's messages need those before them."""
        return self._topics[name].is_video

    def unsettled(self) -> list[str]:
        """Returns the declared topics whose messages don't arrive yet."""
        now_s = time.monotonic()
        return [name for name, taken in self._topics.items() if taken.declared and not taken.settled(now_s)]

    def offered(self, name: str) -> NewTopic:
        """Returns a topic with what its publishers offer now."""
        return offered_by(self._node, name, self._topics[name].type)

    def take(self) -> list[RawMessage]:
        """Returns what has come since the last call, of all topics in the order of arrival."""
        messages = [message for taken in self._topics.values() for message in taken.take()]
        messages.sort(key=lambda message: message.received_ns)
        for message in messages:
            if message.topic == self._steps:
                self.last_step = read_step_header(message.data)
                self.last_step_s = time.monotonic()
        return messages

    def close(self) -> None:
        """Ends the subscriptions."""
        for taken in self._topics.values():
            taken.close()
        self._topics.clear()
