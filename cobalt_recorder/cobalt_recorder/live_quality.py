"""Quality while an episode is recorded: the metrics that its file will give, over its newest rows."""

from collections import deque
from collections.abc import Callable
from typing import Any

from mcap.records import Schema
from mcap_ros2.decoder import DecoderFactory

from cobalt_recorder.bag_thread import RawMessage
from cobalt_recorder.metrics.link import LinkSample, link_sample
from cobalt_recorder.metrics.measure import Measurement, measure_running
from cobalt_recorder.metrics.record import EpisodeRecord
from cobalt_recorder.metrics.step_table import StepTable, is_of_episode
from cobalt_teleop.core import topics
from cobalt_teleop.ros.interface_text import message_text

_NEWEST_ROWS = 200
"""How many rows count at least: 10 s at 20 Hz. More would cost more, and say less of how it goes now."""

_NEWEST_LINKS = 30


def _decoder(ros_type: str) -> Callable[[bytes], Any]:
    """Returns what the judge decodes a type with: for many rows it is quicker than a message class."""
    schema = Schema(id=1, name=ros_type, encoding='ros2msg', data=message_text(ros_type).encode())
    decode = DecoderFactory().decoder_for('cdr', schema)
    assert decode is not None
    return decode


class LiveQuality:
    """Follows one episode.

    Args:
        workcell_id: Where it is recorded.
        episode_id: Rows of others do not count.
        control_rate_hz: Declared [Hz].
    """

    def __init__(self, workcell_id: str, episode_id: str, control_rate_hz: float) -> None:
        self._episode_id = episode_id
        self._control_rate_hz = control_rate_hz
        self._steps = StepTable(_NEWEST_ROWS)
        self._links: deque[LinkSample] = deque(maxlen=_NEWEST_LINKS)
        self._take: dict[str, Callable[[bytes], None]] = {
            topics.CONTROL_STEP.absolute(workcell_id): self._take_step,
            topics.LINK.absolute(workcell_id): self._take_link,
        }
        self._decode_step = _decoder(topics.CONTROL_STEP.type)
        self._decode_link = _decoder(topics.LINK.type)

    def note(self, message: RawMessage) -> None:
        """Takes a message of the recording, whatever its topic."""
        take = self._take.get(message.topic)
        if take is None:
            return
        try:
            take(message.data)
        except Exception:
            # Bytes of others may be anything. What they hold is judged from the file; it must not end its recording.
            self._take.clear()

    def measure(self) -> list[Measurement]:
        """Returns what the newest rows tell; nothing if there is none yet."""
        if not len(self._steps):
            return []
        return measure_running(
            EpisodeRecord(steps=self._steps, control_rate_hz=self._control_rate_hz, links=tuple(self._links))
        )

    def _take_step(self, data: bytes) -> None:
        step = self._decode_step(data)
        if is_of_episode(step, self._episode_id):
            self._steps.append(step)

    def _take_link(self, data: bytes) -> None:
        sample = link_sample(self._decode_link(data))
        if sample is not None:
            self._links.append(sample)
