"""Drives one workcell by the scripted expert through ROS alone, episode after episode."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from builtin_interfaces.msg import Time
from rclpy.node import Node

from cobalt_interfaces.msg import EpisodeState, PartStep, TeleopCommand, WorkcellInfo
from cobalt_interfaces.srv import AcquireControl, ReleaseControl, StartEpisode
from cobalt_sim.experts import load_expert
from cobalt_sim.tasks import load_task
from cobalt_teleop.core import topics
from cobalt_teleop.core.pose import Pose
from cobalt_teleop.ros.endpoints import TakenSubscription, create_publisher, create_subscription
from cobalt_teleop.ros.poses import pose_message, pose_of
from cobalt_teleop.ros.stamps import now_ns, to_stamp

SOURCE = 'scripted_expert'

_PART = 'arm'
_ANSWER_LIMIT_S = 10.0
_SILENCE_LIMIT_S = 10.0
_PREPARING_LIMIT_S = 30.0
_OVER = (EpisodeState.PHASE_ENDED, EpisodeState.PHASE_IDLE)


class DriverState(Enum):
    """What a driver is doing."""

    ACQUIRING = 'acquiring control'
    STARTING = 'starting an episode'
    PREPARING = 'waiting for the episode to run'
    DRIVING = 'driving'
    RELEASING = 'releasing control'
    DONE = 'done'
    FAILED = 'failed'


@dataclass(frozen=True, kw_only=True)
class DriverPlan:
    """What a driver is to do.

    Attributes:
        episodes: How many it starts; 0 to drive without episodes until it is stopped.
        first_seed: Of the first episode; each next has the next seed.
        require_recording: Episodes wait for the recorder.
        session_id: Of the lease.
        period_s: Time between two calls of `tick` [s].
    """

    episodes: int
    first_seed: int
    require_recording: bool
    session_id: str
    period_s: float


class ScriptedDriver:
    """One workcell's driver. All methods are called on the node's executor.

    Args:
        node: Owns the endpoints.
        info: Of the workcell.
        plan: What to do.

    Raises:
        CobaltError: There is no expert of the workcell's task.
    """

    def __init__(self, node: Node, info: WorkcellInfo, plan: DriverPlan) -> None:
        task = info.tasks[0] if info.tasks else ''
        self._expert = load_expert(task, period_s=plan.period_s)
        self._node = node
        self._plan = plan
        self.workcell_id: str = info.workcell_id
        self._host_id: str = info.host_id
        self._frame = topics.base_frame(self.workcell_id, _PART)
        self._commands = create_publisher(node, topics.teleop_command(_PART), self.workcell_id)
        self._steps = TakenSubscription(node, topics.CONTROL_STEP, self.workcell_id, depth=1)
        self._looks = {
            name: TakenSubscription(node, topics.object_pose(name), self.workcell_id, depth=1)
            for name in load_task(task).objects
        }
        self._episodes = create_subscription(node, topics.EPISODE, self.workcell_id, self._on_episode)
        self._services = {
            service: node.create_client(service, topics.service_name(self._host_id, service.__name__))
            for service in (AcquireControl, StartEpisode, ReleaseControl)
        }
        self._part: PartStep | None = None
        self._objects: dict[str, Pose] = {}
        self._lease_id = ''
        self._episode_id = ''
        self._episode = EpisodeState()
        self._started = 0
        # A node that was started again must not repeat an epoch that the host knows.
        self._epoch = int(time.time() * 10) % 2**31
        self._engaged_since = Time()
        self._engaged = False
        self._sequence = 0
        self.outcomes: list[int] = []
        """Of the episodes that ended, EpisodeState.OUTCOME_*."""
        self.state = DriverState.ACQUIRING
        self.problem = ''
        """Why it failed, in words."""
        self._asked_s: float | None = None
        self._unreachable_since_s: float | None = None
        self._heard_s = self._seen_s = self._started_s = time.monotonic()

    @property
    def over(self) -> bool:
        """Whether it has nothing left to do."""
        return self.state in (DriverState.DONE, DriverState.FAILED)

    def tick(self) -> None:
        """Lives through one tick: looks, asks, commands."""
        self._look()
        self._lose_patience()
        match self.state:
            case DriverState.ACQUIRING:
                request = AcquireControl.Request(
                    workcell_id=self.workcell_id, session_id=self._plan.session_id, operator_id=SOURCE
                )
                self._ask(request, self._on_control)
            case DriverState.STARTING:
                self._command(engaged_allowed=False)
                if self._episode.phase in _OVER:
                    self._ask(self._start_request(), self._on_started)
            case DriverState.PREPARING:
                self._command(engaged_allowed=False)
            case DriverState.DRIVING:
                self._command(engaged_allowed=True)
            case DriverState.RELEASING:
                request = ReleaseControl.Request(workcell_id=self.workcell_id, lease_id=self._lease_id)
                self._ask(request, self._on_released)

    def _start_request(self) -> Any:
        return StartEpisode.Request(
            workcell_id=self.workcell_id,
            lease_id=self._lease_id,
            seed=self._plan.first_seed + self._started,
            operator_id=SOURCE,
            require_recording=self._plan.require_recording,
        )

    def _ask(self, request: Any, on_answer: Callable[[Any], None]) -> None:
        """Calls the request's service once; a second call of this waits for the answer."""
        now_s = time.monotonic()
        if self._asked_s is not None:
            if now_s - self._asked_s > _ANSWER_LIMIT_S:
                self._fail(f"the host '{self._host_id}' does not answer while {self.state.value}")
            return
        client = next(client for service, client in self._services.items() if isinstance(request, service.Request))
        if not client.service_is_ready():
            self._unreachable_since_s = self._unreachable_since_s or now_s
            if now_s - self._unreachable_since_s > _ANSWER_LIMIT_S:
                self._fail(f"the host '{self._host_id}' offers no service {client.srv_name}")
            return
        self._asked_s, self._unreachable_since_s = now_s, None

        def answered(future: Any) -> None:
            self._asked_s = None
            if future.exception() is not None:
                self._fail(f'{self.state.value} failed: {future.exception()}')
            elif not future.result().ok:
                self._fail(f'{self.state.value} was refused: {future.result().reason}')
            else:
                on_answer(future.result())

        client.call_async(request).add_done_callback(answered)

    def _lose_patience(self) -> None:
        """Fails where what it waits for does not come: a driver never waits for ever."""
        if self.over:
            return
        now_s = time.monotonic()
        if now_s - self._heard_s > _SILENCE_LIMIT_S:
            self._fail(f"the host '{self._host_id}' has sent nothing for {_SILENCE_LIMIT_S:.0f} s")
        elif now_s - self._seen_s > _SILENCE_LIMIT_S:
            self._fail(f'no poses of the objects have come for {_SILENCE_LIMIT_S:.0f} s')
        elif self.state is DriverState.PREPARING and now_s - self._started_s > _PREPARING_LIMIT_S:
            self._fail(f'the episode {self._episode_id} was not ready after {_PREPARING_LIMIT_S:.0f} s')

    def _fail(self, problem: str) -> None:
        self.state, self.problem = DriverState.FAILED, problem

    def _on_control(self, answer: Any) -> None:
        self._lease_id = answer.lease_id
        self.state = DriverState.STARTING if self._plan.episodes else DriverState.DRIVING

    def _on_started(self, answer: Any) -> None:
        self._episode_id = answer.episode_id
        self._started += 1
        self._started_s = time.monotonic()
        self.state = DriverState.PREPARING
        self._follow_episode()

    def _on_released(self, answer: Any) -> None:
        self.state = DriverState.DONE

    def _on_episode(self, episode: EpisodeState) -> None:
        self._episode = episode
        self._follow_episode()

    def _follow_episode(self) -> None:
        if self._episode.episode_id != self._episode_id:
            return
        if self.state is DriverState.PREPARING and self._episode.phase == EpisodeState.PHASE_RUNNING:
            self._expert.restart()
            self.state = DriverState.DRIVING
        elif self.state in (DriverState.PREPARING, DriverState.DRIVING) and self._episode.phase in _OVER:
            if self.state is DriverState.PREPARING and self._episode.outcome == EpisodeState.OUTCOME_UNKNOWN:
                self._fail(f'the episode did not start: {self._episode.end_reason}')
                return
            self.outcomes.append(self._episode.outcome)
            self.state = DriverState.STARTING if self._started < self._plan.episodes else DriverState.RELEASING

    def _look(self) -> None:
        if (taken := self._steps.take()) is not None:
            self._heard_s = time.monotonic()
            self._part = next((part for part in taken[0].parts if part.part == _PART), self._part)
        for name, look in self._looks.items():
            if (taken := look.take()) is not None:
                self._seen_s = time.monotonic()
                self._objects[name] = pose_of(taken[0].pose)

    def _command(self, *, engaged_allowed: bool) -> None:
        if self._part is None or len(self._objects) < len(self._looks):
            return
        tool, gripper = pose_of(self._part.pose), float(self._part.gripper)
        pose, engaged, wanted_gripper = tool, False, float('nan')
        if engaged_allowed and self._episode.phase not in (EpisodeState.PHASE_PREPARING, EpisodeState.PHASE_ENDING):
            command = self._expert.step(tool=tool, objects=self._objects, gripper=gripper)
            pose, engaged, wanted_gripper = command.pose, command.engaged, command.gripper
        if engaged and not self._engaged:
            self._epoch, self._engaged_since = self._epoch + 1, to_stamp(now_ns())
        self._engaged = engaged
        self._sequence += 1
        message = TeleopCommand(
            mode=TeleopCommand.MODE_POSE,
            reference=TeleopCommand.REFERENCE_ENGAGE,
            pose=pose_message(pose),
            gripper=wanted_gripper,
            engaged=engaged,
            tracked=True,
            clutch_epoch=self._epoch,
            engaged_since=self._engaged_since,
            sequence=self._sequence,
            source=SOURCE,
            lease_id=self._lease_id,
        )
        message.header.stamp = message.device_stamp = to_stamp(now_ns())
        message.header.frame_id = self._frame
        self._commands.publish(message)
