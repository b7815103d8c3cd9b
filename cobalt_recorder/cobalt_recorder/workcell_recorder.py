"""Follows the episodes of one workcell: handshake, recording, end, label."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rclpy.node import Node
from rclpy.serialization import deserialize_message

from cobalt_interfaces.msg import EpisodeState, RecordingState
from cobalt_recorder.disk_space import free_bytes, shortage
from cobalt_recorder.episode_recording import EpisodeRecording, RecorderOptions
from cobalt_recorder.plain_text import make_texts_plain
from cobalt_recorder.pre_roll import PreRoll
from cobalt_recorder.quality_rules import judge_metrics
from cobalt_recorder.report_messages import final_report, live_report
from cobalt_recorder.verdict_file import EpisodeVerdict, Label, RecordedEpisode
from cobalt_teleop.core import topics
from cobalt_teleop.core.episode import Outcome, OutcomeSource, Phase
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.ros.endpoints import create_publisher, qos_profile
from cobalt_teleop.ros.stamps import now_ns, to_stamp

_PREPARE_S = 4.0
_LAST_ROW_S = 2.0
_SILENT_S = 3.0
_REPORT_S = 1.0
_MEASURE_S = 1.0

_IDLE = RecordingState.STATE_IDLE
_PREPARING = RecordingState.STATE_PREPARING
_READY = RecordingState.STATE_READY
_RECORDING = RecordingState.STATE_RECORDING
_FINALISING = RecordingState.STATE_FINALISING
_SAVED = RecordingState.STATE_SAVED
_FAILED = RecordingState.STATE_FAILED


class WorkcellRecorder:
    """Records one workcell. Its methods belong to the executor's thread.

    Args:
        node: Owns the endpoints.
        info: WorkcellInfo of the workcell.
        options: Of the recorder.
        judge: Has a closed bag judged.
        wake: Asks for `step` to be called many times a second while `busy`.
    """

    def __init__(
        self,
        node: Node,
        info: Any,
        options: RecorderOptions,
        judge: Callable[[RecordedEpisode], None],
        wake: Callable[[], None],
    ) -> None:
        self._node = node
        self._options = options
        self._judge = judge
        self._wake = wake
        self.info = info
        self._id: str = info.workcell_id
        self._state_publisher = create_publisher(node, topics.RECORDING, self._id)
        self._quality_publisher = create_publisher(node, topics.QUALITY, self._id)
        self._state = _IDLE
        self._reason = ''
        self._recording: EpisodeRecording | None = None
        self._episode_id = ''
        self._ended_by = ''
        self._finish_by_s = 0.0
        self._closing = False
        self._reported_s = 0.0
        self._measured_s = 0.0
        self._told_missing: list[str] = []
        self._saved: RecordedEpisode | None = None
        self._pre_roll: PreRoll | None = None
        self._told = RecordingState()
        self._publish_state(_IDLE)
        self._subscription = node.create_subscription(
            EpisodeState,
            topics.EPISODE.absolute(self._id),
            self._on_episode,
            qos_profile(topics.EPISODE.qos),
            raw=True,
        )
        if self.busy:
            wake()

    @property
    def busy(self) -> bool:
        """An episode is being prepared, recorded or closed, or what comes before one is kept."""
        return self._recording is not None or self._options.pre_roll_s > 0.0

    def step(self) -> None:
        """Goes on with what is being done."""
        recording = self._recording
        if recording is None or not recording.is_open:
            self._keep_what_comes_before()
        if recording is None:
            return
        if self._closing:
            if recording.closed:
                self._closed(recording)
            return
        recording.sweep(watched=self._quality_publisher.get_subscription_count() > 0)
        if recording.fault:
            self._finish(recording.fault)
        elif self._state == _PREPARING:
            self._prepare(recording)
        elif self._state == _FINALISING:
            if recording.has_last_row() or time.monotonic() > self._finish_by_s:
                self._finish('')
        elif recording.silence_s > _SILENT_S:
            self._finish(f'the host went silent: no control_step for {_SILENT_S:.0f} s')
        if self._recording is not None and time.monotonic() - self._reported_s >= _REPORT_S:
            self._publish_state(self._state, self._reason, missing=self._told_missing)
        if self._state == _RECORDING and time.monotonic() - self._measured_s >= _MEASURE_S:
            self._report_live(recording)

    def _keep_what_comes_before(self) -> None:
        if self._options.pre_roll_s <= 0.0:
            return
        if self._pre_roll is None:
            self._pre_roll = PreRoll(
                self._node, self.info, seconds=self._options.pre_roll_s, most_bytes=self._options.queue_bytes
            )
        self._pre_roll.sweep(self.info, forgets=self._recording is None)

    def report(self, verdict: EpisodeVerdict) -> None:
        """Publishes a final verdict."""
        self._quality_publisher.publish(final_report(verdict))

    def stop(self) -> None:
        """Begins to close what is open, because the recorder is being stopped."""
        if self._recording is not None and not self._closing:
            self._finish('the recorder was stopped')

    def wait_stopped(self, timeout_s: float) -> None:
        """Waits for what `stop` began."""
        if self._recording is not None and self._recording.wait(timeout_s):
            self._closed(self._recording)

    # The host's side of the handshake -----------------------------------------------------------------------------

    def _on_episode(self, data: bytes, info: dict[str, Any]) -> None:
        episode = deserialize_message(data, EpisodeState)
        make_texts_plain(episode)
        try:
            Phase(episode.phase), Outcome(episode.outcome), OutcomeSource(episode.outcome_source)
        except ValueError as error:
            self._node.get_logger().error(f'{self._id}: a state of the episode was not understood: {error}')
            return
        recording = self._recording
        if recording is not None and not self._closing:
            if episode.episode_id == self._episode_id:
                recording.note_episode(data, info, episode)
                self._follow(recording, Phase(episode.phase))
                return
            self._finish('the host left the episode')
        begins = episode.phase in (Phase.PREPARING, Phase.RUNNING) and episode.episode_id != self._episode_id
        if begins and not episode.practice:
            self._begin(episode)
            if self._recording is not None:
                self._recording.note_episode(data, info, episode)
        elif episode.phase == Phase.ENDING and recording is None and episode.episode_id == self._episode_id:
            # The host waits for what was said when the recording broke off.
            self._say_again()
        elif episode.phase == Phase.ENDED:
            self._follow_label(episode)

    def _follow(self, recording: EpisodeRecording, phase: Phase) -> None:
        if phase in (Phase.RUNNING, Phase.PAUSED) and self._state == _READY:
            self._publish_state(_RECORDING)
        elif phase in (Phase.ENDING, Phase.ENDED) and self._state in (_READY, _RECORDING):
            self._finish_by_s = time.monotonic() + _LAST_ROW_S
            self._publish_state(_FINALISING)
        elif phase in (Phase.ENDED, Phase.IDLE) and self._state == _PREPARING:
            recording.finish()
            self._recording = None
            self._publish_state(_IDLE, recording.episode.end_reason)

    def _begin(self, episode: Any) -> None:
        if self._recording is not None:
            # The bag of the last episode is still being closed; it needs nothing more from here.
            self._recording.wait(_LAST_ROW_S)
            self._closed(self._recording)
        self._episode_id = episode.episode_id
        self._ended_by = ''
        self._closing = False
        try:
            self._options.dataset.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            self._publish_state(_FAILED, f'the dataset folder {self._options.dataset} is gone: {error.strerror}')
            return
        problem = shortage(self._options.dataset, self._options.min_free_bytes)
        if problem:
            self._publish_state(_FAILED, problem)
            return
        self._recording = EpisodeRecording(self._node, self.info, episode, self._options)
        self._publish_state(_PREPARING)
        self._wake()

    def _prepare(self, recording: EpisodeRecording) -> None:
        missing = recording.missing()
        if missing and time.monotonic() - recording.began_s <= _PREPARE_S:
            if missing != self._told_missing:
                self._told_missing = missing
                self._publish_state(_PREPARING, 'nothing arrives yet on ' + ', '.join(missing), missing=missing)
            return
        self._told_missing = missing
        if missing:
            self._give_up(recording, 'nothing arrives on ' + ', '.join(missing) + ': is its publisher running?')
            return
        try:
            pre_roll, self._pre_roll = self._pre_roll, None
            recording.open(pre_roll)
        except CobaltError as error:
            self._give_up(recording, str(error))
            return
        self._publish_state(_READY)
        if recording.episode.phase in (Phase.RUNNING, Phase.PAUSED):
            self._publish_state(_RECORDING)

    def _give_up(self, recording: EpisodeRecording, reason: str) -> None:
        recording.finish()
        self._recording = None
        self._node.get_logger().error(f'{self._id}: not recorded: {reason}')
        self._publish_state(_FAILED, reason, missing=self._told_missing)

    # The end ------------------------------------------------------------------------------------------------------

    def _finish(self, ended_by: str) -> None:
        assert self._recording is not None
        self._closing = True
        self._ended_by = ended_by
        if not self._recording.is_open:
            self._recording.finish()
            self._recording = None
            self._publish_state(_FAILED, ended_by)
            return
        self._publish_state(_FINALISING, ended_by)
        self._recording.finish(ended_by)
        self._wake()

    def _closed(self, recording: EpisodeRecording) -> None:
        self._recording = None
        episode = recording.episode
        self._saved = RecordedEpisode(
            folder=recording.folder,
            workcell_id=self._id,
            episode_id=episode.episode_id,
            task=episode.task,
            outcome=Outcome.ABORTED.name if self._ended_by else Outcome(episode.outcome).name,
            outcome_source=OutcomeSource(episode.outcome_source).name,
            fault=recording.fault,
        )
        state = _FAILED if recording.fault else _SAVED
        reason = f'{recording.fault}; {recording.remains}' if recording.fault else self._ended_by
        if recording.fault:
            self._node.get_logger().error(f'{self._id}: episode {episode.episode_id} is damaged: {reason}')
        elif reason:
            self._node.get_logger().warning(f'{self._id}: episode {episode.episode_id} ended early: {reason}')
        self._publish_state(state, reason, of=recording)
        self._judge(self._saved)

    def _follow_label(self, episode: Any) -> None:
        saved = self._saved
        if saved is None or saved.episode_id != episode.episode_id:
            return
        outcome, source = Outcome(episode.outcome).name, OutcomeSource(episode.outcome_source).name
        if (outcome, source) == (saved.outcome, saved.outcome_source):
            return
        self._saved = replace(saved, outcome=outcome, outcome_source=source)
        try:
            label = Label(outcome=outcome, outcome_source=source, note=episode.end_reason, labelled_ns=now_ns())
            label.write(saved.folder)
        except OSError as error:
            self._node.get_logger().error(f'{self._id}: the label of {saved.folder} was not written: {error.strerror}')
            return
        self._judge(self._saved)
        self._wake()

    # What is told -------------------------------------------------------------------------------------------------

    def _report_live(self, recording: EpisodeRecording) -> None:
        self._measured_s = time.monotonic()
        rules = self._options.rules
        metrics, _ = judge_metrics(recording.live.measure(), rules)
        if metrics:
            self._quality_publisher.publish(live_report(recording.episode, metrics, rules.hash))

    def _publish_state(
        self, state: int, reason: str = '', *, missing: list[str] | None = None, of: EpisodeRecording | None = None
    ) -> None:
        self._state, self._reason = state, reason
        self._reported_s = time.monotonic()
        recording = of or self._recording
        message = RecordingState(
            workcell_id=self._id,
            episode_id=self._episode_id,
            state=state,
            reason=reason,
            missing_topics=missing or [],
            disk_free=free_bytes(self._options.dataset),
        )
        if recording is not None:
            message.bytes = recording.bytes_written
            message.dropped = recording.dropped
            message.uri = str(recording.folder) if recording.is_open else ''
        message.header.frame_id = self._id
        self._told = message
        self._say_again()

    def _say_again(self) -> None:
        self._told.header.stamp = to_stamp(now_ns())
        self._state_publisher.publish(self._told)
