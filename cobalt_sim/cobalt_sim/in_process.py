"""Drives a plant through the host's own guard without ROS: for policies, and for measurements of experts and tasks."""

from collections.abc import Callable

import numpy as np

from cobalt_sim.experts import load_expert
from cobalt_sim.experts.expert import ExpertCommand
from cobalt_sim.mujoco_plant import PART, MujocoPlant
from cobalt_teleop.core.command import Authority, HoldReason, Limit, Mode, MotionCommand, Reference
from cobalt_teleop.core.part_controller import Measured, PartController, PartDecision
from cobalt_teleop.core.pose import Pose
from cobalt_teleop.workcell_host.plant import Observation, PartAction


class GuardedPlant:
    """One plant behind the guard, ticked by hand.

    Args:
        plant: What it drives.
        period_s: Tick [s].
    """

    def __init__(self, plant: MujocoPlant, *, period_s: float = 0.05) -> None:
        self.plant = plant
        part = plant.capabilities.parts[0]
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
        self._controller.start_from(self._measured(plant.observe()))

    def reset(self, seed: int) -> None:
        """Resets the plant and makes the guard hold there."""
        self.plant.reset(self.plant.capabilities.tasks[0], seed)
        self._controller.start_from(self._measured(self.plant.observe()))

    def tick(self, command: ExpertCommand) -> None:
        """Lives through one tick, driven by a hand's motion since its press."""
        self._epoch += command.engaged and not self._engaged
        self._engaged = command.engaged
        motion = self._command(Reference.ENGAGE, command.pose, command.gripper, engaged=command.engaged)
        self._live(self._decide(Authority.HUMAN, motion))

    def engage_policy(self) -> None:
        """Lets a policy take over where the tool is, so that its first pose moves the arm; no time passes."""
        self._epoch += 1
        self._decide(Authority.POLICY, self._command(Reference.ABSOLUTE, self.plant.observe().parts[PART].pose, np.nan))

    def follow(self, pose: Pose, gripper: float) -> None:
        """Lives through one tick, driven by a policy that wants the tool at a pose in the base frame."""
        self._live(self._decide(Authority.POLICY, self._command(Reference.ABSOLUTE, pose, gripper)))

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

    def _decide(self, authority: Authority, command: MotionCommand) -> PartDecision:
        decision = self._controller.step(
            measured=self._measured(self.plant.observe()),
            authority=authority,
            human=command if authority is Authority.HUMAN else None,
            policy=command if authority is Authority.POLICY else None,
        )
        self.limits, self.hold_reason, self.target = decision.limits, decision.hold_reason, decision.target
        return decision

    def _live(self, decision: PartDecision) -> None:
        self.plant.apply(
            {
                PART: PartAction(
                    joint_targets=decision.joint_targets,
                    gripper_target=decision.gripper_target,
                    joint_velocities=decision.joint_velocities,
                )
            }
        )
        self.plant.advance()

    @staticmethod
    def _measured(observation: Observation) -> Measured:
        part = observation.parts[PART]
        return Measured(pose=part.pose, joints=part.joint_positions, gripper=part.gripper)


def run_expert(
    plant: MujocoPlant, seed: int, *, limit_s: float = 30.0, after_tick: Callable[[GuardedPlant], None] | None = None
) -> float | None:
    """Lets the task's expert solve a seed; returns the simulated time it took [s], or None if it did not."""
    guarded = GuardedPlant(plant)
    guarded.reset(seed)
    expert = load_expert(plant.capabilities.tasks[0])
    while (observation := plant.observe()).sim_time < limit_s:
        part = observation.parts[PART]
        guarded.tick(expert.step(tool=part.pose, objects=observation.objects, gripper=part.gripper))
        if after_tick is not None:
            after_tick(guarded)
        if plant.progress().success:
            return observation.sim_time
    return None
