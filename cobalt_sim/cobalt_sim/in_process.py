"""Drives a plant through the host's own guard without ROS: for policies, and for measurements of experts and tasks."""

from collections.abc import Callable, Mapping
from functools import reduce
from operator import or_

import numpy as np

from cobalt_sim.experts import load_experts
from cobalt_sim.experts.expert import ExpertCommand
from cobalt_sim.mujoco_plant import MujocoPlant
from cobalt_teleop.core.command import Authority, HoldReason, Limit, Mode, MotionCommand, Reference
from cobalt_teleop.core.part_controller import Measured, PartController
from cobalt_teleop.core.pose import Pose
from cobalt_teleop.workcell_host.plant import FullState, Observation, PartAction, PartDescription


class GuardedPart:
    """One arm of a plant behind the guard.

    Args:
        part: What the plant says of it.
        period_s: Tick [s].
    """

    def __init__(self, part: PartDescription, period_s: float) -> None:
        self.name = part.name
        self._controller = PartController(
            limits=part.limits, kinematics=part.kinematics, home=part.home, period_s=period_s
        )
        self._epoch = 0
        self._engaged = False
        self._sample = 0
        self.limits = Limit.NONE
        """Of the last tick."""
        self.hold_reason = HoldReason.NONE
        """Likewise."""
        self.target = Pose()
        """Accepted target of the tool in the base frame."""

    def start_from(self, observation: Observation) -> None:
        """Makes the guard hold where the arm is."""
        self._controller.start_from(self._measured(observation))

    def drive(self, observation: Observation, command: ExpertCommand) -> PartAction:
        """Returns the action of a tick that is driven by a hand's motion since its press."""
        self._epoch += command.engaged and not self._engaged
        self._engaged = command.engaged
        motion = self._command(Reference.ENGAGE, command.pose, command.gripper, engaged=command.engaged)
        return self.decide(observation, Authority.HUMAN, motion)

    def engage_policy(self, observation: Observation) -> None:
        """Lets a policy take over where the tool is, so that its first pose moves the arm; no time passes."""
        self._epoch += 1
        self.follow(observation, observation.parts[self.name].pose, np.nan)

    def follow(self, observation: Observation, pose: Pose, gripper: float) -> PartAction:
        """Returns the action of a tick that is driven by a policy which wants the tool at a pose in the base frame."""
        return self.decide(observation, Authority.POLICY, self._command(Reference.ABSOLUTE, pose, gripper))

    def _command(self, reference: Reference, pose: Pose, gripper: float, *, engaged: bool = True) -> MotionCommand:
        self._sample += 1
        return MotionCommand(
            mode=Mode.POSE,
            reference=reference,
            pose=pose,
            gripper=gripper,
            engaged=engaged,
            tracked=True,
            clutch_epoch=self._epoch,
            sample=self._sample,
            source='in_process',
            age_s=0.0,
        )

    def decide(self, observation: Observation, authority: Authority, command: MotionCommand) -> PartAction:
        """Returns the action of a tick in which a person or a policy commands what may be anything."""
        decision = self._controller.step(
            measured=self._measured(observation),
            authority=authority,
            human=command if authority is Authority.HUMAN else None,
            policy=command if authority is Authority.POLICY else None,
        )
        self.limits, self.hold_reason, self.target = decision.limits, decision.hold_reason, decision.target
        return PartAction(
            joint_targets=decision.joint_targets,
            gripper_target=decision.gripper_target,
            joint_velocities=decision.joint_velocities,
        )

    def _measured(self, observation: Observation) -> Measured:
        part = observation.parts[self.name]
        return Measured(pose=part.pose, joints=part.joint_positions, gripper=part.gripper)


class GuardedPlant:
    """One plant behind the guard, ticked by hand.

    Args:
        plant: What it drives.
        period_s: Tick [s].
    """

    def __init__(self, plant: MujocoPlant, *, period_s: float = 0.05) -> None:
        self.plant = plant
        self.parts = {part.name: GuardedPart(part, period_s) for part in plant.capabilities.parts}
        self.before = plant.observe()
        """The state that the last tick began with."""
        self.state_before: FullState = plant.full_state()
        """Likewise, all of it."""
        self.actions: Mapping[str, PartAction] = {}
        """Of the last tick, by part."""
        self._start()

    @property
    def first(self) -> GuardedPart:
        """The first arm."""
        return next(iter(self.parts.values()))

    @property
    def limits(self) -> Limit:
        """Of all arms in the last tick."""
        return reduce(or_, (part.limits for part in self.parts.values()))

    @property
    def hold_reason(self) -> HoldReason:
        """Of the first arm in the last tick."""
        return self.first.hold_reason

    @property
    def target(self) -> Pose:
        """Accepted target of the first arm's tool in its base frame."""
        return self.first.target

    def reset(self, seed: int) -> None:
        """Resets the plant and makes the guard hold there."""
        self.plant.reset(self.plant.capabilities.tasks[0], seed)
        self._start()

    def _start(self) -> None:
        for part in self.parts.values():
            part.start_from(self.plant.observe())

    def tick(self, *commands: ExpertCommand) -> None:
        """Lives through one tick, driven by hands' motions since their press, one for each arm."""
        observation = self.plant.observe()
        self._live(
            {
                part.name: part.drive(observation, command)
                for part, command in zip(self.parts.values(), commands, strict=True)
            }
        )

    def engage_policy(self) -> None:
        """Lets a policy take over all arms where their tools are; no time passes."""
        for part in self.parts.values():
            part.engage_policy(self.plant.observe())

    def follow(self, *wanted: tuple[Pose, float]) -> None:
        """Lives through one tick, driven by a policy: each arm's tool pose, in its base frame, and its gripper."""
        observation = self.plant.observe()
        self._live(
            {
                part.name: part.follow(observation, pose, gripper)
                for part, (pose, gripper) in zip(self.parts.values(), wanted, strict=True)
            }
        )

    def _live(self, actions: Mapping[str, PartAction]) -> None:
        self.before, self.actions = self.plant.observe(), actions
        self.state_before = self.plant.full_state()
        self.plant.apply(actions)
        self.plant.advance()


def run_expert(
    plant: MujocoPlant, seed: int, *, limit_s: float = 30.0, after_tick: Callable[[GuardedPlant], None] | None = None
) -> float | None:
    """Lets the task's experts solve a seed; returns the simulated time it took [s], or None if they did not."""
    guarded = GuardedPlant(plant)
    guarded.reset(seed)
    experts = load_experts(plant.capabilities.tasks[0])
    while (observation := plant.observe()).sim_time < limit_s:
        guarded.tick(
            *(
                experts[name].step(
                    tool=part.pose,
                    objects=plant.objects_seen_by(name),
                    gripper=part.gripper,
                )
                for name, part in observation.parts.items()
            )
        )
        if after_tick is not None:
            after_tick(guarded)
        if plant.progress().success:
            return observation.sim_time
    return None
