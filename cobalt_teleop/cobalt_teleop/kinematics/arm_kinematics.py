"""Forward and inverse kinematics of one arm, on MuJoCo's Jacobians."""

import math
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from cobalt_teleop.core.kinematics import JointSolution
from cobalt_teleop.core.pose import Pose, Vector, multiply, rotation_vector, xyzw
from cobalt_teleop.core.pose import inverse as inverse_rotation
from cobalt_teleop.core.tool_motion import length
from cobalt_teleop.kinematics.robot_description import RobotDescription

_ITERATIONS = 8
_POSITION_TOLERANCE = 1e-5
_ROTATION_TOLERANCE = 5e-5
_DAMPING = 2e-3
_SMALLEST_DAMPING = 3e-6
_LARGEST_STEP = 0.25
_HOME_PULL = 0.02

# Directions of the tool in which less of its speed than this is possible are damped, by up to this.
_SINGULAR_DEXTERITY = 0.2
_SINGULAR_DAMPING = 0.1

# Above this, a posture is so far from singular ones that nobody need know how its dexterity changes.
_WATCHED_DEXTERITY = 0.4

# No solution is sought further away than joints get in this time: it would belong to another posture.
_REACH_S = 0.1

# Steps that bring the tool no nearer are tried again with this share of them.
_CAUTION = 0.25


@cache
def _arm_model(model_path: Path, base_body: str, tool_site: str) -> Any:
    """Compiles the chain from base to tool alone, without shapes, with the base in the origin."""
    spec = mujoco.MjSpec.from_file(str(model_path))
    chain = set()
    body = spec.site(tool_site).parent
    while body is not None:
        chain.add(body.name)
        body = body.parent
    for group in (spec.geoms, spec.meshes, spec.actuators, spec.sensors, spec.tendons, spec.equalities, spec.excludes):
        for element in list(group):
            spec.delete(element)
    for body in list(spec.bodies):
        parent = body.parent
        if body.name not in chain and parent is not None and parent.name in chain:
            spec.delete(body)
    base = spec.body(base_body)
    base.pos, base.quat = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)
    for child in list(base.bodies):
        if child.name not in chain:
            spec.delete(child)
    return spec.compile()


class _Posture:
    """Joints, and the tool there. What is scaled is a share of the largest speeds of joints and tool.

    Attributes:
        joints: (n,) [rad].
        error: (6,) what is missing to the target, [m] and [rad], axes of the base frame.
        scaled_error: (6,) [s].
        scaled_jacobian: (6, n) from joints to tool.
        missing: Length of the scaled error [s].
    """

    def __init__(self, joints: Vector, error: Vector, scaled_error: Vector, scaled_jacobian: Vector) -> None:
        self.joints, self.error = joints, error
        self.scaled_error, self.scaled_jacobian = scaled_error, scaled_jacobian
        self.missing = length(scaled_error)

    @cached_property
    def directions(self) -> tuple[Vector, Vector]:
        """Squared singular values of the scaled Jacobian, (6,) in rising order, and their axes, (6, 6)."""
        squares, axes = np.linalg.eigh(self.scaled_jacobian @ self.scaled_jacobian.T)
        return squares, axes

    @property
    def dexterity(self) -> float:
        """The smallest singular value."""
        return math.sqrt(max(0.0, float(self.directions[0][0])))

    def with_joints(self, free: Any) -> '_Posture':
        """Returns the same posture, in which joints move only where `free`, (n,) of bool, says so."""
        return _Posture(self.joints, self.error, self.scaled_error, self.scaled_jacobian * free)


