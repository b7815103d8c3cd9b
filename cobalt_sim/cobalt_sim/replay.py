"""Lives through a recorded episode again: by the actions of its ticks, or from state to state.

Actions alone reproduce an episode bit for bit where its first state and the speeds that the servos were told to expect
are recorded. Older bags lack both: there it begins with the seed, and takes the speeds from the targets of the next
tick, so that the arm goes a little off its way; the report says by how much and when.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from cobalt_sim.in_process import GuardedPlant
from cobalt_sim.mujoco_plant import MujocoPlant
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.pose import Vector
from cobalt_teleop.workcell_host.plant import FullState, PartAction

_DIVERGED_RAD = 0.05
"""Difference of a joint from the recording above which the replay has diverged."""


_LATE_S = 1.0
"""Time after the end of a recording in which its success still counts as reproduced [s]."""


@dataclass(frozen=True, kw_only=True)
class RecordedPart:
    """One arm in a tick.

    Attributes:
        joints: (n,) measured before the action [rad].
        joint_targets: (n,) [rad]; empty if there was no action.
        gripper_target: 0 closed to 1 open.
        joint_velocities: (n,) at which the targets were expected to go on [rad/s]; empty if nobody knows.
    """

    joints: Vector
    joint_targets: Vector
    gripper_target: float
    joint_velocities: Vector = field(default_factory=lambda: np.empty(0))


@dataclass(frozen=True, kw_only=True)
class RecordedTick:
    """One tick of an episode.

    Attributes:
        sim_time: Of the state before the action [s].
        parts: By name.
        success: The state after the action counts as success.
        step: ControlStep.step.
        state: The simulator's, before the action; None if it was not recorded.
    """

    sim_time: float
    parts: Mapping[str, RecordedPart]
    success: bool
    step: int = 0
    state: FullState | None = None


@dataclass(frozen=True, kw_only=True)
class ReplayReport:
    """What came of it.

    Attributes:
        began_with: state if the first recorded state was that of this simulator, or seed.
        recorded_success: The recording ended with success.
        replayed_success: So did the replay, or within a second after the last tick, with its targets.
        largest_difference: Of any joint from the recording [rad].
        at_s: When it was [s], simulated time.
        diverged_at_s: When a joint first differed by more than 0.05 rad [s]; None if none did.
    """

    began_with: str
    recorded_success: bool
    replayed_success: bool
    largest_difference: float
    at_s: float
    diverged_at_s: float | None

    @property
    def reproduced(self) -> bool:
        """Whether the outcome is that of the recording."""
        return self.recorded_success == self.replayed_success


def tick_of(guarded: GuardedPlant) -> RecordedTick:
    """Returns what a bag would hold of the last tick."""
    return RecordedTick(
        sim_time=guarded.before.sim_time,
        parts={
            name: RecordedPart(
                joints=guarded.before.parts[name].joint_positions,
                joint_targets=np.array(action.joint_targets),
                gripper_target=action.gripper_target,
                joint_velocities=np.array(action.joint_velocities),
            )
            for name, action in guarded.actions.items()
        },
        success=guarded.plant.progress().success,
        state=guarded.state_before,
    )


def replay(
    plant: MujocoPlant,
    seed: int,
    ticks: Sequence[RecordedTick],
    *,
    on_tick: Callable[[RecordedTick], None] = lambda tick: None,
) -> ReplayReport:
    """Lives through the ticks of an episode by their actions.

    Args:
        plant: A workcell with the episode's task and arms, and its control rate.
        seed: Of the episode.
        ticks: In order.
        on_tick: Called before each action, such as to draw pictures.

    Raises:
        CobaltError: The ticks are not those of such a workcell.
    """
    acted = [tick for tick in ticks if all(part.joint_targets.size for part in tick.parts.values())]
    if not acted:
        raise CobaltError('the episode has no tick with an action')
    _check(plant, acted[0])
    plant.reset(plant.capabilities.tasks[0], seed)
    began_with = _begin(plant, acted[0])
    differences = _Differences()
    success = False

    def live(tick: RecordedTick, after: RecordedTick) -> bool:
        on_tick(tick)
        plant.apply({name: _action(part, after.parts[name], tick, after) for name, part in tick.parts.items()})
        plant.advance()
        return plant.progress().success

    period_s = float(np.median(np.diff([tick.sim_time for tick in acted]))) if len(acted) > 1 else 0.05
    # What was before the recording began, the arm spent at rest.
    while plant.observe().sim_time < acted[0].sim_time - period_s / 2.0:
        live(acted[0], acted[0])
    for tick, after in zip(acted, (*acted[1:], acted[-1]), strict=True):
        # A tick that is missing in the recording: the servos kept their targets.
        while plant.observe().sim_time < tick.sim_time - period_s / 2.0:
            success = live(tick, tick) or success
        differences.note(plant, tick)
        success = live(tick, after) or success
    recorded_success = any(tick.success for tick in ticks)
    end_s = plant.observe().sim_time + _LATE_S
    while recorded_success and not success and plant.observe().sim_time < end_s:
        success = live(acted[-1], acted[-1])
    return differences.report(began_with, recorded=recorded_success, replayed=success)


def replay_states(
    plant: MujocoPlant,
    seed: int,
    ticks: Sequence[RecordedTick],
    *,
    on_tick: Callable[[RecordedTick], None] = lambda tick: None,
) -> ReplayReport:
    """Brings a workcell into each recorded state of an episode; only what comes after the last one is simulated.

    Args:
        plant: A workcell with the episode's task and arms.
        seed: Of the episode.
        ticks: In order.
        on_tick: Called in each state, such as to draw pictures.

    Raises:
        CobaltError: There are no states, or they are not those of such a workcell.
    """
    stated = [(tick, tick.state) for tick in ticks if tick.state is not None]
    if not stated:
        raise CobaltError('the bag holds no states of the simulator; without --states it is replayed by its actions')
    plant.reset(plant.capabilities.tasks[0], seed)
    differences, success = _Differences(), False
    for tick, state in stated:
        plant.go_on_from(state)
        differences.note(plant, tick)
        success = plant.progress().success or success
        on_tick(tick)
    last = stated[-1][0]
    if all(part.joint_targets.size for part in last.parts.values()):
        plant.apply({name: _action(part, part, last, last) for name, part in last.parts.items()})
        plant.advance()
        success = plant.progress().success or success
    return differences.report('state', recorded=any(tick.success for tick in ticks), replayed=success)


class _Differences:
    """How far joints are from a recording."""

    def __init__(self) -> None:
        self._largest, self._at_s = 0.0, 0.0
        self._diverged_at_s: float | None = None

    def note(self, plant: MujocoPlant, tick: RecordedTick) -> None:
        measured = plant.observe().parts
        difference = max(
            float(np.abs(measured[name].joint_positions - part.joints).max()) for name, part in tick.parts.items()
        )
        if difference > self._largest:
            self._largest, self._at_s = difference, tick.sim_time
        if self._diverged_at_s is None and difference > _DIVERGED_RAD:
            self._diverged_at_s = tick.sim_time

    def report(self, began_with: str, *, recorded: bool, replayed: bool) -> ReplayReport:
        return ReplayReport(
            began_with=began_with,
            recorded_success=recorded,
            replayed_success=replayed,
            largest_difference=self._largest,
            at_s=self._at_s,
            diverged_at_s=self._diverged_at_s,
        )


def _begin(plant: MujocoPlant, first: RecordedTick) -> str:
    """Begins with the recorded state, unless that is of another simulator; tells with what."""
    if first.state is None or first.state.format != plant.full_state().format:
        return 'seed'
    plant.go_on_from(first.state)
    return 'state'


def _action(part: RecordedPart, next_part: RecordedPart, tick: RecordedTick, after: RecordedTick) -> PartAction:
    velocities = part.joint_velocities
    if not velocities.size:
        span_s = max(after.sim_time - tick.sim_time, 1e-3)
        velocities = (next_part.joint_targets - part.joint_targets) / span_s
    return PartAction(joint_targets=part.joint_targets, gripper_target=part.gripper_target, joint_velocities=velocities)


def _check(plant: MujocoPlant, tick: RecordedTick) -> None:
    sizes = {part.name: len(part.joint_names) for part in plant.capabilities.parts}
    recorded = {name: part.joint_targets.size for name, part in tick.parts.items()}
    if sizes != recorded:
        raise CobaltError(f'the episode was recorded with the joints {recorded}, but this workcell has {sizes}')
