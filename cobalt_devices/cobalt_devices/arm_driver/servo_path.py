"""Set points at the rate of an arm's servos, between the targets of successive ticks. Pure.

Jerk, acceleration and speed are bounded, whatever the targets do (online trajectory generation: Berscheid and Kröger,
"Jerk-limited real-time trajectory generation with arbitrary target states", 2021, whose library `ruckig` solves it).
Each target is to be reached at the end of its tick, at the speed at which it is expected to go on; a target that fails
to come means to slow down.
"""

from dataclasses import dataclass

import numpy as np
from ruckig import ControlInterface, InputParameter, OutputParameter, Result, Ruckig

from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.limits import PartLimits
from cobalt_teleop.core.pose import Vector

_PATIENCE_TICKS = 1.5
"""A target that is later than this, counted from the one before, is missing."""

_ROUNDING = 1e-9

_FULL_ACCELERATION_S = 0.0125
"""Jerk is bounded so that a joint takes this long to its full acceleration [s]. Chosen with bench_driver.py."""


@dataclass(frozen=True)
class SetPoint:
    """What the servos are told in one of their periods.

    Attributes:
        joints: (n,) [rad].
        velocities: (n,) [rad/s].
    """

    joints: Vector
    velocities: Vector


class ServoPath:
    """The set points of one arm.

    Args:
        limits: Of the arm: joint speeds and accelerations.
        period_s: Of the servos [s].
        tick_s: Between two targets [s].

    Raises:
        CobaltError: The servos are slower than the ticks.
    """

    def __init__(self, limits: PartLimits, *, period_s: float, tick_s: float) -> None:
        if period_s > tick_s:
            raise CobaltError(f'the servos take {1 / period_s:g} set points a second, fewer than {1 / tick_s:g} ticks')
        size = len(limits.joint_speed)
        self._limits = limits
        self._tick_s = tick_s
        self._patience = round(_PATIENCE_TICKS * tick_s / period_s)
        self._generator = Ruckig(size, period_s)
        self._input, self._output = InputParameter(size), OutputParameter(size)
        self._input.max_velocity = limits.joint_speed.tolist()
        self._input.max_acceleration = limits.joint_acceleration.tolist()
        self._input.max_jerk = (limits.joint_acceleration / _FULL_ACCELERATION_S).tolist()
        self.start_from(np.zeros(size))

    def start_from(self, joints: Vector) -> None:
        """Puts the set point on (n,) joints [rad], at rest."""
        zeros = [0.0] * len(joints)
        self._input.current_position = joints.tolist()
        self._input.current_velocity = zeros
        self._input.current_acceleration = zeros
        self._point = SetPoint(np.array(joints, dtype=float), np.zeros(len(joints)))
        self._generator.reset()
        self._at_rest = True
        self._since_target = 0

    @property
    def joint_speed(self) -> Vector:
        """(n,) largest speeds [rad/s]."""
        return self._limits.joint_speed

    @property
    def at_rest(self) -> bool:
        """Whether the set point stands and will stand until there is another target."""
        return self._at_rest

    def aim(self, target: Vector, velocity: Vector | None) -> None:
        """Takes the (n,) target of a tick [rad], and the (n,) speed at which it is expected to go on [rad/s]."""
        speed = self._limits.joint_speed
        self._input.control_interface = ControlInterface.Position
        self._input.target_position = target.tolist()
        going_on = np.zeros_like(target) if velocity is None else np.clip(velocity, -speed, speed)
        self._input.target_velocity = going_on.tolist()
        self._input.target_acceleration = [0.0] * len(target)
        self._input.minimum_duration = self._tick_s
        self._since_target = 0
        self._at_rest = False

    def slow_down(self) -> None:
        """Comes to rest as fast as the limits allow."""
        self._input.control_interface = ControlInterface.Velocity
        self._input.target_velocity = [0.0] * self._input.degrees_of_freedom
        self._input.target_acceleration = [0.0] * self._input.degrees_of_freedom
        self._input.minimum_duration = None
        self._at_rest = False

    def next(self) -> SetPoint:
        """Returns the next set point."""
        if self._at_rest:
            return self._point
        self._since_target += 1
        if self._since_target == self._patience:
            self.slow_down()
        result = self._generator.update(self._input, self._output)
        if result not in (Result.Working, Result.Finished):
            raise CobaltError(f'no set point follows {self._point.joints.tolist()}: {result}')
        self._output.pass_to_input(self._input)
        self._point = SetPoint(np.array(self._output.new_position), np.array(self._output.new_velocity))
        stands = result is Result.Finished and np.abs(self._point.velocities).max() < _ROUNDING
        if stands and self._since_target >= self._patience:
            self.start_from(self._point.joints)
        return self._point