class ArmKinematics:
    """Kinematics of one arm in its base frame. The model is shared; each instance has its own state.

    The inverse is damped least squares with Sugihara's damping, proportional to the squared error
    ("Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt method", 2011), so that it stays calm where
    the target is out of reach; near singular postures, the directions that are nearly lost are damped, and these alone
    (Maciejewski and Klein, "Numerical filtering for the operation of robotic manipulators through kinematically
    singular configurations", 1988), so that the tool slows down there and the joints stay calm.

    Dexterity is the smallest singular value of the Jacobian (Klein and Blaho, "Dexterity measures for the design and
    control of kinematically redundant manipulators", 1987), scaled by the largest speeds of tool and joints so that it
    has no unit (Stocco, Salcudean and Sassani, "On the use of scaling matrices for task-specific robot design", 1999).
    """

    def __init__(self, robot: RobotDescription) -> None:
        self._model = _arm_model(robot.model_path, robot.base_body, robot.tool_site)
        self._data = mujoco.MjData(self._model)
        self._site = self._model.site(robot.tool_site).id
        joints = [self._model.joint(name) for name in robot.joints]
        self._qpos = np.array([joint.qposadr[0] for joint in joints])
        self._dofs = np.array([joint.dofadr[0] for joint in joints])
        self._limits = robot.limits
        self._home = robot.home
        self._joint_speed = robot.limits.joint_speed
        self._tool_speed = np.repeat([robot.limits.linear_speed, robot.limits.angular_speed], 3)
        self._scale = self._joint_speed / self._tool_speed[:, None]
        self._reach = self._joint_speed * _REACH_S
        self._jacobian = np.zeros((6, self._model.nv))
        self._quat_wxyz = np.zeros(4)

    def forward(self, joints: Vector) -> Pose:
        """Returns the tool's pose for (n,) joint positions [rad]."""
        self._data.qpos[self._qpos] = joints
        mujoco.mj_kinematics(self._model, self._data)
        mujoco.mju_mat2Quat(self._quat_wxyz, self._data.site_xmat[self._site])
        return Pose(self._data.site_xpos[self._site].copy(), xyzw(self._quat_wxyz))

    def forward_with_jacobian(self, joints: Vector) -> tuple[Pose, Vector]:
        """Returns the tool's pose for (n,) joint positions [rad], and the (6, n) Jacobian there.

        The Jacobian leads from joint speeds to the tool's linear and angular velocity, axes of the base frame.
        """
        pose = self.forward(joints)
        self._measure_jacobian()
        return pose, self._jacobian[:, self._dofs]

    def solve(self, target: Pose, seed: Vector) -> JointSolution:
        """Returns the joints near `seed` (n,) [rad] that bring the tool to the target in the base frame.

        A seed that reaches the target comes back unchanged. No joint leaves its range less the margin, or goes further
        out of it than the seed already is.
        """
        here = self._posture(target, np.array(seed, dtype=float))
        if self._small(here.error):
            return _solution(here)
        lower, upper = self._limits.joint_bounds(here.joints)
        seed_dexterity, at_end, caution = here.dexterity, False, 1.0
        for _ in range(_ITERATIONS):
            step, at_end = self._step(here, lower, upper)
            joints = np.clip(here.joints + caution * step, lower, upper)
            too_far = float(np.max(np.abs(joints - seed) / self._reach))
            if too_far > 1.0:
                joints = seed + (joints - seed) / too_far
            there = self._posture(target, joints)
            if there.missing >= here.missing:
                caution *= _CAUTION
                continue
            here = there
            if too_far > 1.0 or self._small(here.error):
                break
        dexterity = here.dexterity if seed_dexterity < _WATCHED_DEXTERITY else seed_dexterity
        return _solution(
            here,
            at_end=at_end,
            near_singular=dexterity < _SINGULAR_DEXTERITY and not self._small(here.error),
            seed_dexterity=seed_dexterity,
            dexterity=dexterity,
        )

    def _posture(self, target: Pose, joints: Vector) -> _Posture:
        error = self._error(target, joints)
        self._measure_jacobian()
        return _Posture(joints, error, error / self._tool_speed, self._jacobian[:, self._dofs] * self._scale)

    def _measure_jacobian(self) -> None:
        """Measures it at the posture of the last `forward`."""
        mujoco.mj_comPos(self._model, self._data)
        mujoco.mj_jacSite(self._model, self._data, self._jacobian[:3], self._jacobian[3:], self._site)

    def _error(self, target: Pose, joints: Vector) -> Vector:
        """Returns (6,) what is missing to the target, [m] and [rad], axes of the base frame."""
        tool = self.forward(joints)
        turn = rotation_vector(multiply(target.quat_xyzw, inverse_rotation(tool.quat_xyzw)))
        return np.concatenate([target.position - tool.position, turn])

    @staticmethod
    def _small(error: Vector) -> bool:
        return length(error[:3]) < _POSITION_TOLERANCE and length(error[3:]) < _ROTATION_TOLERANCE

    def _step(self, posture: _Posture, lower: Vector, upper: Vector) -> tuple[Vector, bool]:
        """Returns (n,) a bounded step, and whether a joint would leave its range."""
        joints = posture.joints
        step = self._damped_step(posture)
        # A joint that would leave its range stands still, and the others do its work.
        blocked = ((joints <= lower) & (step < 0)) | ((joints >= upper) & (step > 0))
        if blocked.any():
            free = ~blocked
            step = self._damped_step(posture.with_joints(free)) * free
        largest = float(np.abs(step).max())
        return (step * (_LARGEST_STEP / largest) if largest > _LARGEST_STEP else step), bool(blocked.any())

    def _damped_step(self, posture: _Posture) -> Vector:
        squares, axes = posture.directions
        near_singular = np.maximum(0.0, 1.0 - squares / _SINGULAR_DEXTERITY**2)
        damping = _DAMPING * posture.missing**2 + _SMALLEST_DAMPING + _SINGULAR_DAMPING * near_singular**2
        # The pull home fades with the error, so that it never moves an arm that stands.
        pull = (self._home - posture.joints) / self._joint_speed * min(_HOME_PULL, posture.missing)
        wanted = axes.T @ (posture.scaled_error - posture.scaled_jacobian @ pull)
        step = pull + posture.scaled_jacobian.T @ (axes @ (wanted / (squares + damping)))
        return np.asarray(step * self._joint_speed)


def _solution(posture: _Posture, **more: Any) -> JointSolution:
    error = posture.error
    return JointSolution(posture.joints, length(error[:3]), length(error[3:]), **more)
