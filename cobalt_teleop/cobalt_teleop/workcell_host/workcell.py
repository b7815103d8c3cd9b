"""One workcell of a host: its tick, and what its services do to it."""

import threading
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rclpy.node import Node

from cobalt_interfaces.msg import ControlStep
from cobalt_teleop.core import topics
from cobalt_teleop.core.arbiter import Arbiter
from cobalt_teleop.core.clutch import MAX_FRAME_AGE_S
from cobalt_teleop.core.command import Authority, HoldReason, Limit, MotionCommand
from cobalt_teleop.core.episode import GOING_ON, Phase
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.lease import TAKING_CONTROL_S, Lease, LeaseDesk
from cobalt_teleop.core.part_controller import Measured, PartController, PartDecision
from cobalt_teleop.core.ulid import new_ulid
from cobalt_teleop.ros.endpoints import TakenSubscription
from cobalt_teleop.ros.stamps import now_ns, to_stamp
from cobalt_teleop.workcell_host import messages
from cobalt_teleop.workcell_host.command_inbox import CommandInbox
from cobalt_teleop.workcell_host.episode_desk import EpisodeDesk
from cobalt_teleop.workcell_host.goal_picture import GoalPicture, read_photograph
from cobalt_teleop.workcell_host.other_cameras import OtherCameras
from cobalt_teleop.workcell_host.plant import Observation, PartAction, PartDescription, Plant
from cobalt_teleop.workcell_host.publisher_watch import PublisherWatch, WatchedInbox
from cobalt_teleop.workcell_host.sole_host import SecondHostWatch
from cobalt_teleop.workcell_host.stop_memory import StopMemory
from cobalt_teleop.workcell_host.workcell_cameras import WorkcellCameras
from cobalt_teleop.workcell_host.workcell_publishers import ControlSnapshot, WorkcellPublishers

_STANDSTILL_S = 0.4
"""A host whose ticks are further apart has stood still [s]."""


@dataclass(frozen=True, kw_only=True)
class HostOptions:
    """How a host runs.

    Attributes:
        control_rate_hz: Ticks of each workcell [Hz].
        render_threads: Threads that tick and render; 0 for one a core.
        kbit_s: Upper bound of each camera's bit rate [kbit/s].
        max_frame_age_s: Age of the picture on an operator's screen above which his arm holds [s].
        draw_frame_code: Draw each frame's stamp into its picture, for measurements.
        goal_picture: File of a photograph of what is to be done, for plants that draw none; empty for none.
        on_thread_end: Called in each of those threads before it ends, to free what it holds.
    """

    control_rate_hz: float = 20.0
    render_threads: int = 0
    kbit_s: int = 2000
    max_frame_age_s: float = MAX_FRAME_AGE_S
    draw_frame_code: bool = False
    goal_picture: str = ''
    on_thread_end: Callable[[], None] = lambda: None


class _Part:
    """What a workcell keeps of one part."""

    def __init__(self, node: Node, workcell_id: str, description: PartDescription, options: HostOptions) -> None:
        self.name = description.name
        self.controller = PartController(
            limits=description.limits,
            kinematics=description.kinematics,
            home=description.home,
            period_s=1.0 / options.control_rate_hz,
            max_frame_age_s=options.max_frame_age_s,
        )
        self.human = CommandInbox(TakenSubscription(node, topics.teleop_command(self.name), workcell_id))
        self.policy = CommandInbox(TakenSubscription(node, topics.policy_command(self.name), workcell_id))
        self.was_holding = True


