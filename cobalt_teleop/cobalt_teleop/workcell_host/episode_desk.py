"""The episodes of one workcell: the handshake with the recorder, the end, the label, and what is told of them."""

import time
from dataclasses import dataclass
from typing import Any

from rclpy.node import Node

from cobalt_interfaces.msg import RecordingState
from cobalt_teleop.core import topics
from cobalt_teleop.core.episode import Episode, EpisodeRequest, Outcome, OutcomeSource, Phase
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.ulid import new_ulid
from cobalt_teleop.ros.endpoints import TakenSubscription
from cobalt_teleop.ros.stamps import now_ns
from cobalt_teleop.workcell_host.plant import Plant, Progress
from cobalt_teleop.workcell_host.workcell_publishers import WorkcellPublishers

_READY = (RecordingState.STATE_READY, RecordingState.STATE_RECORDING)
_RECORDER_SILENT_S = 5.0
"""A recorder tells its state once a second while it records."""

_CLOSED = (RecordingState.STATE_SAVED, RecordingState.STATE_FAILED)
_BROKEN_OFF = (RecordingState.STATE_FINALISING, *_CLOSED)
"""What a recorder says of a running episode that it records no longer."""


@dataclass(frozen=True)
class _Ending:
    outcome: Outcome
    source: OutcomeSource
    reason: str


