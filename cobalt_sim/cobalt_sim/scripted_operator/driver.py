"""Drives one workcell by its scripted experts through ROS alone, episode after episode."""

import random
import time
import zlib
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from builtin_interfaces.msg import Time
from rclpy.node import Node

from cobalt_interfaces.msg import EpisodeState, PartStep, TeleopCommand, WorkcellInfo
from cobalt_interfaces.srv import AcquireControl, EndEpisode, ReleaseControl, StartEpisode
from cobalt_sim.experts import load_experts
from cobalt_sim.experts.expert import Expert, ExpertCommand
from cobalt_sim.scripted_operator.habits import Habits, HabitualExpert
from cobalt_sim.tasks import load_task
from cobalt_teleop.core import topics
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.pose import Pose
from cobalt_teleop.kinematics.arm_set import arms_of
from cobalt_teleop.ros.endpoints import TakenSubscription, create_publisher, create_subscription
from cobalt_teleop.ros.poses import pose_message, pose_of
from cobalt_teleop.ros.stamps import now_ns, to_stamp

SOURCE = 'scripted_expert'

_ANSWER_LIMIT_S = 10.0
_SILENCE_LIMIT_S = 10.0
_PREPARING_LIMIT_S = 30.0
_NOT_STARTED = (EpisodeState.OUTCOME_UNKNOWN, EpisodeState.OUTCOME_ABORTED)
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
class Link:
    """What stands between an operator and the host.

    Attributes:
        delay_s: Commands arrive so much later [s].
        jitter_s: And by up to so much more, each by another share [s].
        picture_every_s: A new picture is seen so often [s]; 0 for an operator who is asked for no pictures.
    """

    delay_s: float = 0.0
    jitter_s: float = 0.0
    picture_every_s: float = 0.0


@dataclass(frozen=True, kw_only=True)
class DriverPlan:
    """What a driver is to do.

    Attributes:
        episodes: How many it starts; 0 to drive without episodes until it is stopped.
        first_seed: Of the first episode; each next has the next seed.
        require_recording: Episodes wait for the recorder.
        session_id: Of the lease.
        period_s: Time between two calls of `tick` [s].
        operator_id: Name shown to others.
        habits: How it drives.
        link: What stands between it and the host.
    """

    episodes: int
    first_seed: int
    require_recording: bool
    session_id: str
    period_s: float
    operator_id: str = SOURCE
    habits: Habits = field(default_factory=Habits)
    link: Link = field(default_factory=Link)


