"""Messages keep their order in the bag, whatever the middleware stamps them with."""

import rclpy

from cobalt_recorder.recorded_topics import RecordedTopic
from cobalt_recorder.topic_taker import TopicTaker
from cobalt_teleop.core import topics


def test_log_times_rise_as_the_messages_do(monkeypatch):
    rclpy.init()
    node = rclpy.create_node('taker')
    try:
        taker = TopicTaker(node, 'w')
        name = topics.EPISODE.absolute('w')
        taker.listen({name: RecordedTopic(topics.EPISODE, declared=True)})
        # The second was lost at first and sent again: it was received last, and is delivered in its place.
        delivered = [(b'1', 100), (b'2', 300), (b'3', 200), (b'4', 400)]
        answers = [[(data, {'received_timestamp': at, 'source_timestamp': at}) for data, at in delivered]]
        monkeypatch.setattr(taker._topics[name].subscription, 'take_all', lambda: answers.pop() if answers else [])
        messages = taker.take()
        assert [message.data for message in messages] == [b'1', b'2', b'3', b'4']
        assert [message.received_ns for message in messages] == [100, 300, 301, 400]
        taker.close()
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
