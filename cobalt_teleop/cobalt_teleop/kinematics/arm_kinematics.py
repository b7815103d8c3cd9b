"""Forward and inverse kinematics of one arm, on MuJoCo's Jacobians."""

from functools import cache
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from cobalt_teleop.core.kinematics import JointSolution
from cobalt_teleop.core.pose import Pose, Vector, multiply, rotation_vector, xyzw
from cobalt_teleop.core.pose import inverse as inverse_rotation
from cobalt_teleop.kinematics.robot_description import RobotDescription

_ITERATIONS = 8
_POSITION_TOLERANCE = 1e-5
_ROTATION_TOLERANCE = 5e-5
_DAMPING = 1e-3
_SMALLEST_DAMPING = 1e-7
_LARGEST_STEP = 0.25
_HOME_PULL = 0.02


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


class ArmKinematics:
    """Kinematics of one arm in its base frame. The model is shared; each instance has its own state.

    The inverse is damped least squares with Sugihara's damping, proportional to the squared error
    ("Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt method", 2011), so that it stays calm where
    the target is out of reach.
    """

    def __init__(self, robot: RobotDescription) -> None:
        self._model = _arm_model(robot.model_path, robot.base_body, robot.tool_site)
        self._data = mujoco.MjData(self._model)
        self._site = self._model.site(robot.tool_site).id
        joints = [self._model.joint(name) for name in robot.joints]
        self._qpos = np.array([joint.qposadr[0] for joint in joints])
        self._dofs = np.array([joint.dofadr[0] for joint in joints])
        self._lower = robot.limits.joint_lower
        self._upper = robot.limits.joint_upper
        self._home = robot.home
        self._jacobian = np.zeros((6, self._model.nv))
        self._quat_wxyz = np.zeros(4)

    def forward(self, joints: Vector) -> Pose:
        """Returns the tool's pose for (n,) joint positions [rad]."""
        self._data.qpos[self._qpos] = joints
        mujoco.mj_kinematics(self._model, self._data)
        mujoco.mju_mat2Quat(self._quat_wxyz, self._data.site_xmat[self._site])
        return Pose(self._data.site_xpos[self._site].copy(), xyzw(self._quat_wxyz))

    def solve(self, target: Pose, seed: Vector) -> JointSolution:
        """Returns the joints near `seed` (n,) [rad] that bring the tool to the target in the base frame.

        A seed that reaches the target comes back unchanged. No joint leaves its range, or goes further out of it than
        the seed already is.
        """
        joints = np.array(seed, dtype=float)
        lower = np.minimum(self._lower, joints)
        upper = np.maximum(self._upper, joints)
        error = self._error(target, joints)
        for _ in range(_ITERATIONS):
            if self._small(error):
                break
            joints = np.clip(joints + self._step(error, joints, lower, upper), lower, upper)
            error = self._error(target, joints)
        return JointSolution(joints, float(np.linalg.norm(error[:3])), float(np.linalg.norm(error[3:])))

    def _error(self, target: Pose, joints: Vector) -> Vector:
        """Returns (6,) what is missing to the target, [m] and [rad], axes of the base frame."""
        tool = self.forward(joints)
        turn = rotation_vector(multiply(target.quat_xyzw, inverse_rotation(tool.quat_xyzw)))
        return np.concatenate([target.position - tool.position, turn])

    @staticmethod
    def _small(error: Vector) -> bool:
        place, turn = np.linalg.norm(error[:3]), np.linalg.norm(error[3:])
        return bool(place < _POSITION_TOLERANCE and turn < _ROTATION_TOLERANCE)

    def _step(self, error: Vector, joints: Vector, lower: Vector, upper: Vector) -> Vector:
        """Returns (n,) a bounded step of the joints at which the state's kinematics stand."""
        mujoco.mj_comPos(self._model, self._data)
        mujoco.mj_jacSite(self._model, self._data, self._jacobian[:3], self._jacobian[3:], self._site)
        jacobian = self._jacobian[:, self._dofs]
        free = np.ones(len(joints), dtype=bool)
        step = self._damped_step(jacobian, error, joints)
        # A joint that would leave its range stands still, and the others do its work.
        blocked = ((joints <= lower) & (step < 0)) | ((joints >= upper) & (step > 0))
        if blocked.any():
            free = ~blocked
            step = self._damped_step(jacobian * free, error, joints) * free
        largest = float(np.abs(step).max())
        return step * (_LARGEST_STEP / largest) if largest > _LARGEST_STEP else step

    def _damped_step(self, jacobian: Vector, error: Vector, joints: Vector) -> Vector:
        damping = _DAMPING * float(error @ error) + _SMALLEST_DAMPING
        gram = jacobian @ jacobian.T
        gram[np.diag_indices(6)] += damping
        # The pull home fades with the error, so that it never moves an arm that stands.
        pull = (self._home - joints) * min(_HOME_PULL, float(np.linalg.norm(error)))
        return pull + jacobian.T @ np.linalg.solve(gram, error - jacobian @ pull)
