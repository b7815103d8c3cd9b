"""One arm of a simulated workcell, as its plant drives and measures it."""

from typing import Any

import mujoco
import numpy as np

from cobalt_sim.arm_drive import ArmDrive
from cobalt_sim.model_indices import ArmIndices
from cobalt_teleop.core.pose import Pose, Vector, xyzw
from cobalt_teleop.kinematics.arm_kinematics import ArmKinematics
from cobalt_teleop.kinematics.arm_set import StandingArm
from cobalt_teleop.workcell_host.plant import PartAction, PartDescription, PartState
from cobalt_teleop.workcell_host.robot_part import robot_part


class PlantArm:
    """One arm.

    Args:
        arm: What it is and where it stands.
        model: mujoco.MjModel that it is in.
        data: mujoco.MjData of its workcell.
        indices: Where it is in the model.
        tick_s: Control period [s].
    """

    def __init__(self, arm: StandingArm, model: Any, data: Any, indices: ArmIndices, tick_s: float) -> None:
        limits = arm.robot.limits
        self._arm, self._robot = arm, arm.robot
        self._model, self._data, self._indices = model, data, indices
        self.kinematics = ArmKinematics(arm.robot)
        self.drive = ArmDrive(
            model,
            indices.arm_ctrl,
            joint_lower=limits.joint_lower,
            joint_upper=limits.joint_upper,
            joint_speed=limits.joint_speed,
            tick_s=tick_s,
        )
        self.base = Pose()
        """Of its base in the world."""
        self._base_from_world = Pose()
        self._quat_wxyz = np.zeros(4)
        self._velocity = np.zeros(6)

    def describe(self) -> PartDescription:
        """Returns what the host knows of it."""
        return robot_part(self._arm.part, self._robot, self.kinematics)

    def rest_at(self, joints: Vector) -> None:
        """Puts it at (n,) joints [rad], with an open gripper."""
        self._data.qpos[self._indices.arm_qpos] = joints
        self.drive.rest_at(self._data, joints)
        if self._robot.gripper is not None:
            self._data.ctrl[self._indices.gripper_ctrl] = self._robot.gripper.actuator_open

    def find_base(self) -> None:
        """Looks where its base stands, which physics does not move."""
        body = self._indices.base_body
        self.base = Pose(self._data.xpos[body].copy(), xyzw(self._data.xquat[body]))
        self._base_from_world = self.base.inverse()

    def aim(self, action: PartAction) -> None:
        """Takes the targets of a tick."""
        self.drive.aim(action.joint_targets, action.joint_velocities)
        self.grip(action.gripper_target)

    def grip(self, opening: float) -> None:
        """Moves the gripper to 0 closed to 1 open."""
        if self._robot.gripper is not None:
            self._data.ctrl[self._indices.gripper_ctrl] = self._robot.gripper.control(opening)

    def stop(self) -> None:
        """Makes the servos hold the joints where they are now."""
        self.drive.rest_at(self._data, self._data.qpos[self._indices.arm_qpos])

    def measure(self) -> PartState:
        """Returns its state, in its own base frame."""
        data, indices, gripper = self._data, self._indices, self._robot.gripper
        return PartState(
            pose=self._base_from_world @ self.tool(),
            twist=self._tool_twist(),
            joint_positions=data.qpos[indices.arm_qpos],
            joint_velocities=data.qvel[indices.arm_dofs],
            joint_efforts=data.qfrc_actuator[indices.arm_dofs],
            gripper=0.0 if gripper is None else gripper.opening(float(data.qpos[indices.gripper_qpos])),
        )

    def tool(self) -> Pose:
        """Returns the pose of its tool in the world."""
        site = self._indices.tool_site
        mujoco.mju_mat2Quat(self._quat_wxyz, self._data.site_xmat[site])
        return Pose(self._data.site_xpos[site].copy(), xyzw(self._quat_wxyz))

    def holds(self, touching: Any) -> bool:
        """Returns whether every fingertip is among some bodies, given by number."""
        tips = self._indices.fingertips
        return bool(tips) and bool(np.isin(tips, touching).all())

    def _tool_twist(self) -> Vector:
        """Returns (6,) linear and angular velocity of the tool, axes of the base frame."""
        indices = self._indices
        mujoco.mj_objectVelocity(
            self._model, self._data, mujoco.mjtObj.mjOBJ_SITE, indices.tool_site, self._velocity, 0
        )
        to_base = self._data.xmat[indices.base_body].reshape(3, 3).T
        return np.concatenate([to_base @ self._velocity[3:], to_base @ self._velocity[:3]])
