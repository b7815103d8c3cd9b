"""One workcell as its visitors see it: what it said last, its cameras' video, and who is there."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from cobalt_interfaces.msg import ControlState, EpisodeState, WorkcellInfo
from cobalt_teleop.bridge.door.guest import Role
from cobalt_teleop.bridge.media.adaptive_video import AdaptiveVideo
from cobalt_teleop.bridge.media.encoded_packet import EncodedPacket, FrameSink
from cobalt_teleop.bridge.operators.stop_record import KnownStop, Presser, StopRecord
from cobalt_teleop.bridge.ros_side import RosSide
from cobalt_teleop.bridge.wire.goal_picture import GoalPicture, goal_event, goal_picture
from cobalt_teleop.bridge.wire.page_events import (
    Event,
    control_event,
    episode_event,
    quality_event,
    recording_event,
    step_event,
    workcell_event,
)
from cobalt_teleop.bridge.wire.page_messages import PageMessage
from cobalt_teleop.bridge.wire.server_paths import without_server_paths
from cobalt_teleop.bridge.workcell_endpoints import WorkcellEndpoints
from cobalt_teleop.core import topics
from cobalt_teleop.ros.stamps import now_ns

SET_CAMERA_S = 3.0
"""How long a host may take to change a camera [s]."""

STEP_EVENT_INTERVAL_S = 0.2
SILENT_AFTER_S = 1.5
OF_RECORDINGS = ('episode', 'recording', 'quality')
"""Events that may name a folder of the server."""

RECORDER_SILENT_AFTER_S = 4.0
"""A recorder tells its state once a second while it works."""

STEP_NEWS = ('hold', 'limits', 'authority', 'success', 'phase', 'gripper_target')
"""What of a step is told at once."""


@dataclass(frozen=True, kw_only=True)
class LastTick:
    """How a workcell keeps up.

    Attributes:
        missed: Ticks missed since its host started.
        duration_s: Of the last tick, from its start to its message [s].
    """

    missed: int
    duration_s: float


class Visitor(Presser, Protocol):
    """A session, as its room sees it."""

    @property
    def lease_id(self) -> str:
        """The lease that it holds, or empty."""

    @property
    def asks(self) -> bool:
        """It has asked for control and waits."""

    @property
    def connected(self) -> bool:
        """A page is there."""

    @property
    def may_drive(self) -> bool:
        """A page is there that shows video, of somebody whose role allows to drive."""

    def tell(self, event: Event) -> None:
        """Sends an event to the page."""

    async def enter(self, room: 'Room', *, anew: bool = False) -> None:
        """Comes in, or comes in anew."""

    def take_lease(self, lease_id: str, room: 'Room') -> bool:
        """Control of a workcell was handed to it; returns whether it takes it."""

    def on_control(self, state: ControlState) -> None:
        """The host said who has control."""

    def release_objection(self) -> str:
        """Returns why it may not release the emergency stop; empty if it may."""


class Room:
    """Opens a workcell's endpoints with the first visitor and closes them with the last. Lives in the event loop.

    Args:
        info: What the workcell is.
        ros: Opens its endpoints.
        on_control: Called when somebody else has control, or it is stopped, or goes on.
        on_frame: Told how old each frame is when it comes [s].
    """

    def __init__(
        self, info: WorkcellInfo, ros: RosSide, on_control: Callable[[], None], on_frame: Callable[[float], None]
    ) -> None:
        self.info = info
        self.episode: EpisodeState | None = None
        self.control: ControlState | None = None
        self.endpoints: WorkcellEndpoints | None = None
        self.episode_changed = asyncio.Event()
        self.goal: GoalPicture | None = None
        self._ros = ros
        self._on_control = on_control
        self._on_frame = on_frame
        self._visitors: list[Visitor] = []
        self._stops = StopRecord()
        self._latest: dict[str, Event] = {}
        self._sinks: dict[tuple[str, str], list[FrameSink]] = {}
        self._step_told_s = 0.0
        self._recorder_heard_s = 0.0
        self._alive = True
        self._video: AdaptiveVideo | None = None
        self._watchdog: asyncio.Task[None] | None = None
        self.frames_received: dict[str, int] = {}
        self.last_tick: LastTick | None = None
        ros.listen(info, self.on_message)

    @property
    def workcell_id(self) -> str:
        """Whose room it is."""
        return str(self.info.workcell_id)

    @property
    def parts(self) -> list[str]:
        """Names of its arms."""
        return [part.name for part in self.info.parts] or ['arm']

    @property
    def cameras(self) -> list[str]:
        """Names of the cameras that are on."""
        return [camera.name for camera in self.info.cameras if camera.enabled]

    @property
    def alive(self) -> bool:
        """The host answers."""
        return self._alive

    @property
    def free(self) -> bool:
        """Nobody has control, as far as it is known."""
        return self.control is None or not self.control.lease_id

    @property
    def keeps_episode(self) -> bool:
        """An episode is under way, or being saved, that is no practice."""
        under_way = (
            EpisodeState.PHASE_PREPARING,
            EpisodeState.PHASE_RUNNING,
            EpisodeState.PHASE_PAUSED,
            EpisodeState.PHASE_ENDING,
        )
        return self.episode is not None and self.episode.phase in under_way and not self.episode.practice

    @property
    def stopped_by(self) -> str:
        """Name of who pressed the emergency stop; empty while it is off."""
        return self.control.estop_by if self.control is not None and self.control.estop else ''

    @property
    def supervisors_stop(self) -> str:
        """Name of a supervisor who pressed the emergency stop that is on; empty if none did."""
        return self._stops.supervisor if self.stopped_by else ''

    @property
    def known_stop(self) -> KnownStop | None:
        """What a later run of the bridge has to know of the emergency stop that is on."""
        return self._stops.known(self.workcell_id)

    def expect_stop(self, known: KnownStop) -> None:
        """An earlier run of the bridge knew this of a stop that may still be on."""
        self._stops.restore(known)

    async def stop(self, presser: Presser, call: Callable[..., Awaitable[Any]]) -> None:
        """Presses the emergency stop.

        Args:
            presser: Who does.
            call: Calls the host.

        Raises:
            ServiceError: With the reason.
        """
        self._note_stop(presser)
        await call('EmergencyStop', who=presser.operator)
        self._note_stop(presser)  # the note went if an earlier stop was released meanwhile

    def was_stopped_by(self, session_id: str) -> bool:
        """Returns whether a session pressed the emergency stop that is on, whatever it is called by now."""
        return bool(self.stopped_by) and self._stops.session() == session_id

    @property
    def visitors(self) -> tuple[Visitor, ...]:
        """Who is there."""
        return tuple(self._visitors)

    def enter(self, visitor: Visitor) -> None:
        """Lets a session in and tells it everything."""
        if self.endpoints is None:
            self._alive = True
            self.endpoints = self._ros.open(self.info, self)
            self._video = AdaptiveVideo(self.info.cameras, partial(self.call, 'SetCamera', SET_CAMERA_S))
            self._watchdog = asyncio.get_running_loop().create_task(self._watch_host())
        if visitor not in self._visitors:
            self._visitors.append(visitor)
        if self.control is not None:
            visitor.on_control(self.control)
        self.tell_viewers()

    def leave(self, visitor: Visitor) -> None:
        """Lets a session out; with the last one the endpoints close."""
        if visitor in self._visitors:
            self._visitors.remove(visitor)
        if not self._visitors and self.endpoints is not None:
            self.close()
        self.tell_viewers()

    def close(self) -> None:
        """Closes the endpoints."""
        if self.endpoints is not None:
            self.endpoints.close()
            self.endpoints = None
        if self._watchdog is not None:
            self._watchdog.cancel()
            self._watchdog = None
        self._set_goal(None)
        self._latest = {kind: event for kind, event in self._latest.items() if kind == 'episode'}
        self._sinks.clear()

    def forget_control(self) -> None:
        """The host is gone: whoever had control has it no more."""
        self.control = None

    async def call(self, service: str, timeout_s: float, **fields: Any) -> Any:
        """Calls a service of the host for this workcell; see `HostServices.call`."""
        services = self._ros.services(self.info.host_id)
        return await services.call(service, timeout_s, workcell_id=self.workcell_id, **fields)

    def release_at_exit(self, lease_id: str) -> None:
        """Gives a lease back as the process ends."""
        self._ros.services(self.info.host_id).release_at_exit(self.workcell_id, lease_id)

    def tell_all_to(self, visitor: Visitor) -> None:
        """Sends one session all that is known."""
        visitor.tell(workcell_event(self.info))
        visitor.tell(self._host_event())
        for event in self._latest.values():
            _tell(visitor, event)
        visitor.tell(self._control_event(visitor))
        visitor.tell(self._viewers_event())

    def update_info(self, info: WorkcellInfo) -> bool:
        """Takes a new description; returns whether cameras, arms or host are others than before."""
        old, self.info = self.info, info
        self._broadcast(workcell_event(info))
        return (
            [(camera.name, camera.enabled) for camera in old.cameras]
            != [(camera.name, camera.enabled) for camera in info.cameras]
            or [part.name for part in old.parts] != [part.name for part in info.parts]
            or old.host_id != info.host_id
        )

    def add_sink(self, camera: str, codec: str, sink: FrameSink) -> None:
        """Sends a camera's frames in a codec to a viewer; the first one subscribes."""
        sinks = self._sinks.setdefault((camera, codec), [])
        if not sinks and self.endpoints is not None:
            self.endpoints.watch(camera, codec)
        sinks.append(sink)

    def remove_sink(self, camera: str, codec: str, sink: FrameSink) -> None:
        """Ends that; the last one unsubscribes."""
        sinks = self._sinks.get((camera, codec), [])
        if sink in sinks:
            sinks.remove(sink)
            if not sinks and self.endpoints is not None:
                self.endpoints.unwatch(camera, codec)

    def ask_key_frame(self, camera: str) -> None:
        """Asks a camera's encoder for a key frame."""
        if self.endpoints is not None:
            self.endpoints.ask_key_frame(camera)

    def on_viewer_report(self, visitor: Visitor, report: PageMessage) -> None:
        """Takes how video arrives at a page; that of who has control decides, or of who came first."""
        leader = next((one for one in self._visitors if one.lease_id), self._visitors[0] if self._visitors else None)
        if visitor is leader and self._video is not None:
            self._video.note(visitor.session_id, report)

    def tell_control(self) -> None:
        """Tells each session who has control, as it sees it."""
        for visitor in self._visitors:
            visitor.tell(self._control_event(visitor))

    def tell_viewers(self) -> None:
        """Tells each session how many pages are there."""
        self._broadcast(self._viewers_event())

    def on_video(self, camera: str, codec: str, packet: EncodedPacket) -> None:
        """Hands a frame to all who watch."""
        self.frames_received[camera] = self.frames_received.get(camera, 0) + 1
        self._on_frame((now_ns() - packet.stamp_ns) / 1e9)
        for sink in self._sinks.get((camera, codec), ()):
            sink.push(packet)

    def on_message(self, topic: topics.Topic, message: Any) -> None:
        """Takes what the workcell says."""
        if topic is topics.CONTROL_STATE:
            self._stops.follow(message.estop_by if message.estop else '', in_sight=self.control is not None)
            self.control = message
            for visitor in self._visitors:
                visitor.on_control(message)
            self.tell_control()
            self._on_control()
        elif topic is topics.EPISODE:
            self.episode = message
            self.episode_changed.set()
            self.episode_changed = asyncio.Event()
            self._keep_and_broadcast(episode_event(message))
        elif topic is topics.RECORDING:
            self._recorder_heard_s = time.monotonic()
            self._keep_and_broadcast(recording_event(message))
        elif topic is topics.QUALITY:
            event = quality_event(message)
            if event['final']:
                self._keep_and_broadcast(event)
        elif topic is topics.GOAL_PICTURE:
            self._set_goal(goal_picture(message))
        elif topic is topics.CONTROL_STEP:
            self.last_tick = LastTick(missed=message.ticks_missed, duration_s=message.tick_ms / 1e3)
            self._on_step(step_event(message))

    def _set_goal(self, picture: GoalPicture | None) -> None:
        if picture != self.goal:
            self.goal = picture
            self._keep_and_broadcast(goal_event(self.workcell_id, picture))

    def _note_stop(self, presser: Presser) -> None:
        if self._stops.note(presser):
            self.tell_control()
            self._on_control()

    def _on_step(self, event: Event) -> None:
        self._set_alive(True)
        before = self._latest.get('step')
        now = time.monotonic()
        changed = before is None or any(event[name] != before[name] for name in STEP_NEWS)
        self._latest['step'] = event
        if changed or now - self._step_told_s >= STEP_EVENT_INTERVAL_S:
            self._step_told_s = now
            self._broadcast(event)

    def _keep_and_broadcast(self, event: Event) -> None:
        self._latest[event['type']] = event
        self._broadcast(event)

    def _broadcast(self, event: Event) -> None:
        for visitor in self._visitors:
            _tell(visitor, event)

    def _control_event(self, visitor: Visitor) -> Event:
        return control_event(
            self.control or ControlState(),
            visitor.lease_id,
            visitor.asks,
            supervisors_stop=self.supervisors_stop,
            release_objection=visitor.release_objection() if self.stopped_by else '',
        )

    def _host_event(self) -> Event:
        who = 'robot' if self.info.kind == WorkcellInfo.KIND_REAL else 'simulator'
        text = '' if self._alive else f'The {who} does not answer. The arm holds; this page goes on when it is back.'
        return {'type': 'host', 'alive': self._alive, 'text': text}

    def _viewers_event(self) -> Event:
        return {'type': 'viewers', 'count': sum(visitor.connected for visitor in self._visitors)}

    def _set_alive(self, alive: bool) -> None:
        if alive != self._alive:
            self._alive = alive
            self._broadcast(self._host_event())
            if alive:
                for camera in {camera for camera, _ in self._sinks}:
                    self.ask_key_frame(camera)

    async def _watch_host(self) -> None:
        while True:
            await asyncio.sleep(0.5)
            if self.endpoints is not None and time.monotonic() - self.endpoints.last_step_s > SILENT_AFTER_S:
                self._set_alive(False)
            self._watch_recorder()
            if self.endpoints is not None and not self.endpoints.goal_picture_is_there():
                self._set_goal(None)

    def _watch_recorder(self) -> None:
        known = self._latest.get('recording')
        if known is None or known['state'] == 'failed' or self.endpoints is None:
            return
        works = known['state'] in ('preparing', 'ready', 'recording', 'finalising')
        silent = works and time.monotonic() - self._recorder_heard_s > RECORDER_SILENT_AFTER_S
        if silent or not self.endpoints.recorder_is_there():
            self._keep_and_broadcast(
                {**known, 'state': 'failed', 'reason': 'The recorder does not answer: nothing is kept.'}
            )


def _tell(visitor: Visitor, event: Event) -> None:
    """Tells one session; folders of the server are for those who run it."""
    hides = event['type'] in OF_RECORDINGS and not visitor.role.includes(Role.SUPERVISOR)
    visitor.tell(without_server_paths(event) if hides else event)