class ScriptedDriver:
    """One workcell's driver. All methods are called on the node's executor.

    Args:
        node: Owns the endpoints.
        info: Of the workcell.
        plan: What to do.

    Raises:
        CobaltError: There is no expert of the workcell's task, or its arms are others.
    """

    def __init__(self, node: Node, info: WorkcellInfo, plan: DriverPlan) -> None:
        task = info.tasks[0] if info.tasks else ''
        self._node = node
        self._plan = plan
        self.workcell_id: str = info.workcell_id
        self._host_id: str = info.host_id
        experts = load_experts(task, period_s=plan.period_s)
        if set(experts) != {part.name for part in info.parts}:
            raise CobaltError(f"the expert of '{task}' drives {', '.join(experts)}, and the workcell has other arms")
        self._hands = {part: _Hand(node, self.workcell_id, part, expert, plan) for part, expert in experts.items()}
        self._from_first = _views([(part.name, part.robot) for part in info.parts])
        self._steps = TakenSubscription(node, topics.CONTROL_STEP, self.workcell_id, depth=1)
        self._looks = {
            name: TakenSubscription(node, topics.object_pose(name), self.workcell_id, depth=1)
            for name in load_task(task).objects
        }
        self._episodes = create_subscription(node, topics.EPISODE, self.workcell_id, self._on_episode)
        self._services = {
            service: node.create_client(service, topics.service_name(self._host_id, service.__name__))
            for service in (AcquireControl, StartEpisode, EndEpisode, ReleaseControl)
        }
        self._objects: dict[str, Pose] = {}
        self._lease_id = ''
        self._episode_id = ''
        self._episode = EpisodeState()
        self._started = 0
        self._gave_up = False
        self._shown_stamp, self._shown_s = Time(), float('-inf')
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
                    workcell_id=self.workcell_id, session_id=self._plan.session_id, operator_id=self._plan.operator_id
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
                if not self._gave_up and any(hand.gives_up for hand in self._hands.values()):
                    self._ask(
                        EndEpisode.Request(
                            workcell_id=self.workcell_id,
                            lease_id=self._lease_id,
                            outcome=EpisodeState.OUTCOME_FAILURE,
                            note='the operator gave up',
                        ),
                        self._on_given_up,
                    )
            case DriverState.RELEASING:
                request = ReleaseControl.Request(workcell_id=self.workcell_id, lease_id=self._lease_id)
                self._ask(request, self._on_released)

    def _start_request(self) -> Any:
        return StartEpisode.Request(
            workcell_id=self.workcell_id,
            lease_id=self._lease_id,
            seed=self._plan.first_seed + self._started,
            operator_id=self._plan.operator_id,
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

    def _on_given_up(self, answer: Any) -> None:
        self._gave_up = True

    def _on_released(self, answer: Any) -> None:
        self.state = DriverState.DONE

    def _on_episode(self, episode: EpisodeState) -> None:
        self._episode = episode
        self._follow_episode()

    def _follow_episode(self) -> None:
        if self._episode.episode_id != self._episode_id:
            return
        if self.state is DriverState.PREPARING and self._episode.phase == EpisodeState.PHASE_RUNNING:
            for hand in self._hands.values():
                hand.restart()
            self._gave_up = False
            self.state = DriverState.DRIVING
        elif self.state in (DriverState.PREPARING, DriverState.DRIVING) and self._episode.phase in _OVER:
            if self.state is DriverState.PREPARING and self._episode.outcome in _NOT_STARTED:
                self._fail(f'the episode did not start: {self._episode.end_reason}')
                return
            self.outcomes.append(self._episode.outcome)
            self.state = DriverState.STARTING if self._started < self._plan.episodes else DriverState.RELEASING

    def _look(self) -> None:
        if (taken := self._steps.take()) is not None:
            self._heard_s = time.monotonic()
            for part in taken[0].parts:
                if part.part in self._hands:
                    self._hands[part.part].state = part
            every_s = self._plan.link.picture_every_s
            if every_s and taken[0].frames and self._heard_s - self._shown_s >= every_s:
                self._shown_stamp, self._shown_s = taken[0].frames[0].stamp, self._heard_s
        for name, look in self._looks.items():
            if (taken := look.take()) is not None:
                self._seen_s = time.monotonic()
                self._objects[name] = pose_of(taken[0].pose)

    def _command(self, *, engaged_allowed: bool) -> None:
        if len(self._objects) < len(self._looks):
            return
        allowed = engaged_allowed and self._episode.phase not in (
            EpisodeState.PHASE_PREPARING,
            EpisodeState.PHASE_ENDING,
        )
        for part, hand in self._hands.items():
            seen = {name: self._from_first[part] @ pose for name, pose in self._objects.items()}
            hand.command(seen if allowed else None, self._lease_id, self._shown_stamp)


def _views(parts: list[tuple[str, str]]) -> dict[str, Pose]:
    """Returns what brings a pose from the first arm's base frame, in which objects are told, into that of each."""
    if len(parts) == 1:
        return {parts[0][0]: Pose()}
    arms = arms_of(parts).arms
    return {arm.part: arm.base.inverse() @ arms[0].base for arm in arms}


class _Hand:
    """One arm's expert, and the publisher of its commands."""

    def __init__(self, node: Node, workcell_id: str, part: str, expert: Expert, plan: DriverPlan) -> None:
        self._frame = topics.base_frame(workcell_id, part)
        self._link = plan.link
        # Each workcell's operator has pauses and a tremor of his own.
        seed = zlib.crc32(f'{workcell_id}/{part}/{plan.first_seed}'.encode())
        self._generator = random.Random(seed)
        self._expert = HabitualExpert(expert, plan.habits, period_s=plan.period_s, seed=seed)
        self._publisher = create_publisher(node, topics.teleop_command(part), workcell_id)
        self._on_the_way: deque[tuple[float, TeleopCommand]] = deque()
        # A node that was started again must not repeat an epoch that the host knows.
        self._epoch = int(time.time() * 10) % 2**31
        self._engaged_since = Time()
        self._engaged = False
        self._sequence = 0
        self.state: PartStep | None = None
        """Newest row of the arm."""

    @property
    def gives_up(self) -> bool:
        """Whether the operator has had enough of this episode."""
        return self._expert.gives_up

    def restart(self) -> None:
        """Begins anew, as after a reset."""
        self._expert.restart()

    def command(self, objects: Mapping[str, Pose] | None, lease_id: str, shown_stamp: Time) -> None:
        """Decides one tick, and sends what is due.

        Args:
            objects: Poses in the base frame; None to hold still.
            lease_id: Under which it drives.
            shown_stamp: Of the newest picture that was seen; zero if that is not told.
        """
        if self.state is None:
            return
        tool = pose_of(self.state.pose)
        wanted = ExpertCommand(pose=tool, gripper=float('nan'), engaged=False)
        if objects is not None:
            wanted = self._expert.step(tool=tool, objects=objects, gripper=float(self.state.gripper))
        stamp = to_stamp(now_ns())
        if wanted.engaged and not self._engaged:
            self._epoch, self._engaged_since = self._epoch + 1, stamp
        self._engaged = wanted.engaged
        self._sequence += 1
        message = TeleopCommand(
            mode=TeleopCommand.MODE_POSE,
            reference=TeleopCommand.REFERENCE_ENGAGE,
            pose=pose_message(wanted.pose),
            gripper=wanted.gripper,
            engaged=wanted.engaged,
            tracked=True,
            clutch_epoch=self._epoch,
            engaged_since=self._engaged_since,
            sequence=self._sequence,
            source=SOURCE,
            lease_id=lease_id,
            device_stamp=stamp,
            shown_frame_stamp=shown_stamp,
        )
        message.header.stamp = stamp
        message.header.frame_id = self._frame
        now_s = time.monotonic()
        delay_s = self._link.delay_s + self._generator.uniform(0.0, self._link.jitter_s)
        self._on_the_way.append((now_s + delay_s, message))
        while self._on_the_way and self._on_the_way[0][0] <= now_s:
            self._publisher.publish(self._on_the_way.popleft()[1])
