"""The episode of a workcell: start handshake with the recorder, end, verdict, label."""

from dataclasses import dataclass
from enum import IntEnum

from cobalt_teleop.core.errors import CobaltError


class Phase(IntEnum):
    """Values of EpisodeState.PHASE_*."""

    IDLE = 0
    PREPARING = 1
    RUNNING = 2
    PAUSED = 3
    ENDING = 4
    ENDED = 5


GOING_ON = frozenset({Phase.PREPARING, Phase.RUNNING, Phase.PAUSED, Phase.ENDING})
"""Phases of an episode that is recorded, or about to be."""


class Outcome(IntEnum):
    """Values of EpisodeState.OUTCOME_*."""

    UNKNOWN = 0
    SUCCESS = 1
    FAILURE = 2
    TIMEOUT = 3
    ABORTED = 4
    DISCARDED = 5


class OutcomeSource(IntEnum):
    """Values of EpisodeState.OUTCOME_SOURCE_*."""

    PREDICATE = 0
    OPERATOR = 1
    REVIEWER = 2


class EpisodeRefusedError(CobaltError):
    """An episode cannot start, end or be labelled now; the message says why."""


@dataclass(frozen=True, kw_only=True)
class EpisodeRequest:
    """What an episode is to be.

    Attributes:
        episode_id: ULID.
        task: Name of the task.
        instruction: Goal in a sentence.
        operator_id: Who drives.
        policy_id: Policy, if one does.
        seed: Of the reset.
        round: Of policy learning.
        time_limit_s: 0 if none [s].
        require_recording: Wait for the recorder; refuse if it cannot record.
        practice: Nothing of it is recorded.
    """

    episode_id: str
    task: str
    instruction: str
    operator_id: str
    policy_id: str
    seed: int
    round: int
    time_limit_s: float
    require_recording: bool
    practice: bool = False


_BUSY = (Phase.PREPARING, Phase.RUNNING, Phase.PAUSED, Phase.ENDING)


class Episode:
    """The present or last episode of a workcell.

    Args:
        prepare_timeout_s: How long the recorder may take to get ready [s].
        finish_timeout_s: How long it may take to save [s].
    """

    def __init__(self, *, prepare_timeout_s: float = 5.0, finish_timeout_s: float = 10.0) -> None:
        self._prepare_timeout_s = prepare_timeout_s
        self._finish_timeout_s = finish_timeout_s
        self._deadline_s = 0.0
        self.request: EpisodeRequest | None = None
        self.phase = Phase.IDLE
        self.outcome = Outcome.UNKNOWN
        self.outcome_source = OutcomeSource.PREDICATE
        self.end_reason = ''
        self.started_ns = 0
        self.ended_ns = 0
        self.started_s = 0.0
        self.ended_s = 0.0
        self.first_step = 0
        self.last_step = 0

    @property
    def episode_id(self) -> str:
        """ULID of the running episode; empty outside one."""
        return self.request.episode_id if self.request is not None and self.phase in _BUSY else ''

    @property
    def running(self) -> bool:
        """Whether rows belong to the episode now."""
        return self.phase in (Phase.RUNNING, Phase.PAUSED)

    def elapsed_s(self, now_s: float) -> float:
        """Returns how long the episode has run, or ran, at monotonic time `now_s` [s]."""
        if self.running:
            return now_s - self.started_s
        return max(0.0, self.ended_s - self.started_s) if self.started_s else 0.0

    def require_free(self) -> None:
        """Raises EpisodeRefusedError if an episode is going on."""
        if self.phase in _BUSY:
            raise EpisodeRefusedError(f'an episode is {self.phase.name.lower()}: end it first')

    def prepare(self, request: EpisodeRequest, now_s: float) -> None:
        """Begins the handshake; the workcell has been reset.

        Raises:
            EpisodeRefusedError: An episode is going on.
        """
        self.require_free()
        self.request = request
        self.phase = Phase.PREPARING
        self.outcome, self.outcome_source, self.end_reason = Outcome.UNKNOWN, OutcomeSource.PREDICATE, ''
        self.started_ns = self.ended_ns = 0
        self.started_s = self.ended_s = 0.0
        self.first_step = self.last_step = 0
        self._deadline_s = now_s + self._prepare_timeout_s

    def run(self, *, step: int, stamp_ns: int, now_s: float) -> None:
        """Begins the rows of the episode with `step`."""
        self.phase = Phase.RUNNING
        self.first_step, self.started_ns, self.started_s = step, stamp_ns, now_s

    def refuse(self, reason: str, stamp_ns: int) -> None:
        """Ends a handshake that failed."""
        self.phase = Phase.ENDED
        self.outcome, self.end_reason, self.ended_ns = Outcome.ABORTED, reason, stamp_ns

    def end(
        self, outcome: Outcome, source: OutcomeSource, reason: str, *, step: int, stamp_ns: int, now_s: float
    ) -> None:
        """Ends the rows of the episode with the terminal row `step`."""
        self.phase = Phase.ENDING
        self.outcome, self.outcome_source, self.end_reason = outcome, source, reason
        self.last_step, self.ended_ns, self.ended_s = step, stamp_ns, now_s
        self._deadline_s = now_s + self._finish_timeout_s

    def finish(self) -> None:
        """Ends the episode: the recorder has saved it, has failed, or was not there."""
        self.phase = Phase.ENDED

    def overdue(self, now_s: float) -> bool:
        """Whether the recorder took too long to get ready or to save."""
        return self.phase in (Phase.PREPARING, Phase.ENDING) and now_s >= self._deadline_s

    def out_of_time(self, now_s: float) -> bool:
        """Whether the task's time limit has passed."""
        limit = self.request.time_limit_s if self.request is not None else 0.0
        return self.running and limit > 0 and self.elapsed_s(now_s) >= limit

    def label(self, episode_id: str, outcome: Outcome, source: OutcomeSource, note: str) -> None:
        """Changes the outcome of the ended episode.

        Raises:
            EpisodeRefusedError: It is not the last episode, or it has not ended.
        """
        last = self.request.episode_id if self.request is not None else ''
        if episode_id != last or not last:
            raise EpisodeRefusedError(f"episode '{episode_id}' is not the last one of this workcell ('{last}')")
        if self.phase is not Phase.ENDED:
            raise EpisodeRefusedError(f'the episode is {self.phase.name.lower()}: label it when it has ended')
        self.outcome, self.outcome_source = outcome, source
        self.end_reason = note or f'labelled {outcome.name.lower()} afterwards'
