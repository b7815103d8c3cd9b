"""One MuJoCo model and many workcells in it."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

import mujoco
import numpy as np

from cobalt_sim import scene
from cobalt_sim.blob_shadows import BlobShadows
from cobalt_sim.render_backend import context_class, find_backend
from cobalt_sim.render_context import ThreadRenderer
from cobalt_sim.render_profile import RenderProfile
from cobalt_sim.tasks.task import Task
from cobalt_teleop.kinematics.robot_description import RobotDescription
from cobalt_teleop.workcell_host.plant import CameraModel, Picture

# The plant tells of an unstable simulation in its observation; MuJoCo's own warning would write a log file.
mujoco.set_mju_user_warning(lambda message: None)


class SimWorld:
    """What all workcells of a simulator share: model, indices into it, cameras and the renderer.

    Args:
        robot: The arm.
        task: What stands on the table.
        cameras: Cameras with their sizes; empty for a world without pictures, which needs no OpenGL.
        profile: What a picture may cost.
        tick_s: Simulated time of one control period [s].

    Raises:
        CobaltError: A camera does not exist, or no OpenGL works.
    """

    def __init__(
        self,
        robot: RobotDescription,
        task: Task,
        cameras: Sequence[CameraModel],
        profile: RenderProfile,
        *,
        tick_s: float = 0.05,
    ) -> None:
        self.robot = robot
        self.task = task
        self.cameras = {camera.name: camera for camera in cameras}
        self.substeps = max(1, round(tick_s / scene.TIMESTEP_S))
        self.tick_s = self.substeps * scene.TIMESTEP_S
        """Simulated time of one control period, in whole steps of the physics [s]."""
        self.model = scene.build_model(robot, task, profile, cameras)
        self.indices = ModelIndices(self.model, robot, task)
        self._renderer = self._make_renderer(profile) if cameras else None
        self._goal_picture: Picture | None = None
        self._goal_lock = threading.Lock()

    def _make_renderer(self, profile: RenderProfile) -> ThreadRenderer:
        blobs = BlobShadows(
            self.model,
            objects=list(self.indices.object_bodies.values()),
            fingertips=np.flatnonzero(self.indices.fingertip_of_body >= 0).tolist(),
            table_min=scene.TABLE_MIN,
            table_max=scene.TABLE_MAX,
        )
        return ThreadRenderer(
            self.model,
            context_class(find_backend()),
            shadows=profile.shadows == 'cast',
            blobs=blobs if profile.shadows == 'blob' else None,
        )

    def draw(self, data: Any, camera: str, size_px: tuple[int, int] | None = None) -> Picture:
        """Returns a picture of a workcell, (height, width, 3) RGB, drawn with the calling thread's own context.

        Args:
            data: mujoco.MjData of the workcell.
            camera: Its name.
            size_px: Width and height; the camera's own by default.
        """
        if self._renderer is None:
            raise RuntimeError('this world has no cameras')
        width, height = size_px or (self.cameras[camera].width, self.cameras[camera].height)
        return self._renderer.draw(data, camera, width, height)

    def goal_picture(self, draw: Callable[[], Picture]) -> Picture | None:
        """Returns the picture of the task's goal, which the first call draws; None for a world without cameras."""
        with self._goal_lock:
            if self._goal_picture is None and self._renderer is not None:
                self._goal_picture = draw()
            return self._goal_picture

    def close_thread(self) -> None:
        """Frees the calling thread's context, which every thread that drew shall do before it ends."""
        if self._renderer is not None:
            self._renderer.close_thread()


class ModelIndices:
    """Where the arm and the objects are in the arrays of a model."""

    def __init__(self, model: Any, robot: RobotDescription, task: Task) -> None:
        joints = [model.joint(name) for name in robot.joints]
        self.arm_qpos = np.array([joint.qposadr[0] for joint in joints])
        self.arm_dofs = np.array([joint.dofadr[0] for joint in joints])
        self.arm_ctrl = np.array([model.actuator(name).id for name in robot.actuators])
        self.base_body = model.body(robot.base_body).id
        self.tool_site = model.site(robot.tool_site).id
        self.gripper_qpos = None
        self.gripper_ctrl = None
        self.fingertip_of_body = np.full(model.nbody, -1)
        self.fingertips = 0
        if robot.gripper is not None:
            self.gripper_qpos = int(model.joint(robot.gripper.joint).qposadr[0])
            self.gripper_ctrl = model.actuator(robot.gripper.actuator).id
            self.fingertips = len(robot.gripper.fingertips)
            for index, name in enumerate(robot.gripper.fingertips):
                self.fingertip_of_body[model.body(name).id] = index
        self.is_arm_body = model.body_rootid == model.body_rootid[self.base_body]
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
