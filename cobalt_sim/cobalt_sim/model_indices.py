"""Where arms and objects are in the arrays of a model."""

from typing import Any

import mujoco
import numpy as np

from cobalt_sim.tasks.task import Task
from cobalt_teleop.kinematics.arm_set import ArmSet, StandingArm


class ArmIndices:
    """Where one arm is.

    Args:
        model: mujoco.MjModel.
        arm: Whose names in the model begin with its prefix.
    """

    def __init__(self, model: Any, arm: StandingArm) -> None:
        robot, prefix = arm.robot, arm.prefix
        joints = [model.joint(prefix + name) for name in robot.joints]
        self.arm_qpos = np.array([joint.qposadr[0] for joint in joints])
        self.arm_dofs = np.array([joint.dofadr[0] for joint in joints])
        self.arm_ctrl = np.array([model.actuator(prefix + name).id for name in robot.actuators])
        self.base_body = model.body(prefix + robot.base_body).id
        self.tool_site = model.site(prefix + robot.tool_site).id
        self.gripper_qpos = None
        self.gripper_ctrl = None
        self.fingertips: tuple[int, ...] = ()
        """Bodies, by number."""
        if robot.gripper is not None:
            self.gripper_qpos = int(model.joint(prefix + robot.gripper.joint).qposadr[0])
            self.gripper_ctrl = model.actuator(prefix + robot.gripper.actuator).id
            self.fingertips = tuple(model.body(prefix + name).id for name in robot.gripper.fingertips)


class ModelIndices:
    """Where all arms and objects are.

    Args:
        model: mujoco.MjModel.
        arms: Of the workcell.
        task: Whose objects are looked for.
    """

    def __init__(self, model: Any, arms: ArmSet, task: Task) -> None:
        self.arms = {arm.part: ArmIndices(model, arm) for arm in arms.arms}
        self.is_arm_body = np.isin(
            model.body_rootid, [model.body_rootid[indices.base_body] for indices in self.arms.values()]
        )
        self.object_bodies = {name: model.body(name).id for name in task.objects}
        self.object_mocap = {
            name: int(model.body_mocapid[body])
            for name, body in self.object_bodies.items()
            if model.body_mocapid[body] >= 0
        }
        of_objects = {name: model.joint(name) for name in task.objects if name not in self.object_mocap}
        self.object_qpos = {name: int(joint.qposadr[0]) for name, joint in of_objects.items()}
        self.one_way_objects = {
            name: joint.id for name, joint in of_objects.items() if joint.type[0] != mujoco.mjtJoint.mjJNT_FREE
        }
        self.body_of_geom = np.array(model.geom_bodyid)
