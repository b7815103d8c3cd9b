"""Puts messages of one bag into another, with all that was known of their topics."""

from typing import Any

from cobalt_recorder.bag_writer import BagWriter
from cobalt_recorder.offered_qos import from_yaml_list


class BagCopy:
    """Copies messages into a bag that is being written.

    Args:
        writer: Of the new bag.
    """

    def __init__(self, writer: BagWriter) -> None:
        self._writer = writer
        self.first_ns = 0
        """Log time of the earliest message [ns]."""
        self.last_ns = 0
        """Log time of the latest message [ns]."""

    @property
    def seconds(self) -> float:
        """From the earliest message to the latest [s]."""
        return (self.last_ns - self.first_ns) / 1e9

    def copy(self, schema: Any, channel: Any, message: Any) -> None:
        """Writes a message.

        Args:
            schema: mcap's Schema of its type.
            channel: mcap's Channel of its topic.
            message: mcap's Message.

        Raises:
            OSError: It could not be written.
        """
        self._writer.add_topic(
            channel.topic,
            schema.name,
            from_yaml_list(channel.metadata.get('offered_qos_profiles', '')),
            channel.metadata.get('topic_type_hash', ''),
            definition=schema.data,
        )
        self._writer.write(
            channel.topic,
            message.data,
            received_ns=message.log_time,
            published_ns=message.publish_time,
            sequence=message.sequence,
        )
        self.first_ns = min(self.first_ns or message.log_time, message.log_time)
        self.last_ns = max(self.last_ns, message.log_time)
