"""One MuJoCo model and many workcells in it."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

import mujoco

from cobalt_sim import scene
from cobalt_sim.blob_shadows import BlobShadows
from cobalt_sim.domain import DomainSpread
from cobalt_sim.model_indices import ModelIndices
from cobalt_sim.render_backend import context_class, find_backend
from cobalt_sim.render_context import Bodies, RenderContext, ThreadRenderer
from cobalt_sim.render_profile import RenderProfile
from cobalt_sim.still_background import Depth
from cobalt_sim.tasks.task import Task
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.kinematics.arm_set import ArmSet, single
from cobalt_teleop.kinematics.robot_description import RobotDescription
from cobalt_teleop.workcell_host.plant import CameraModel, Picture

# The plant tells of an unstable simulation in its observation; MuJoCo's own warning would write a log file.
mujoco.set_mju_user_warning(lambda message: None)

_FITTING = ('franka_panda', 'two_pandas')


class SimWorld:
    """What all workcells of a simulator share: model, indices into it, cameras and the renderer.

    Args:
        robot: The arm, or several.
        task: What stands on the table.
        cameras: Cameras with their sizes; empty for a world without pictures, which needs no OpenGL.
        profile: What a picture may cost.
        tick_s: Simulated time of one control period [s].
        domain: How much differs from episode to episode.

    Raises:
        CobaltError: A camera does not exist, the task is for other arms, or no OpenGL works.
    """

    def __init__(
        self,
        robot: RobotDescription | ArmSet,
        task: Task,
        cameras: Sequence[CameraModel],
        profile: RenderProfile,
        *,
        tick_s: float = 0.05,
        domain: DomainSpread | None = None,
    ) -> None:
        self.arms = robot if isinstance(robot, ArmSet) else single(robot)
        self.task = task
        self.domain = domain or DomainSpread()
        if set(self.arms.parts) != set(task.parts):
            raise CobaltError(
                f"the task '{task.info.name}' is for the parts {' and '.join(task.parts)}, but {self.arms.name} has "
                f'{" and ".join(self.arms.parts)}; try robot:={_FITTING[len(task.parts) > 1]}'
            )
        self.cameras = {camera.name: camera for camera in cameras}
        self.substeps = max(1, round(tick_s / scene.TIMESTEP_S))
        self.tick_s = self.substeps * scene.TIMESTEP_S
        """Simulated time of one control period, in whole steps of the physics [s]."""
        self.model = scene.build_model(self.arms, task, profile, cameras)
        self.indices = ModelIndices(self.model, self.arms, task)
        self._renderer = self._make_renderer(profile) if cameras else None
        self._goal_picture: Picture | None = None
        self._goal_lock = threading.Lock()

    def _make_renderer(self, profile: RenderProfile) -> ThreadRenderer:
        blobs = BlobShadows(
            self.model,
            objects=list(self.indices.object_bodies.values()),
            hands=[arm.fingertips for arm in self.indices.arms.values()],
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
        return self._context.draw(data, camera, *self._size(camera, size_px))

    def draw_depth(self, data: Any, camera: str, size_px: tuple[int, int] | None = None) -> Depth:
        """Returns (height, width) how far what is seen lies from the camera along its axis [m], drawn likewise."""
        return self._context.draw_depth(data, camera, *self._size(camera, size_px))

    def draw_bodies(self, data: Any, camera: str, size_px: tuple[int, int] | None = None) -> Bodies:
        """Returns (height, width) the number of the body that is seen, drawn likewise; `body_names` has their names."""
        return self._context.draw_bodies(data, camera, *self._size(camera, size_px))

    @property
    def body_names(self) -> list[str]:
        """Of all bodies, by number; the first is the world."""
        return [self.model.body(number).name for number in range(self.model.nbody)]

    @property
    def _context(self) -> RenderContext:
        if self._renderer is None:
            raise RuntimeError('this world has no cameras')
        return self._renderer.context

    def _size(self, camera: str, size_px: tuple[int, int] | None) -> tuple[int, int]:
        return size_px or (self.cameras[camera].width, self.cameras[camera].height)

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
