"""One simulated workcell, as its host drives it."""

import time
from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np

from cobalt_sim import goal_scene
from cobalt_sim.arm_drive import ArmDrive
from cobalt_sim.scene import FRONT
from cobalt_sim.sim_world import SimWorld
from cobalt_sim.tasks.task import SceneState
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.pose import Pose, Vector, rotation_vector, wxyz, xyzw
from cobalt_teleop.kinematics.arm_kinematics import ArmKinematics
from cobalt_teleop.workcell_host.plant import (
    Capabilities,
    Observation,
    PartAction,
    PartDescription,
    PartState,
    Picture,
    Progress,
    TaskInfo,
)

PART = 'arm'

_UNSTABLE = (
    mujoco.mjtWarning.mjWARN_BADQPOS,
    mujoco.mjtWarning.mjWARN_BADQVEL,
    mujoco.mjtWarning.mjWARN_BADQACC,
)


class MujocoPlant:
    """A workcell with a state of its own in a shared world.

    Args:
        world: Shared with the other workcells.
        seed: Of the first start state.
    """

    def __init__(self, world: SimWorld, seed: int = 0) -> None:
        self._world = world
        self._data = mujoco.MjData(world.model)
        self._kinematics = ArmKinematics(world.robot)
        self._quat_wxyz = np.zeros(4)
        self._velocity = np.zeros(6)
        self._capabilities = self._describe()
        self._drive = self._make_drive()
        self.reset(world.task.info.name, seed)

    def _make_drive(self) -> ArmDrive:
        limits = self._world.robot.limits
        return ArmDrive(
            self._world.model,
            self._world.indices.arm_ctrl,
            joint_lower=limits.joint_lower,
            joint_upper=limits.joint_upper,
            joint_speed=limits.joint_speed,
            tick_s=self._world.tick_s,
        )

    def _describe(self) -> Capabilities:
        robot = self._world.robot
        return Capabilities(
            real=False,
            robot=robot.title,
            parts=(
                PartDescription(
                    name=PART,
                    robot=robot.name,
                    joint_names=robot.joints,
                    gripper_joint_name=robot.gripper.joint if robot.gripper else '',
                    home=robot.home,
                    limits=robot.limits,
                    kinematics=self._kinematics,
                ),
            ),
            cameras=tuple(self._world.cameras.values()),
            objects=self._world.task.objects,
            tasks=(self._world.task.info.name,),
            can_reset=True,
            judges_success=True,
        )

    @property
    def capabilities(self) -> Capabilities:
        """What it is and can do; constant."""
        return self._capabilities

    @property
    def data(self) -> Any:
        """The mujoco.MjData: the true state, for tests and measurements."""
        return self._data

    def task_info(self, task: str) -> TaskInfo:
        """Returns what the task asks for."""
        self._check_task(task)
        return self._world.task.info

    def _check_task(self, task: str) -> None:
        if task != self._world.task.info.name:
            raise CobaltError(
                f"this simulator runs the task '{self._world.task.info.name}', not '{task}'; start it with task:={task}"
            )

    def observe(self) -> Observation:
        """Returns the measured state. Does not wait."""
        return self._observation

    def apply(self, actions: Mapping[str, PartAction]) -> None:
        """Takes the targets for this tick. After a fault the arm stays in its start state until the next reset."""
        indices, gripper = self._world.indices, self._world.robot.gripper
        action = actions.get(PART)
        if action is None or self._fault:
            return
        self._drive.aim(action.joint_targets, action.joint_velocities)
        if gripper is not None:
            self._data.ctrl[indices.gripper_ctrl] = gripper.control(action.gripper_target)

    def advance(self) -> None:
        """Simulates one control period. Releases the interpreter's lock meanwhile."""
        self._drive.run(self._data)
        mujoco.mj_step(self._world.model, self._data, nstep=self._world.substeps)
        if self._unstable():
            fault = f'the simulation became unstable at {self._data.time:.2f} s and was reset; start a new episode'
            self.reset(self._world.task.info.name, self._seed)
            self._fault = fault
        else:
            mujoco.mj_forward(self._world.model, self._data)
        self._look()

    def _unstable(self) -> bool:
        bad = any(self._data.warning[warning].number for warning in _UNSTABLE)
        return bad or not (np.isfinite(self._data.qpos).all() and np.isfinite(self._data.qvel).all())

    def progress(self) -> Progress:
        """Returns the progress of the present state."""
        return self._progress

    def reset(self, task: str, seed: int) -> None:
        """Brings this workcell, and no other, into the start state that belongs to the seed."""
        self._check_task(task)
        self._seed = seed
        self._fault = ''
        self._rest_at(self._world.robot.home, self._world.task.start(np.random.default_rng(seed)))
        self._judge = self._world.task.new_judge()
        self._look()

    def show_goal(self) -> None:
        """Brings this workcell into a state in which its task is done: a scene to look at, not one to drive from."""
        goal = self._world.task.goal()
        joints = goal_scene.joints_at(self._kinematics, self._world.robot.home, goal.tool, goal.quat_xyzw)
        self._rest_at(joints, goal.objects)
        goal_scene.close_on_objects(self._world, self._data, self._drive, goal.gripper)
        self._judge = self._world.task.new_judge()
        self._look()

    def _rest_at(self, joints: Vector, objects: Mapping[str, Pose]) -> None:
        """Puts the arm at (n,) joints [rad], with an open gripper, and the objects at poses in the base frame."""
        model, data, indices, robot = self._world.model, self._data, self._world.indices, self._world.robot
        mujoco.mj_resetData(model, data)
        data.qpos[indices.arm_qpos] = joints
        self._drive.rest_at(data, joints)
        if robot.gripper is not None:
            data.ctrl[indices.gripper_ctrl] = robot.gripper.actuator_open
        mujoco.mj_kinematics(model, data)
        base = self._body_pose(indices.base_body)
        self._base_from_world = base.inverse()
        for name, pose_in_base in objects.items():
            self._put(name, base @ pose_in_base)
        mujoco.mj_forward(model, data)

    def _put(self, name: str, pose: Pose) -> None:
        """Puts an object at a pose in the world frame."""
        data, indices = self._data, self._world.indices
        if name in indices.object_mocap:
            data.mocap_pos[indices.object_mocap[name]] = pose.position
            data.mocap_quat[indices.object_mocap[name]] = wxyz(pose.quat_xyzw)
            return
        at = indices.object_qpos[name]
        if name in indices.one_way_objects:
            data.qpos[at] = self._joint_position(indices.one_way_objects[name], pose)
            return
        data.qpos[at : at + 3] = pose.position
        data.qpos[at + 3 : at + 7] = wxyz(pose.quat_xyzw)

    def _joint_position(self, joint: int, pose: Pose) -> float:
        """Returns the position of a slide [m] or hinge [rad] that brings its body, a child of the world, to a pose."""
        model = self._world.model
        body = model.jnt_bodyid[joint]
        moved = Pose(model.body_pos[body], xyzw(model.body_quat[body])).inverse() @ pose
        slides = model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_SLIDE
        return float(model.jnt_axis[joint] @ (moved.position if slides else rotation_vector(moved.quat_xyzw)))

    def hold(self) -> None:
        """Keeps the present targets."""

    def stop(self) -> None:
        """Emergency stop: the servos hold the joints where they are now."""
        self._drive.rest_at(self._data, self._data.qpos[self._world.indices.arm_qpos])

    def capture(self, camera: str, size_px: tuple[int, int] | None = None) -> Picture:
        """Returns a picture of the present state, (height, width, 3) RGB, from the calling thread's own context.

        Args:
            camera: Its name.
            size_px: Width and height; the camera's own by default.
        """
        return self._world.draw(self._data, camera, size_px)

    def goal_picture(self, task: str) -> Picture | None:
        """Returns what the front camera sees when the task is done; None if there are no cameras.

        Drawn once for all workcells of a world, of a state of its own, with the calling thread's own context.
        """
        self._check_task(task)
        return self._world.goal_picture(self._draw_goal)

    def _draw_goal(self) -> Picture:
        scene = MujocoPlant(self._world)
        scene.show_goal()
        return np.ascontiguousarray(scene.capture(FRONT, goal_scene.DRAWN_PX)[goal_scene.CUT_OUT])

    def close(self) -> None:
        """Frees the calling thread's drawing context; the state goes with the plant."""
        self._world.close_thread()

    def _body_pose(self, body: int) -> Pose:
        return Pose(self._data.xpos[body].copy(), xyzw(self._data.xquat[body]))

    def _look(self) -> None:
        """Measures the present state and judges it. To be called once a state."""
        data, indices, robot = self._data, self._world.indices, self._world.robot
        from_world = self._base_from_world
        mujoco.mju_mat2Quat(self._quat_wxyz, data.site_xmat[indices.tool_site])
        tool = from_world @ Pose(data.site_xpos[indices.tool_site].copy(), xyzw(self._quat_wxyz))
        objects = {name: from_world @ self._body_pose(body) for name, body in indices.object_bodies.items()}
        gripper = 0.0 if robot.gripper is None else robot.gripper.opening(float(data.qpos[indices.gripper_qpos]))
        self._observation = Observation(
            stamp_ns=time.time_ns(),
            sim_time=float(data.time),
            parts={
                PART: PartState(
                    pose=tool,
                    twist=self._tool_twist(),
                    joint_positions=data.qpos[indices.arm_qpos],
                    joint_velocities=data.qvel[indices.arm_dofs],
                    joint_efforts=data.qfrc_actuator[indices.arm_dofs],
                    gripper=gripper,
                )
            },
            objects=objects,
            faults=(self._fault,) if self._fault else (),
        )
        held, touched = self._grasp()
        self._progress = self._judge.judge(
            SceneState(time=float(data.time), tool=tool, gripper=gripper, objects=objects, held=held, touched=touched)
        )

    def _tool_twist(self) -> Vector:
        """Returns (6,) linear and angular velocity of the tool, axes of the base frame."""
        indices = self._world.indices
        mujoco.mj_objectVelocity(
            self._world.model, self._data, mujoco.mjtObj.mjOBJ_SITE, indices.tool_site, self._velocity, 0
        )
        to_base = self._data.xmat[indices.base_body].reshape(3, 3).T
        return np.concatenate([to_base @ self._velocity[3:], to_base @ self._velocity[:3]])

    def _grasp(self) -> tuple[frozenset[str], frozenset[str]]:
        """Returns the objects that every fingertip touches, and those that any part of the arm touches."""
        indices = self._world.indices
        bodies = indices.body_of_geom[self._data.contact.geom]
        held, touched = set(), set()
        for name, body in indices.object_bodies.items():
            partners = np.concatenate([bodies[bodies[:, 0] == body, 1], bodies[bodies[:, 1] == body, 0]])
            if not indices.is_arm_body[partners].any():
                continue
            touched.add(name)
            tips = indices.fingertip_of_body[partners]
            if indices.fingertips and len(set(tips[tips >= 0])) == indices.fingertips:
                held.add(name)
        return frozenset(held), frozenset(touched)
