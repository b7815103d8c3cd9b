"""How an arm's servos follow the joint targets of successive ticks.

A target that is held through its tick makes an arm lag by half a tick and jerk at every tick, and a position servo lags
behind a target that moves by its damping over its stiffness. Here the set point of the servos runs evenly through each
tick, to where the target is and most of what it is expected to go on; and it leads by most of the servo's own lag.
"""

from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np

from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.pose import Vector

# Chosen with bench_tracking.py. All of both takes 20 ms more off the lag, but then the arm swings by twice as much over
# the place where a hand stops at once.
_SHARE_OF_EXPECTED = 0.6
_SHARE_OF_SERVO_LAG = 0.9

# From rest the set point gets ahead by and by, so that the arm is never much faster than the guard lets its target be.
_CATCHING_UP = 0.15


def make_servos_run(spec: Any, actuators: Sequence[str]) -> None:
    """Turns position servos of a mujoco.MjSpec into ones whose control value is the speed of their set point [rad/s].

    The set point itself is their activation [rad].

    Raises:
        CobaltError: An actuator is no position servo.
    """
    for name in actuators:
        servo = spec.actuator(name)
        stiffness = float(servo.gainprm[0])
        is_servo = (
            servo.gaintype == mujoco.mjtGain.mjGAIN_FIXED
            and servo.biastype == mujoco.mjtBias.mjBIAS_AFFINE
            and stiffness > 0.0
            and stiffness == -float(servo.biasprm[1])
        )
        if not is_servo:
            raise CobaltError(f"the actuator '{name}' of {spec.modelname} must be a position servo: <position kp kv>")
        servo.dyntype = mujoco.mjtDyn.mjDYN_INTEGRATOR
        servo.ctrllimited = False
        servo.actlimited = False


class ArmDrive:
    """The set point of one arm's servos, through one tick after the other.

    Args:
        model: mujoco.MjModel whose servos run.
        actuators: (n,) numbers of the servos.
        joint_lower: (n,) [rad].
        joint_upper: (n,) [rad].
        joint_speed: (n,) at which the set point runs at most [rad/s].
        tick_s: Control period [s].
    """

    def __init__(
        self,
        model: Any,
        actuators: Any,
        *,
        joint_lower: Vector,
        joint_upper: Vector,
        joint_speed: Vector,
        tick_s: float,
    ) -> None:
        self._ctrl = actuators
        self._act = model.actuator_actadr[actuators]
        damping, stiffness = -model.actuator_biasprm[actuators, 2], model.actuator_gainprm[actuators, 0]
        self._lead_s = _SHARE_OF_SERVO_LAG * damping / stiffness
        self._lower, self._upper, self._speed = joint_lower, joint_upper, joint_speed
        self._tick_s = tick_s
        self._target = np.zeros(len(actuators))
        self._ahead = self._was_ahead = np.zeros(len(actuators))

    def rest_at(self, data: Any, joints: Vector) -> None:
        """Makes the servos of a mujoco.MjData hold (n,) joint positions [rad]."""
        self._target = np.array(joints, dtype=float)
        self._ahead = self._was_ahead = np.zeros_like(self._target)
        data.act[self._act] = self._target
        data.ctrl[self._ctrl] = 0.0

    @property
    def state(self) -> Vector:
        """(2 n,) what it knows of the tick before: targets, and how far the set points were ahead of them [rad]."""
        return np.concatenate([self._target, self._was_ahead])

    @state.setter
    def state(self, state: Vector) -> None:
        self._target, self._was_ahead = np.split(np.array(state, dtype=float), 2)
        self._ahead = np.zeros_like(self._target)

    def aim(self, target: Vector, velocity: Vector | None) -> None:
        """Takes the (n,) targets of the tick that begins [rad], and how fast they are expected to go on [rad/s]."""
        step = target - self._target
        self._target = np.array(target, dtype=float)
        if velocity is None:
            return
        ahead = velocity * (_SHARE_OF_EXPECTED * self._tick_s)
        already = np.maximum(self._was_ahead * np.sign(ahead), 0.0)
        self._ahead = np.sign(ahead) * np.minimum(np.abs(ahead), already + _CATCHING_UP * np.abs(step))

    def run(self, data: Any) -> None:
        """Sets the servos of a mujoco.MjData for one tick; without a fresh aim they come to rest at the last one."""
        # A joint that is outside its range already is not thrown back.
        lower, upper = np.minimum(self._lower, self._target), np.maximum(self._upper, self._target)
        goal = np.clip(self._target + self._ahead, lower, upper)
        set_point = data.act[self._act] - self._lead_s * data.ctrl[self._ctrl]
        velocity = np.clip((goal - set_point) / self._tick_s, -self._speed, self._speed)
        data.act[self._act] = set_point + self._lead_s * velocity
        data.ctrl[self._ctrl] = velocity
        self._was_ahead, self._ahead = self._ahead, np.zeros_like(self._target)
