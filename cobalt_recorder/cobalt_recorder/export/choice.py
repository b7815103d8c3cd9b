"""What is exported, and how."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cobalt_recorder.quality_rules import VERDICTS
from cobalt_teleop.core.errors import CobaltError

ACTIONS = ('absolute', 'delta', 'joint')
"""Pose of the tool that was executed; the way to it from the measured pose; joint targets. Each with the gripper."""

GROUPINGS = ('episode', 'seed', 'operator')
"""What stays together when episodes are split: nothing, episodes of one seed, or of one operator."""

POLICY = (
    'The grid begins at the stamp of the first row and has the rate of the export. At each of its instants the '
    'observation is that of the row whose stamp is nearest, and the action that of the last row before the next '
    'instant (of that same row, where there is none in between). Rows are chosen, never interpolated; a row that was '
    'nearest twice is repeated. The true stamps are in columns of their own.'
)
EVERY_ROW_POLICY = (
    'Each recorded row is one frame, in its order; nothing is resampled, and the nominal rate is the declared control '
    'rate. The true stamps are in columns of their own.'
)


@dataclass(frozen=True, kw_only=True)
class ExportChoice:
    """What is exported, and how.

    Attributes:
        action: One of ACTIONS.
        rate_hz: Of the export [Hz]; 0 for the declared control rate.
        every_row: Each row is one frame; nothing is resampled.
        cameras: Their names; None for all.
        size: Width and height of pictures [pixels]; None for those of the camera.
        verdicts: Episodes with these are exported.
        tasks: Only these; empty for all.
        objects: Poses of the task's objects are part of the observation.
        human_only: Only stretches that a person drove, each as an episode of its own.
        pseudonyms: Operators are named by numbers.
        valid_share: Of the episodes, for validation.
        keep_together: One of GROUPINGS.
    """

    action: str = 'absolute'
    rate_hz: float = 0.0
    every_row: bool = False
    cameras: tuple[str, ...] | None = None
    size: tuple[int, int] | None = None
    verdicts: tuple[str, ...] = ('ACCEPT',)
    tasks: tuple[str, ...] = ()
    objects: bool = False
    human_only: bool = False
    pseudonyms: bool = False
    valid_share: float = 0.1
    keep_together: str = 'episode'

    def __post_init__(self) -> None:
        if self.action not in ACTIONS:
            raise CobaltError(f'the action is {self.action}, but must be one of {", ".join(ACTIONS)}.')
        if self.keep_together not in GROUPINGS:
            raise CobaltError(f'{self.keep_together} is none of {", ".join(GROUPINGS)}.')
        if self.rate_hz < 0.0 or (self.every_row and self.rate_hz):
            raise CobaltError('a rate must be above 0 Hz, and cannot be given together with every row.')
        if not 0.0 <= self.valid_share < 1.0:
            raise CobaltError(f'the share for validation is {self.valid_share:g}, but must be from 0 to less than 1.')
        unknown = sorted(set(self.verdicts) - set(VERDICTS))
        if unknown:
            raise CobaltError(f'there is no verdict {unknown[0]}: give some of {", ".join(VERDICTS)}.')
        if self.size is not None and (min(self.size) < 16 or any(one % 2 for one in self.size)):
            width, height = self.size
            raise CobaltError(f'pictures of {width}x{height} cannot be made: both must be even, and 16 or more.')

    @property
    def resampling(self) -> str:
        """The policy, in words."""
        return EVERY_ROW_POLICY if self.every_row else POLICY

    def as_json(self) -> dict[str, Any]:
        """Returns it for files."""
        return {**asdict(self), 'resampling': self.resampling}


@dataclass(frozen=True, kw_only=True)
class ExportedEpisode:
    """Where an exported episode comes from.

    Attributes:
        index: Its number in the export.
        source: Folder of its bag, relative to the data set.
        sha256: Of the bag's file.
        episode_id: ULID.
        segment: Which stretch of the episode it is; 0 if it is the whole.
        first_step: ControlStep.step of its first row.
        last_step: ControlStep.step of its last row.
        frames: In the export.
        task: Its name.
        instruction: In words.
        operator: Who drove, perhaps by a pseudonym.
        seed: Of the reset.
        policy_id: What drove, if a policy did.
        outcome: Name of EpisodeState.OUTCOME_*.
        verdict: One of VERDICTS.
        split: train or valid.
        achieved_rate_hz: Of its rows, before resampling.
        workcell: Facts of the workcell: robot, parts, joints, cameras, frames.
        calibration: Latest CameraInfo of each camera, if the bag has one.
    """

    index: int
    source: str
    sha256: str
    episode_id: str
    segment: int
    first_step: int
    last_step: int
    frames: int
    task: str
    instruction: str
    operator: str
    seed: str
    policy_id: str
    outcome: str
    verdict: str
    split: str
    achieved_rate_hz: float
    workcell: dict[str, str]
    calibration: dict[str, Any]

    def as_json(self) -> dict[str, Any]:
        """Returns it for files."""
        return asdict(self)


def require_new(output: Path) -> Path:
    """Returns a path that nothing stands at.

    Raises:
        CobaltError: Something is there.
    """
    output = output.expanduser().absolute()
    if output.exists():
        raise CobaltError(f'{output} is there already: give another name.')
    return output
