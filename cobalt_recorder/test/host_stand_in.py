"""A small real host for tests: publishes on the real topics, keeps the handshake, and does nothing with an arm."""

import threading
import time
from array import array
from typing import Any

import numpy as np
import rclpy
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import CameraInfo

from cobalt_interfaces.msg import (
    CameraDescription,
    ControlState,
    ControlStep,
    EpisodeState,
    FrameRef,
    PartInfo,
    PartStep,
    QualityReport,
    RecordingState,
    TeleopCommand,
    WorkcellInfo,
)
from cobalt_teleop.core import topics
from cobalt_teleop.core.ulid import new_ulid
from cobalt_teleop.ros.endpoints import TakenSubscription, create_publisher, create_subscription
from cobalt_teleop.ros.message_types import message_class
from cobalt_teleop.ros.stamps import now_ns, to_stamp
from cobalt_teleop.video.h264_encoder import H264Encoder

RATE_HZ = 20.0
CAMERA = 'front'


class HostStandIn:
    """Ticks one workcell in a thread. Its camera gives a key frame only to who asks for one.

    Args:
        context: rclpy's context.
        workcell_id: Namespace.
        declared_extra: Declared topics that nobody publishes.
        skip_steps: Rows that are numbered, but never published: a loss that the recorder must see.
    """

    def __init__(
        self,
        context: Any,
        workcell_id: str = 'cell_0',
        *,
        declared_extra: tuple[str, ...] = (),
        skip_steps: int = 0,
        capabilities: tuple[str, ...] = ('success_predicate',),
        hears_quality: bool = True,
    ) -> None:
        self.workcell_id = workcell_id
        self.node = rclpy.create_node(f'host_of_{workcell_id}', context=context)
        self.recording_states: list[RecordingState] = []
        self.reports: list[QualityReport] = []
        self.live_reports: list[QualityReport] = []
        self.sent_frames = 0
        self.sent_steps = 0
        self.skip_steps = skip_steps
        self.paused = False
        self._step = 1000
        self._end: tuple[int, str] | None = None
        self._success_rows = 0
        self.episode = EpisodeState(workcell_id=workcell_id)
        declared = [topics.CONTROL_STEP, topics.CONTROL_STATE, topics.EPISODE, topics.WORKCELL, topics.video(CAMERA)]
        self.video_topic = topics.video(CAMERA)
        publish = {topic.name: create_publisher(self.node, topic, workcell_id) for topic in declared}
        publish['calibration'] = create_publisher(self.node, topics.camera_info(CAMERA), workcell_id)
        publish['command'] = create_publisher(self.node, topics.teleop_command('arm'), workcell_id)
        self._publish = publish
        self._subscriptions = [
            create_subscription(self.node, topics.RECORDING, workcell_id, self.recording_states.append),
        ]
        if hears_quality:
            self._subscriptions.append(create_subscription(self.node, topics.QUALITY, workcell_id, self._on_quality))
        self._encoder = H264Encoder(64, 48, RATE_HZ, 500)
        self._key_frame_requests = TakenSubscription(self.node, topics.request_key_frame(CAMERA), workcell_id)
        self._encoder.encode(np.zeros((48, 64, 3), dtype=np.uint8), True)
        self._newest_frame: FrameRef | None = None
        self._executor = SingleThreadedExecutor(context=context)
        self._executor.add_node(self.node)
        publish['workcell'].publish(
            WorkcellInfo(
                schema_version=1,
                workcell_id=workcell_id,
                host_id='stand_in',
                robot='none',
                parts=[PartInfo(name='arm')],
                cameras=[
                    CameraDescription(name=CAMERA, width=64, height=48, rate_hz=RATE_HZ, codec='h264', enabled=True)
                ],
                control_rate_hz=RATE_HZ,
                capabilities=list(capabilities),
                declared_topics=[*(topic.absolute(workcell_id) for topic in declared), *declared_extra],
                software_version='1.2.3',
                software_hash='abcdef',
            )
        )
        publish['control_state'].publish(ControlState(workcell_id=workcell_id, holder='somebody'))
        self._tell_episode()
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._threads = [threading.Thread(target=self._tick_loop), threading.Thread(target=self._executor.spin)]
        for thread in self._threads:
            thread.start()

    def start(self, task: str = 'lift', episode_id: str = '', *, practice: bool = False) -> str:
        with self._lock:
            self.episode = EpisodeState(
                workcell_id=self.workcell_id,
                episode_id=episode_id or new_ulid(time.time_ns() // 1_000_000),
                task=task,
                instruction='lift the cube',
                operator_id='tester',
                seed=7,
                practice=practice,
                phase=EpisodeState.PHASE_PREPARING,
            )
            self._tell_episode()
        return str(self.episode.episode_id)

    def run(self) -> None:
        with self._lock:
            self.episode.phase = EpisodeState.PHASE_RUNNING
            self.episode.first_step = self._step
            self.episode.started = to_stamp(now_ns())
            self._tell_episode()

    def end(self, outcome: int, reason: str = '') -> None:
        """Ends the episode with its next row."""
        with self._lock:
            self._success_rows = int(outcome == EpisodeState.OUTCOME_SUCCESS)
            self._end = (outcome, reason)

    def label(self, outcome: int) -> None:
        with self._lock:
            self.episode.outcome, self.episode.outcome_source = outcome, EpisodeState.OUTCOME_SOURCE_OPERATOR
            self._tell_episode()

    def finished(self) -> None:
        with self._lock:
            self.episode.phase = EpisodeState.PHASE_ENDED
            self._tell_episode()

    def wait_state(self, state: int, timeout_s: float = 10.0) -> RecordingState:
        """Returns the recording's state once it is `state` for the present episode."""
        return wait_for(
            lambda: next(
                (
                    one
                    for one in self.recording_states
                    if one.state == state and one.episode_id == self.episode.episode_id
                ),
                None,
            ),
            timeout_s,
            lambda: f'state {state}, but heard {[(one.state, one.reason) for one in self.recording_states]}',
        )

    def wait_report(self, count: int = 1, timeout_s: float = 20.0) -> QualityReport:
        return wait_for(
            lambda: self.reports[count - 1] if len(self.reports) >= count else None,
            timeout_s,
            lambda: f'{count} reports',
        )

    def record(self, seconds: float, outcome: int = EpisodeState.OUTCOME_SUCCESS) -> RecordingState:
        """Lives through a whole episode; returns the recorder's last word."""
        self.start()
        self.wait_state(RecordingState.STATE_READY)
        self.run()
        time.sleep(seconds)
        self.end(outcome)
        state = self.wait_state(RecordingState.STATE_SAVED)
        self.finished()
        return state

    def _on_quality(self, report: QualityReport) -> None:
        (self.reports if report.stage == QualityReport.STAGE_FINAL else self.live_reports).append(report)

    def close(self) -> None:
        self._stop.set()
        self._executor.shutdown(timeout_sec=2.0)
        for thread in self._threads:
            thread.join(timeout=2.0)
        self.node.destroy_node()

    def _tell_episode(self) -> None:
        self.episode.header.stamp = to_stamp(now_ns())
        self._publish['episode'].publish(self.episode)

    def _tick_loop(self) -> None:
        due = time.monotonic()
        while not self._stop.is_set():
            due += 1.0 / RATE_HZ
            time.sleep(max(0.0, due - time.monotonic()))
            if not self.paused:
                with self._lock:
                    self._tick()

    def _tick(self) -> None:
        stamp_ns = now_ns()
        running = self.episode.phase == EpisodeState.PHASE_RUNNING
        row = ControlStep(
            schema_version=1,
            workcell_id=self.workcell_id,
            episode_id=self.episode.episode_id if running else '',
            step=self._step,
            phase=self.episode.phase,
            parts=[PartStep(part='arm')],
            frames=[self._newest_frame] if self._newest_frame else [],
        )
        row.header.stamp = to_stamp(stamp_ns)
        row.header.frame_id = self.workcell_id
        if running and self._end is not None and self._success_rows:
            row.success = True
            self._success_rows -= 1
        elif running and self._end is not None:
            outcome, reason = self._end
            self._end = None
            row.terminal = True
            self.episode.phase = EpisodeState.PHASE_ENDING
            self.episode.outcome, self.episode.end_reason = outcome, reason
            self.episode.last_step = self._step
            self.episode.ended = to_stamp(stamp_ns)
            self._tell_episode()
        if running and self.skip_steps and not row.terminal:
            self.skip_steps -= 1
        else:
            self._publish['control_step'].publish(row)
            self.sent_steps += 1
        self._publish['command'].publish(TeleopCommand(sequence=self._step))
        self._step += 1
        self._send_frame(now_ns())

    def _send_frame(self, stamp_ns: int) -> None:
        if self._publish['calibration'].get_subscription_count():
            self._publish['calibration'].publish(
                CameraInfo(width=64, height=48, k=[50.0, 0.0, 32.0, 0.0, 50.0, 24.0, 0.0, 0.0, 1.0])
            )
        publisher = self._publish[self.video_topic.name]
        listening = publisher.get_subscription_count() > 0
        if not listening:
            self.sent_frames = 0
            return
        picture = np.full((48, 64, 3), (self._step * 3) % 256, dtype=np.uint8)
        picture[:, : self._step % 64] = 255 - picture[0, 0, 0]
        encoded = self._encoder.encode(picture, self._key_frame_requests.take() is not None)
        frame = message_class(self.video_topic.type)(format='h264', frame_id='front', data=array('B', encoded.data))
        frame.timestamp = to_stamp(stamp_ns)
        publisher.publish(frame)
        self.sent_frames += 1
        self._newest_frame = FrameRef(camera=CAMERA, stamp=to_stamp(stamp_ns), sequence=self.sent_frames)


def wait_for(look: Any, timeout_s: float, wanted: Any) -> Any:
    """Returns the first true value of `look()`."""
    until = time.monotonic() + timeout_s
    while time.monotonic() < until:
        found = look()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f'not within {timeout_s} s: {wanted()}')
