"""From a policy's numbers to the pose that the guard is asked for."""

from typing import Protocol

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.limits import PartLimits
from cobalt_teleop.core.pose import Pose, Vector, inverse, multiply, quaternion, rotation_vector

# How far the asked pose may be from the accepted target. It is what the target needs to brake from its largest speed;
# more would wind up, and a turn-about would look like lost tracking to the guard, whose gate opens at 5 cm a tick.
_LEASH_M = 0.018
_LEASH_RAD = 0.25

Action = NDArray[np.float32]


class ActionMap(Protocol):
    """Turns actions into poses that are asked for."""

    @property
    def space(self) -> Box:
        """The space of one action."""
        ...

    def wanted(self, action: Action, asked: Pose) -> tuple[Pose, float]:
        """Returns the pose that an action wants, in the base frame, and the gripper, 0 closed to 1 open.

        Args:
            action: Of this tick.
            asked: Pose that was asked for in the tick before.
        """
        ...


class DeltaActions:
    """Seven numbers in -1 to 1: way and turn of the tool in this tick, axes of the base frame, and the gripper.

    1 is the guard's largest speed; the gripper is closed at -1 and open at 1.

    Args:
        limits: Of the arm.
        period_s: Tick [s].
    """

    def __init__(self, limits: PartLimits, period_s: float) -> None:
        self.space = Box(-1.0, 1.0, (7,), np.float32)
        self._way_m = limits.linear_speed * period_s
        self._turn_rad = limits.angular_speed * period_s

    def wanted(self, action: Action, asked: Pose) -> tuple[Pose, float]:
        """Returns the pose that was asked for, moved on, and the gripper."""
        values = np.clip(np.asarray(action, dtype=float), -1.0, 1.0)
        turn = quaternion(values[3:6] * self._turn_rad)
        return _moved(asked, values[:3] * self._way_m, turn), float(values[6] + 1.0) / 2.0


class AbsoluteActions:
    """Eight numbers: position [m] and quaternion xyzw of the tool in the base frame, and the gripper, 0 to 1.

    A pose that is far away is approached at the guard's speed. A quaternion of another length is brought to length 1;
    one of no length keeps the tool's rotation.

    Args:
        limits: Of the arm.
    """

    def __init__(self, limits: PartLimits) -> None:
        lower = np.array([*limits.workspace_min, -1.0, -1.0, -1.0, -1.0, 0.0], np.float32)
        upper = np.array([*limits.workspace_max, 1.0, 1.0, 1.0, 1.0, 1.0], np.float32)
        self.space = Box(lower, upper, dtype=np.float32)

    def wanted(self, action: Action, asked: Pose) -> tuple[Pose, float]:
        """Returns the pose and the gripper that the action names."""
        values = np.asarray(action, dtype=float)
        length = float(np.linalg.norm(values[3:7]))
        rotation = values[3:7] / length if length > 1e-6 else asked.quat_xyzw
        return Pose(values[:3].copy(), rotation), float(np.clip(values[7], 0.0, 1.0))


def on_leash(wanted: Pose, target: Pose) -> Pose:
    """Returns the pose on the way from the accepted target to a wanted pose that may be asked for."""
    turn = rotation_vector(multiply(wanted.quat_xyzw, inverse(target.quat_xyzw)))
    return _moved(target, _within(wanted.position - target.position, _LEASH_M), quaternion(_within(turn, _LEASH_RAD)))


def checked(action: Action, space: Box) -> Action:
    """Returns an action as an array.

    Raises:
        CobaltError: It has another shape than the space, or a number that is not finite.
    """
    values = np.asarray(action)
    if values.shape != space.shape:
        raise CobaltError(f'an action has the shape {space.shape}, not {values.shape}')
    if not np.isfinite(values).all():
        raise CobaltError(f'an action must be finite, not {values.tolist()}')
    return values


def _moved(pose: Pose, way: Vector, turn_xyzw: Vector) -> Pose:
    turned = multiply(turn_xyzw, pose.quat_xyzw)
    return Pose(pose.position + way, turned / np.linalg.norm(turned))


def _within(vector: Vector, length: float) -> Vector:
    norm = float(np.linalg.norm(vector))
    return vector if norm <= length else vector * (length / norm)