class Workcell:
    """One workcell: called by one tick thread at a time, and by the services; a lock keeps them apart.

    Args:
        node: Owns the endpoints.
        workcell_id: Its namespace.
        host_id: Of the host, for WorkcellInfo.
        plant: What it drives.
        options: Of the host.
        software: Version and hash.
        stop_memory: Knows an emergency stop that a host before has not seen released.
    """

    def __init__(
        self,
        node: Node,
        workcell_id: str,
        host_id: str,
        plant: Plant,
        options: HostOptions,
        software: tuple[str, str],
        stop_memory: StopMemory,
    ) -> None:
        self._node = node
        self._id = workcell_id
        self._plant = plant
        self._lock = threading.Lock()
        self._desk = LeaseDesk()
        self._arbiter = Arbiter()
        self._parts = [_Part(node, workcell_id, part, options) for part in plant.capabilities.parts]
        self._cameras = WorkcellCameras(node, workcell_id, plant, options)
        self._other_cameras = OtherCameras(node, workcell_id, plant.capabilities.other_cameras)
        self._publish = WorkcellPublishers(
            node, workcell_id, host_id, plant.capabilities, options.control_rate_hz, software
        )
        photograph = read_photograph(Path(options.goal_picture)) if options.goal_picture else None
        self._goal = GoalPicture(node, workcell_id, plant, photograph)
        self._task = plant.capabilities.tasks[0]
        self._lease_id = ''
        self._started_ns = now_ns()
        self._step = 0
        self._stop_memory = stop_memory
        self._estop_by = stop_memory.who
        self._last_tick_s = float('inf')
        self._stood_still = False
        self._error = ''
        self._watch = PublisherWatch(
            node,
            workcell_id,
            [
                watched
                for part in self._parts
                for watched in (
                    WatchedInbox(topics.teleop_command(part.name), part.human),
                    WatchedInbox(topics.policy_command(part.name), part.policy),
                )
            ],
        )
        self._second_host = SecondHostWatch(node, workcell_id)
        self._start_from(plant.observe())
        self._publish.info(self._cameras.enabled)
        self._episodes = EpisodeDesk(node, workcell_id, plant, self._publish)
        if self._estop_by:
            plant.stop()
            node.get_logger().warning(
                f'{workcell_id}: EMERGENCY STOP by {self._estop_by} is still on: the host before died unreleased'
            )

    def show_goal(self) -> None:
        """Publishes the picture of what is to be done, if it is another one than before; in a thread that ticks."""
        try:
            self._goal.show(self._task)
        except Exception as error:
            self._node.get_logger().error(f'{self._id}: there is no picture of the goal: {error}')

    # The tick -----------------------------------------------------------------------------------------------------

    def tick(self, missed: int) -> None:
        """Lives through one tick. An error in it is reported and means hold; the next tick comes all the same."""
        try:
            with self._lock:
                self._tick(missed)
        except Exception as error:
            text = f'{type(error).__name__}: {error}'
            if text != self._error:
                self._error = text
                self._node.get_logger().error(f'{self._id}: the tick failed: {text}\n{traceback.format_exc()}')
            with self._lock:
                self._rest_after_error()
                self._publish_control(Authority.HOLD, HoldReason.FAULT, (f'the tick failed: {text}',))

    def _tick(self, missed: int) -> None:
        start_s = time.monotonic()
        self._see_standstill(start_s)
        before = self._plant.observe()
        full_state = self._plant.full_state() if self._publish.full_state_is_wanted else None
        self._follow_lease(start_s)
        self._episodes.follow_recorder(self._step)
        row = ControlStep(
            header=messages.header(before.stamp_ns, self._id),
            schema_version=ControlStep.SCHEMA_VERSION,
            workcell_id=self._id,
            step=self._step,
            monotonic_ns=time.monotonic_ns(),
            sim_time=before.sim_time,
            frames=[*self._cameras.frames(), *self._other_cameras.frames(before.stamp_ns)],
            ticks_missed=missed,
            phase=int(self._episodes.phase),
            episode_id=self._episodes.row_episode_id,
            policy_id=self._episodes.policy_id,
            terminal=self._episodes.terminal,
        )
        decisions: dict[str, PartDecision] = {}
        if self._episodes.terminal:
            self._describe(row, before, decisions, {})
            self._episodes.close_rows(step=self._step, stamp_ns=before.stamp_ns)
        else:
            human, policy = self._take_commands(start_s)
            reasons = self._must_hold(before)
            decisions = self._decide(before, human, policy, reasons)
            self._describe(row, before, decisions, reasons)
            self._act(decisions)
        row.applied_stamp = to_stamp(now_ns())
        self._plant.advance()
        progress = self._plant.progress()
        row.reward, row.stage, row.success = progress.reward, progress.stage, progress.success
        row.tick_ms = (time.monotonic() - start_s) * 1e3
        self._publish.step(row)
        self._publish.full_state(full_state, row)
        self._step += 1
        after = self._plant.observe()
        self._episodes.judge(progress)
        targets = {name: decision.target for name, decision in decisions.items()}
        self._publish.state_for_tools(before, targets)
        hold_reason = next((part.hold_reason for part in row.parts if part.hold_reason), 0)
        self._publish_control(row.authority, hold_reason, before.faults)
        recorded = self._episodes.phase in GOING_ON
        self._cameras.publish(after.stamp_ns, full_size=recorded)
        self._other_cameras.listen(recorded)
        self.show_goal()
        self._error = ''

    def _see_standstill(self, now_s: float) -> None:
        stood_s, self._last_tick_s = now_s - self._last_tick_s, now_s
        self._stood_still = stood_s > _STANDSTILL_S
        if self._stood_still:
            self._node.get_logger().warning(
                f'{self._id}: this process stood still for {stood_s:.1f} s; who drives must let go and press again',
                throttle_duration_sec=5.0,
            )

    def _follow_lease(self, now_s: float) -> None:
        lease = self._desk.current(now_s)
        lease_id = lease.lease_id if lease is not None else ''
        if lease_id == self._lease_id:
            return
        self._lease_id = lease_id
        if lease is None:
            # Nobody watches what a policy or a way home does.
            self._arbiter.choose(Authority.HUMAN, 'control was released')
            ends = self._episodes.how_it_ends()
            if ends:
                self._node.get_logger().info(f'{self._id}: nobody drives, and {ends}')
        self._arbiter.new_holder(lease.holder if lease is not None else '')
        self._require_fresh_press()
        presses_since_ns = max(self._started_ns, now_ns() - int(TAKING_CONTROL_S * 1e9))
        for part in self._parts:
            part.human.begin_lease(presses_since_ns)

    def _take_commands(self, now_s: float) -> tuple[dict[str, MotionCommand | None], dict[str, MotionCommand | None]]:
        human, policy = {}, {}
        for part in self._parts:
            stream = topics.teleop_command(part.name).name
            human[part.name] = part.human.take(partial(self._desk.admit, stream, now_s=now_s))
            stream = topics.policy_command(part.name).name
            policy[part.name] = part.policy.take(partial(self._desk.admit, stream, now_s=now_s, of_person=False))
        if self._stood_still:
            # How old they are nobody knows; a stop or a release may wait behind them.
            self._require_fresh_press()
        return human, policy

    def _must_hold(self, before: Observation) -> dict[str, HoldReason]:
        reason = HoldReason.NONE
        if self._estop_by:
            reason = HoldReason.EMERGENCY_STOP
        elif before.faults:
            reason = HoldReason.FAULT
        elif self._episodes.phase is Phase.PREPARING:
            reason = HoldReason.RESETTING
        elif not self._lease_id:
            reason = HoldReason.NO_LEASE
        return {part.name: reason for part in self._parts}

    def _decide(
        self,
        before: Observation,
        human: dict[str, MotionCommand | None],
        policy: dict[str, MotionCommand | None],
        reasons: dict[str, HoldReason],
    ) -> dict[str, PartDecision]:
        decisions = {}
        for part in self._parts:
            decisions[part.name] = part.controller.step(
                measured=_measured(before, part.name),
                authority=self._arbiter.chosen,
                human=human[part.name],
                policy=policy[part.name],
                must_hold=reasons[part.name],
            )
            # What was refused explains the silence better than the silence does.
            refusal, held_for = part.human.refusal, decisions[part.name].hold_reason
            silent = held_for is HoldReason.NO_COMMAND and refusal is not HoldReason.NONE
            if silent or (held_for is HoldReason.NOT_ENGAGED and refusal is HoldReason.REENGAGE):
                reasons[part.name] = refusal
        if self._arbiter.chosen is Authority.HOMING and not any(part.controller.homing for part in self._parts):
            self._arbiter.homing_done()
            self._require_fresh_press()
        return decisions

    def _describe(
        self,
        row: ControlStep,
        before: Observation,
        decisions: dict[str, PartDecision],
        reasons: dict[str, HoldReason],
    ) -> None:
        row.authority_epoch = self._arbiter.epoch
        row.authority_reason = self._arbiter.reason
        row.authority = max((int(decision.authority) for decision in decisions.values()), default=0)
        for part in self._parts:
            rejected = part.human.rejected or part.policy.rejected
            step = messages.part_step(
                part.name,
                before.parts[part.name],
                decisions.get(part.name),
                human=part.human.message,
                human_age_ms=part.human.age_ms(),
                policy=part.policy.message,
                policy_age_ms=part.policy.age_ms(),
                extra_limits=int(Limit.COMMAND_REJECTED) if rejected else 0,
            )
            if reasons.get(part.name, HoldReason.NONE) is not HoldReason.NONE:
                step.hold_reason = int(reasons[part.name])
            row.parts.append(step)

    def _act(self, decisions: dict[str, PartDecision]) -> None:
        if self._estop_by:
            return
        holding = all(decision.authority is Authority.HOLD for decision in decisions.values())
        began = holding and not all(part.was_holding for part in self._parts)
        for part in self._parts:
            part.was_holding = decisions[part.name].authority is Authority.HOLD
        self._plant.apply(
            {
                name: PartAction(
                    joint_targets=decision.joint_targets,
                    gripper_target=decision.gripper_target,
                    joint_velocities=decision.joint_velocities,
                )
                for name, decision in decisions.items()
            }
        )
        if began:
            self._plant.hold()

    def _require_fresh_press(self) -> None:
        for part in self._parts:
            part.controller.require_fresh_press(part.human.presses, part.policy.presses)

    def _rest(self) -> None:
        """Holds what is measured until a fresh press; presses that are going on are old ones."""
        observation = self._plant.observe()
        for part in self._parts:
            part.controller.rest_at(_measured(observation, part.name))
        self._require_fresh_press()

    def _rest_after_error(self) -> None:
        try:
            self._plant.hold()
            self._rest()
        except Exception as error:
            # The plant itself is what fails: nothing more can be told to it, and the tick's error is already told.
            self._node.get_logger().error(f'{self._id}: the plant cannot hold: {error}', throttle_duration_sec=5.0)

    def _start_from(self, observation: Observation) -> None:
        for part in self._parts:
            part.controller.start_from(_measured(observation, part.name))

    def _publish_control(self, authority: int, hold_reason: int, faults: tuple[str, ...]) -> None:
        now_s = time.monotonic()
        self._publish.control(
            ControlSnapshot(
                lease=self._desk.current(now_s),
                requested_by=self._desk.requested_by,
                authority=authority,
                authority_epoch=self._arbiter.epoch,
                hold_reason=hold_reason,
                estop_by=self._estop_by,
                faults=(*faults, *self._watch.faults(), *self._second_host.faults()),
            ),
            now_s,
        )

    # Services: each raises CobaltError with the reason ---------------------------------------------------------------

    def acquire(
        self, session: str, operator: str, parts: Sequence[str], takeover: bool, sources: Sequence[str]
    ) -> Lease:
        """Gives control to a session."""
        names = [part.name for part in self._parts]
        if parts and sorted(parts) != sorted(names):
            raise CobaltError(f'control is given of all parts together ({", ".join(names)}), not of {", ".join(parts)}')
        with self._lock:
            now_s = time.monotonic()
            lease = self._desk.acquire(
                session=session,
                operator=operator,
                takeover=takeover,
                lease_id=new_ulid(time.time_ns() // 1_000_000),
                now_s=now_s,
                sources=sources,
            )
            if lease.lease_id != self._lease_id:
                self._node.get_logger().info(f'{self._id}: {lease.holder} holds control')
            return lease

    def release(self, lease_id: str) -> None:
        """Takes control back from its holder."""
        with self._lock:
            lease = self._desk.require(lease_id, time.monotonic())
            self._desk.release(lease_id, time.monotonic())
            self._node.get_logger().info(f'{self._id}: {lease.holder} released control')

    def transfer(self, lease_id: str, session: str, operator: str, sources: Sequence[str]) -> Lease:
        """Hands control over."""
        with self._lock:
            lease = self._desk.transfer(
                held=lease_id,
                session=session,
                operator=operator,
                lease_id=new_ulid(time.time_ns() // 1_000_000),
                now_s=time.monotonic(),
                sources=sources,
            )
            self._node.get_logger().info(f'{self._id}: control was handed to {lease.holder}')
            return lease

    def holder(self) -> str:
        """Returns who holds control; empty if nobody does."""
        lease = self._desk.current(time.monotonic())
        return lease.holder if lease is not None else ''

    def expiry_ns(self, lease: Lease) -> int:
        """Returns when a lease ends, on the system clock [ns]."""
        return now_ns() + int((lease.expires_s - time.monotonic()) * 1e9)

    def set_authority(self, lease_id: str, authority: int, reason: str) -> int:
        """Chooses who drives; returns the new authority epoch."""
        if authority not in (Authority.HOLD, Authority.HUMAN, Authority.POLICY):
            raise CobaltError(f'authority is {authority}, but must be 0 (hold), 1 (human) or 2 (policy)')
        with self._lock:
            self._desk.require(lease_id, time.monotonic())
            self._arbiter.choose(Authority(authority), reason or 'chosen by the holder of control')
            self._require_fresh_press()
            if self._arbiter.chosen is Authority.POLICY:
                for part in self._parts:
                    part.controller.hand_to_policy()
            return self._arbiter.epoch

    def start_episode(self, request: Any) -> str:
        """Resets and begins the handshake with the recorder; returns the episode's id."""
        capabilities = self._plant.capabilities
        task = request.task or capabilities.tasks[0]
        if task not in capabilities.tasks:
            raise CobaltError(f"there is no task '{task}'; there are {', '.join(capabilities.tasks)}")
        with self._lock:
            lease = self._desk.require(request.lease_id, time.monotonic())
            self._episodes.require_free()
            if self._estop_by:
                raise CobaltError(f'{self._estop_by} pressed the emergency stop: clear it first')
            seed = int(request.seed) or time.time_ns() % (1 << 31)
            self._plant.reset(task, seed)
            self._task = task
            self._start_from(self._plant.observe())
            self._cameras.forget_frames()
            return self._episodes.begin(request, task=task, seed=seed, operator=lease.holder)

    def end_episode(self, lease_id: str, outcome: int, note: str) -> None:
        """Ends the running episode after its terminal row, which the next tick writes."""
        with self._lock:
            lease = self._desk.require(lease_id, time.monotonic())
            self._episodes.order_end(outcome, note, lease.holder)

    def label_episode(self, episode_id: str, outcome: int, source: int, note: str) -> None:
        """Changes the outcome of the last episode."""
        with self._lock:
            self._episodes.label(episode_id, outcome, source, note)

    def home(self, lease_id: str, speed_scale: float) -> None:
        """Begins the way home."""
        if not 0.0 < speed_scale <= 1.0:
            raise CobaltError(f'speed_scale is {speed_scale:g}, but must be above 0 and at most 1')
        with self._lock:
            self._desk.require(lease_id, time.monotonic())
            if self._estop_by:
                raise CobaltError(f'{self._estop_by} pressed the emergency stop: clear it first')
            observation = self._plant.observe()
            for part in self._parts:
                objection = part.controller.homing_objection(_measured(observation, part.name), speed_scale)
                if objection:
                    raise CobaltError(f'{part.name}: {objection}; drive the tool nearer to its middle first')
            for part in self._parts:
                part.controller.start_homing(_measured(observation, part.name), speed_scale)
            self._arbiter.choose(Authority.HOMING, 'driving home')

    def emergency_stop(self, who: str) -> None:
        """Stops and latches."""
        first = not self._estop_by
        if first:
            # Before the lock: a tick that holds it must not act any more, and the next one must not begin to.
            self._estop_by = who or 'somebody'
        with self._lock:
            self._plant.stop()
            if first:
                self._stop_memory.note(self._estop_by)
                self._node.get_logger().warning(f'{self._id}: EMERGENCY STOP by {self._estop_by}')

    def clear_emergency_stop(self, who: str, confirm: bool) -> None:
        """Releases the latch; the arm holds what is measured until a fresh press."""
        if not confirm:
            raise CobaltError('confirm must be true: look at the robot first')
        with self._lock:
            if not self._estop_by:
                raise CobaltError('no emergency stop is latched')
            self._estop_by = ''
            self._stop_memory.note('')
            self._rest()
            self._arbiter.homing_done()
            self._node.get_logger().warning(f'{self._id}: emergency stop cleared by {who or "somebody"}')

    def set_camera(self, request: Any) -> None:
        """Switches a camera on or off, or changes its rate, size or bit rate."""
        with self._lock:
            before = self._cameras.enabled
            self._cameras.change(request)
            if self._cameras.enabled != before:
                self._publish.info(self._cameras.enabled)

    # From the executor ----------------------------------------------------------------------------------------------

    def look_at_publishers(self) -> None:
        """Names strangers on the command topics and a second host, and frees a binding whose publisher is gone."""
        with self._lock:
            self._watch.look(self._desk.current(time.monotonic()))
            self._second_host.look()

    def close(self) -> None:
        """Brings the plant to rest and frees it."""
        with self._lock:
            self._plant.stop()
            self._second_host.close()
            self._cameras.close()
            self._other_cameras.close()
            self._plant.close()


def _measured(observation: Observation, part: str) -> Measured:
    state = observation.parts[part]
    return Measured(pose=state.pose, joints=state.joint_positions, gripper=state.gripper)
