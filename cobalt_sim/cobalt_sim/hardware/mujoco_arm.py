"""The controller of a simulated arm: a clock of its own, and what makes a real arm refuse. Pure, but for MuJoCo."""

from collections import deque
from dataclasses import dataclass

import numpy as np

from cobalt_sim.mujoco_plant import PART, MujocoPlant
from cobalt_teleop.core.limits import PartLimits
from cobalt_teleop.core.pose import Vector
from cobalt_teleop.workcell_host.plant import PartAction, PartState


@dataclass(frozen=True)
class Measurement:
    """What the arm's encoders tell.

    Attributes:
        joints: (n,) [rad].
        velocities: (n,) [rad/s].
        efforts: (n,) [Nm].
        gripper: 0 closed to 1 open.
    """

    joints: Vector
    velocities: Vector
    efforts: Vector
    gripper: float


class MujocoArm:
    """One simulated arm with a controller that stops by itself where a real one would.

    Args:
        plant: Whose tick is one step of the physics.
        latency_steps: Steps after which a command takes effect.
        noise_rad: Standard deviation of the measured joints [rad].
        encoder_offset_rad: Added to each measured joint [rad].
        largest_jump_rad: A command further than this from the joints stops the arm [rad].
    """

    def __init__(
        self,
        plant: MujocoPlant,
        *,
        latency_steps: int = 1,
        noise_rad: float = 0.0,
        encoder_offset_rad: float = 0.0,
        largest_jump_rad: float = 0.3,
    ) -> None:
        self._plant = plant
        self._limits: PartLimits = plant.capabilities.parts[0].limits
        self._latency_steps = latency_steps
        self._noise_rad = noise_rad
        self.encoder_offset_rad = encoder_offset_rad
        self._largest_jump_rad = largest_jump_rad
        self._rng = np.random.default_rng(0)
        self._waiting: deque[tuple[int, Vector]] = deque()
        self._opening = 1.0
        self._steps = 0
        self.fault = ''
        """Why it does not move, in words; empty if it does."""

    def command(self, joints: Vector) -> None:
        """Takes (n,) set points [rad], which take effect after the latency."""
        self._waiting.append((self._steps + self._latency_steps, joints))

    def grip(self, opening: float) -> None:
        """Brings the gripper to 0 closed to 1 open."""
        self._opening = opening

    def stop(self, reason: str) -> None:
        """Holds the joints where they are, until it is made ready again."""
        self.fault = reason
        self._waiting.clear()
        self._plant.stop()

    def recover(self) -> None:
        """Makes it ready again, where it is."""
        self._waiting.clear()
        self._plant.stop()
        self.fault = ''

    def step(self) -> None:
        """Lives through one step of the physics."""
        due = None
        while self._waiting and self._waiting[0][0] <= self._steps:
            due = self._waiting.popleft()[1]
        self._steps += 1
        if due is not None and not self.fault:
            self._follow(due)
        self._plant.advance()

    def _follow(self, joints: Vector) -> None:
        measured = self._state().joint_positions
        lower, upper = self._limits.joint_lower, self._limits.joint_upper
        if joints.shape != measured.shape or not np.isfinite(joints).all():
            self.stop('protective stop: a command is no posture')
        elif np.any(joints < np.minimum(lower, measured)) or np.any(joints > np.maximum(upper, measured)):
            self.stop("protective stop: a command is beyond a joint's range")
        elif np.abs(joints - measured).max() > self._largest_jump_rad:
            self.stop('protective stop: a command jumped')
        else:
            self._plant.apply({PART: PartAction(joint_targets=joints, gripper_target=self._opening)})

    def measure(self) -> Measurement:
        """Returns what the encoders tell."""
        state = self._state()
        noise = self._rng.normal(0.0, self._noise_rad, state.joint_positions.shape) if self._noise_rad else 0.0
        return Measurement(
            joints=state.joint_positions + self.encoder_offset_rad + noise,
            velocities=state.joint_velocities,
            efforts=state.joint_efforts,
            gripper=state.gripper,
        )

    def _state(self) -> PartState:
        return self._plant.observe().parts[PART]
