"""Counts what arrives on a topic, and what is known to have been lost."""

from dataclasses import dataclass, field

_UNSUPPORTED = 2**64 - 1


@dataclass
class TopicCount:
    """Counts of one topic.

    Attributes:
        received: Messages that the middleware delivered.
        lost: Gaps in the sequence numbers of its publishers: lost before they reached the recorder.
        refused: Delivered, but not written, because the recorder's queue was full or its disk failed.
    """

    received: int = 0
    lost: int = 0
    refused: int = 0
    _last: dict[bytes, int] = field(default_factory=dict, repr=False)

    def note(self, publisher: bytes, sequence: int | None) -> None:
        """Counts one message that was delivered.

        Args:
            publisher: Id of the publisher; empty if the middleware doesn't tell.
            sequence: The publisher's count of its messages; None if the middleware doesn't tell.
        """
        self.received += 1
        if sequence is None or sequence in (0, _UNSUPPORTED):
            return
        last = self._last.get(publisher)
        if last is not None and sequence > last:
            self.lost += sequence - last - 1
        self._last[publisher] = sequence

    @property
    def expected(self) -> int:
        """Messages that were published while the recorder listened, as far as it knows."""
        return self.received + self.lost

    @property
    def dropped(self) -> int:
        """Messages known to be missing from the bag."""
        return self.lost + self.refused

    def as_facts(self) -> dict[str, int]:
        """Returns the counts by name."""
        return {'expected': self.expected, 'received': self.received, 'dropped': self.dropped}
