"""What a bag, or a running recording, holds of an episode."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from cobalt_recorder.metrics.link import LinkSample
from cobalt_recorder.metrics.part_record import PartRecord
from cobalt_recorder.metrics.step_table import StepTable


@dataclass(frozen=True)
class CameraRecord:
    """What a bag holds of one camera.

    Attributes:
        stamps_ns: Of the recorded frames, in order [ns].
        decoded: How many of them a decoder turned into pictures.
    """

    stamps_ns: Sequence[int]
    decoded: int


@dataclass(frozen=True, kw_only=True)
class EpisodeRecord:
    """What is known of an episode.

    Attributes:
        steps: Its rows, in the order of the file.
        control_rate_hz: Declared [Hz]; NaN if unknown.
        links: Reports on the link of who held control.
        outcome: Name of EpisodeState.OUTCOME_*.
        judged_by_task: The outcome is the predicate's, or the task has one that could have seen it.
        first_step: As the host says; 0 if unknown.
        last_step: As the host says; 0 if unknown.
        cameras: By name.
        dropped: Messages missing, by topic relative to the workcell.
    """

    steps: StepTable
    control_rate_hz: float
    links: Sequence[LinkSample] = ()
    outcome: str = 'UNKNOWN'
    judged_by_task: bool = False
    first_step: int = 0
    last_step: int = 0
    cameras: Mapping[str, CameraRecord] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def parts(self) -> dict[str, PartRecord]:
        """Parts of the workcell, by name."""
        ticks = self.steps.ticks
        return {name: PartRecord(ticks, rows, self.control_rate_hz) for name, rows in self.steps.parts.items()}