class EpisodeDesk:
    """Starts, ends and labels episodes. The caller keeps its calls apart.

    Args:
        node: Owns the subscription to the recorder.
        workcell_id: Of the workcell.
        plant: Knows the tasks, and success.
        publish: Tells what changes.
    """

    def __init__(self, node: Node, workcell_id: str, plant: Plant, publish: WorkcellPublishers) -> None:
        self._node = node
        self._id = workcell_id
        self._plant = plant
        self._publish = publish
        self._recording = TakenSubscription(node, topics.RECORDING, workcell_id)
        self._episode = Episode()
        self._first = plant.task_info(plant.capabilities.tasks[0])
        self._ending: _Ending | None = None
        self._recorder_heard_s = 0.0
        self._tell()

    @property
    def phase(self) -> Phase:
        """Of the present or last episode."""
        return self._episode.phase

    @property
    def row_episode_id(self) -> str:
        """Episode to which the row of this tick belongs; empty outside one."""
        return self._episode.episode_id if self._episode.running else ''

    @property
    def policy_id(self) -> str:
        """Policy of the running episode."""
        request = self._episode.request
        return request.policy_id if request is not None and self._episode.running else ''

    @property
    def terminal(self) -> bool:
        """Whether the row of this tick is the last one of the episode."""
        return self._ending is not None

    @property
    def _is_practice(self) -> bool:
        return self._episode.request is not None and self._episode.request.practice

    def how_it_ends(self) -> str:
        """Returns in words how the running episode ends while nobody drives; empty if none is running."""
        request = self._episode.request
        if request is None or not self._episode.running or self._ending is not None:
            return ''
        if request.time_limit_s <= 0.0:
            return f'the episode {request.episode_id} goes on until somebody ends it'
        left_s = max(0.0, request.time_limit_s - self._episode.elapsed_s(time.monotonic()))
        return f'the episode {request.episode_id} ends as out of time in {left_s:.0f} s, unless somebody ends it before'

    def require_free(self) -> None:
        """Raises CobaltError if an episode is going on."""
        self._episode.require_free()

    def begin(self, request: Any, *, task: str, seed: int, operator: str) -> str:
        """Begins the handshake with the recorder, after the reset; returns the episode's id.

        Args:
            request: StartEpisode's.
            task: One of the plant's.
            seed: Of the reset.
            operator: Who drives, unless the request names somebody.
        """
        info = self._plant.task_info(task)
        self._recording.take_all()
        episode = EpisodeRequest(
            episode_id=new_ulid(time.time_ns() // 1_000_000),
            task=task,
            instruction=request.instruction or info.instruction,
            operator_id=request.operator_id or operator,
            policy_id=request.policy_id,
            seed=seed,
            round=int(request.round),
            time_limit_s=info.time_limit_s,
            require_recording=bool(request.require_recording) and not request.practice,
            practice=bool(request.practice),
        )
        self._episode.prepare(episode, time.monotonic())
        self._tell()
        return episode.episode_id

    def order_end(self, outcome: int, note: str, operator: str) -> None:
        """Ends the running episode after its terminal row, which the next tick writes.

        Raises:
            CobaltError: No episode is running, or there is no such outcome.
        """
        if outcome not in tuple(Outcome):
            raise CobaltError(f'outcome is {outcome}, but must be one of {[int(o) for o in Outcome]}')
        if self.phase is Phase.PREPARING:
            self._episode.refuse(note or 'ended before it began', now_ns())
            self._tell()
            return
        if not self._episode.running:
            raise CobaltError('no episode is running')
        source, decided = OutcomeSource.OPERATOR, Outcome(outcome)
        if decided is Outcome.UNKNOWN:
            source = OutcomeSource.PREDICATE
            decided = Outcome.SUCCESS if self._plant.progress().success else Outcome.FAILURE
        self._ending = _Ending(decided, source, note or f'ended by {operator}')

    def label(self, episode_id: str, outcome: int, source: int, note: str) -> None:
        """Changes the outcome of the last episode.

        Raises:
            CobaltError: It is not the last one, has not ended, or the label is unknown.
        """
        if outcome not in tuple(Outcome) or source not in tuple(OutcomeSource):
            raise CobaltError(f'outcome {outcome} or outcome_source {source} is unknown')
        self._episode.label(episode_id, Outcome(outcome), OutcomeSource(source), note)
        self._tell()

    def judge(self, progress: Progress) -> None:
        """Ends the episode if its goal is reached or its time is over."""
        if not self._episode.running or self._ending is not None:
            return
        if progress.success:
            self._ending = _Ending(Outcome.SUCCESS, OutcomeSource.PREDICATE, 'the goal is reached')
        elif self._episode.out_of_time(time.monotonic()):
            assert self._episode.request is not None
            limit = f'{self._episode.request.time_limit_s:g} s are over'
            self._ending = _Ending(Outcome.TIMEOUT, OutcomeSource.PREDICATE, limit)

    def close_rows(self, *, step: int, stamp_ns: int) -> None:
        """Notes that `step`, of the state at `stamp_ns`, is the terminal row."""
        assert self._ending is not None
        ending, self._ending = self._ending, None
        self._episode.end(
            ending.outcome, ending.source, ending.reason, step=step, stamp_ns=stamp_ns, now_s=time.monotonic()
        )
        if self._is_practice or not self._publish.recorder_listens():
            self._episode.finish()
        self._tell()

    def follow_recorder(self, step: int) -> None:
        """Goes on when the recorder is ready, has saved, has failed, or takes too long. `step` is the coming row."""
        if self.phase not in (Phase.PREPARING, Phase.RUNNING, Phase.PAUSED, Phase.ENDING):
            return
        episode_id = self._episode.episode_id
        states = [message for message, _ in self._recording.take_all() if message.episode_id == episode_id]
        if self._episode.running:
            self._watch_recorder(states)
            return
        overdue = self._episode.overdue(time.monotonic())
        if self.phase is Phase.PREPARING:
            self._follow_preparation(states, overdue, step)
            return
        closed = any(state.state in _CLOSED for state in states)
        if closed or overdue:
            if not closed:
                self._node.get_logger().warning(f'{self._id}: the recorder did not say that it saved the episode')
            self._episode.finish()
            self._tell()

    def _watch_recorder(self, states: list[Any]) -> None:
        request = self._episode.request
        broken_off = next((state for state in states if state.state in _BROKEN_OFF), None)
        if request is None or not request.require_recording:
            self._recorder_heard_s = time.monotonic()
        elif broken_off is not None and self._ending is None:
            reason = f'the recording broke off: {broken_off.reason or "the recorder does not say why"}'
            self._ending = _Ending(Outcome.ABORTED, OutcomeSource.PREDICATE, reason)
        elif states:
            self._recorder_heard_s = time.monotonic()
        elif self._ending is None and time.monotonic() - self._recorder_heard_s > _RECORDER_SILENT_S:
            self._ending = _Ending(Outcome.ABORTED, OutcomeSource.PREDICATE, 'the recorder fell silent')

    def _follow_preparation(self, states: list[Any], overdue: bool, step: int) -> None:
        request = self._episode.request
        assert request is not None
        failure = next((state.reason for state in states if state.state == RecordingState.STATE_FAILED), None)
        ready = any(state.state in _READY for state in states)
        absent = self._is_practice or not self._publish.recorder_listens()
        if ready or (not request.require_recording and (failure is not None or overdue or absent)):
            self._recorder_heard_s = time.monotonic()
            self._episode.run(step=step, stamp_ns=now_ns(), now_s=time.monotonic())
        elif failure is not None or overdue:
            reason = failure or 'the recorder did not get ready in time: is recorder_node running?'
            self._episode.refuse(f'the episode cannot be recorded: {reason}', now_ns())
        else:
            return
        self._tell()

    def _tell(self) -> None:
        self._publish.episode(self._episode, self._first, time.monotonic())
