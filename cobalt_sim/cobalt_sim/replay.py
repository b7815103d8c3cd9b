"""Lives through a recorded episode again: from its seed, by the joint targets of its ticks.

Which speeds the servos were told to expect is not recorded; they are taken from the targets of the next tick, which the
guard had to foresee. So the arm goes a little off its way, and the report says by how much and when.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cobalt_sim.in_process import GuardedPlant
from cobalt_sim.mujoco_plant import MujocoPlant
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.pose import Vector
from cobalt_teleop.workcell_host.plant import PartAction

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
    """

    joints: Vector
    joint_targets: Vector
    gripper_target: float


@dataclass(frozen=True, kw_only=True)
class RecordedTick:
    """One tick of an episode.

    Attributes:
        sim_time: Of the state before the action [s].
        parts: By name.
        success: The state after the action counts as success.
    """

    sim_time: float
    parts: Mapping[str, RecordedPart]
    success: bool


@dataclass(frozen=True, kw_only=True)
class ReplayReport:
    """What came of it.

    Attributes:
        recorded_success: The recording ended with success.
        replayed_success: So did the replay, or within a second after the last tick, with its targets.
        largest_difference: Of any joint from the recording [rad].
        at_s: When it was [s], simulated time.
        diverged_at_s: When a joint first differed by more than 0.05 rad [s]; None if none did.
    """

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
            )
            for name, action in guarded.actions.items()
        },
        success=guarded.plant.progress().success,
    )


def replay(
    plant: MujocoPlant, seed: int, ticks: Sequence[RecordedTick], *, after_tick: Callable[[], None] | None = None
) -> ReplayReport:
    """Lives through the ticks of an episode.

    Args:
        plant: A workcell with the episode's task and arms, and its control rate.
        seed: Of the episode.
        ticks: In order.
        after_tick: Called after each tick, such as to draw pictures.

    Raises:
        CobaltError: The ticks are not those of such a workcell.
    """
    acted = [tick for tick in ticks if all(part.joint_targets.size for part in tick.parts.values())]
    if not acted:
        raise CobaltError('the episode has no tick with an action')
    plant.reset(plant.capabilities.tasks[0], seed)
    _check(plant, acted[0])
    largest, at_s, diverged_at_s, success = 0.0, 0.0, None, False

    def live(tick: RecordedTick, after: RecordedTick) -> bool:
        span_s = max(after.sim_time - tick.sim_time, 1e-3)
        plant.apply(
            {
                name: PartAction(
                    joint_targets=part.joint_targets,
                    gripper_target=part.gripper_target,
                    joint_velocities=(after.parts[name].joint_targets - part.joint_targets) / span_s,
                )
                for name, part in tick.parts.items()
            }
        )
        plant.advance()
        if after_tick is not None:
            after_tick()
        return plant.progress().success

    period_s = float(np.median(np.diff([tick.sim_time for tick in acted]))) if len(acted) > 1 else 0.05
    # What was before the recording began, the arm spent at rest.
    while plant.observe().sim_time < acted[0].sim_time - period_s / 2.0:
        live(acted[0], acted[0])
    for tick, after in zip(acted, (*acted[1:], acted[-1]), strict=True):
        # A tick that is missing in the recording: the servos kept their targets.
        while plant.observe().sim_time < tick.sim_time - period_s / 2.0:
            success = live(tick, tick) or success
        measured = plant.observe().parts
        difference = max(
            float(np.abs(measured[name].joint_positions - part.joints).max()) for name, part in tick.parts.items()
        )
        if difference > largest:
            largest, at_s = difference, tick.sim_time
        if diverged_at_s is None and difference > _DIVERGED_RAD:
            diverged_at_s = tick.sim_time
        success = live(tick, after) or success
    recorded_success = any(tick.success for tick in ticks)
    end_s = plant.observe().sim_time + _LATE_S
    while recorded_success and not success and plant.observe().sim_time < end_s:
        success = live(acted[-1], acted[-1])
    return ReplayReport(
        recorded_success=recorded_success,
        replayed_success=success,
        largest_difference=largest,
        at_s=at_s,
        diverged_at_s=diverged_at_s,
    )


def _check(plant: MujocoPlant, tick: RecordedTick) -> None:
    sizes = {part.name: len(part.joint_names) for part in plant.capabilities.parts}
    recorded = {name: part.joint_targets.size for name, part in tick.parts.items()}
    if sizes != recorded:
        raise CobaltError(f'the episode was recorded with the joints {recorded}, but this workcell has {sizes}')
