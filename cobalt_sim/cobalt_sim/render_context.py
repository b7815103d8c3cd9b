"""One OpenGL context, for one thread, for life."""

import threading
from functools import partial
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from cobalt_sim.blob_shadows import BlobShadows
from cobalt_sim.still_background import Depth, StillBackground
from cobalt_teleop.workcell_host.plant import Picture

Bodies = NDArray[np.uint8]
"""(height, width) numbers of bodies."""

_STILL = int(mujoco.mjtCatBit.mjCAT_STATIC)
_MOVING = int(mujoco.mjtCatBit.mjCAT_DYNAMIC | mujoco.mjtCatBit.mjCAT_DECOR)
_MAX_BACKGROUNDS = 8
"""Of as many cameras and sizes; a new one takes the place of the oldest."""

_CREATION = threading.Lock()
_CURRENT = threading.local()
_COLLISION_GROUP = 3
_FLAGS_OFF = (
    mujoco.mjtRndFlag.mjRND_SKYBOX,
    mujoco.mjtRndFlag.mjRND_HAZE,
    mujoco.mjtRndFlag.mjRND_FOG,
    mujoco.mjtRndFlag.mjRND_REFLECTION,
)


class RenderContext:
    """Draws any workcell of a model, from any camera, in any size. Made, used and closed in one thread.

    Args:
        model: mujoco.MjModel; its vis.global_.offwidth and offheight are the size that needs no new buffer.
        gl_context: MuJoCo's GLContext class of the back end.
        shadows: Lights cast shadows.
        blobs: Shadows that are patches; None for none.
    """

    def __init__(self, model: Any, gl_context: Any, *, shadows: bool = False, blobs: BlobShadows | None = None) -> None:
        self._model = model
        self._blobs = blobs
        # Light and smoothing go across the edges of what moves, and a thing that lets light through has no one depth.
        self._puts_together = not shadows and not model.vis.quality.offsamples and _is_opaque(model)
        self._backgrounds: dict[tuple[int, int, int], StillBackground] = {}
        # Contexts are made one after the other: drivers initialise themselves at the first.
        with _CREATION:
            self._gl = gl_context(model.vis.global_.offwidth, model.vis.global_.offheight)
            self._gl.make_current()
            _CURRENT.context = self
            self._mjr = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_50)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._mjr)
        self._scene = mujoco.MjvScene(model, maxgeom=model.ngeom + 50)
        for flag in _FLAGS_OFF:
            self._scene.flags[flag] = 0
        self._scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = shadows
        self._option = mujoco.MjvOption()
        self._option.geomgroup[_COLLISION_GROUP] = 0
        self._camera = mujoco.MjvCamera()
        self._camera.type = mujoco.mjtCamera.mjCAMERA_FIXED
        self._perturb = mujoco.MjvPerturb()

    def draw(self, data: Any, camera: str, width: int, height: int) -> Picture:
        """Returns a picture of a mujoco.MjData, (height, width, 3) RGB."""
        number = self._look_through(camera, width, height)
        # What never moves is drawn once: of other models, which differ from episode to episode, nothing is kept.
        pristine = data.model is self._model and self._puts_together
        if not pristine or self._model.body_weldid[self._model.cam_bodyid[number]]:
            self._update(data, _STILL | _MOVING)
            if self._blobs is not None:
                self._blobs.add_to(self._scene, data)
            return self._draw_into(_room_for(width, height))[::-1]
        background = self._backgrounds.get((number, width, height)) or self._new_background(data, number, width, height)
        self._update(data, _MOVING)
        if self._blobs is not None:
            self._blobs.add_bright_to(self._scene, data, data.cam_xpos[number])
        self._draw_into(*background.canvas)
        return background.behind(*background.canvas)[::-1]

    def draw_depth(self, data: Any, camera: str, width: int, height: int) -> Depth:
        """Returns (height, width) how far what is seen lies from the camera along its axis [m]."""
        self._look_through(camera, width, height)
        self._update(data, _STILL | _MOVING)
        buffer = np.empty((height, width), np.float32)
        self._draw_into(_room_for(width, height), buffer)
        sight = self._model.vis.map
        near, far = (float(plane * self._model.stat.extent) for plane in (sight.znear, sight.zfar))
        # The buffer has 0 at the near plane and 1 at the far one, linear in the reciprocal of the distance.
        return np.asarray(near / (1.0 - buffer[::-1] * (1.0 - near / far)), dtype=np.float32)

    def draw_bodies(self, data: Any, camera: str, width: int, height: int) -> Bodies:
        """Returns (height, width) the number of the body that is seen, 0 for what is fixed to the world."""
        self._look_through(camera, width, height)
        self._update(data, _STILL | _MOVING)
        flags = (mujoco.mjtRndFlag.mjRND_SEGMENT, mujoco.mjtRndFlag.mjRND_IDCOLOR)
        for flag in flags:
            self._scene.flags[flag] = 1
        coded = self._draw_into(_room_for(width, height))[::-1].astype(np.int32)
        for flag in flags:
            self._scene.flags[flag] = 0
        # The colour is one more than the place in the scene; nothing drawn is black.
        places = coded[..., 0] | coded[..., 1] << 8 | coded[..., 2] << 16
        bodies = np.zeros(self._scene.maxgeom + 1, dtype=np.uint8)
        for drawn in self._scene.geoms[: self._scene.ngeom]:
            if drawn.objtype == mujoco.mjtObj.mjOBJ_GEOM and drawn.segid >= 0:
                bodies[drawn.segid + 1] = self._model.geom_bodyid[drawn.objid]
        return np.asarray(bodies[places])

    def _look_through(self, camera: str, width: int, height: int) -> int:
        """Makes room for a picture through a camera, and returns the camera's number."""
        if getattr(_CURRENT, 'context', None) is not self:
            self._gl.make_current()
            _CURRENT.context = self
        if width > self._mjr.offWidth or height > self._mjr.offHeight:
            mujoco.mjr_resizeOffscreen(max(width, self._mjr.offWidth), max(height, self._mjr.offHeight), self._mjr)
        number = int(self._model.camera(camera).id)
        self._camera.fixedcamid = number
        return number

    def _new_background(self, data: Any, camera: int, width: int, height: int) -> StillBackground:
        self._update(data, _STILL)
        picture, depth = _room_for(width, height), np.empty((height, width), np.float32)
        self._draw_into(picture, depth)
        if self._blobs is not None:
            self._blobs.add_everywhere(self._scene)
        shaded = self._draw_into(_room_for(width, height)) != picture
        ground = np.where(shaded.any(axis=2), np.uint8(255), np.uint8(0))
        if len(self._backgrounds) >= _MAX_BACKGROUNDS:
            del self._backgrounds[next(iter(self._backgrounds))]
        background = self._backgrounds[camera, width, height] = StillBackground(picture, depth, ground)
        return background

    def _update(self, data: Any, categories: int) -> None:
        mujoco.mjv_updateScene(data.model, data, self._option, self._perturb, self._camera, categories, self._scene)

    def _draw_into(self, picture: Picture, depth: Depth | None = None) -> Picture:
        """Draws the scene into (height, width, 3) RGB, and (height, width) of depth if wanted, from the bottom up."""
        height, width, _ = picture.shape
        viewport = mujoco.MjrRect(0, 0, width, height)
        mujoco.mjr_render(viewport, self._scene, self._mjr)
        mujoco.mjr_readPixels(picture, depth, viewport, self._mjr)
        return picture

    def close(self) -> None:
        """Frees the context; to be called in its own thread."""
        if self._gl is None:
            return
        self._gl.make_current()
        self._mjr.free()
        self._gl.free()
        self._gl = None
        _CURRENT.context = None


class ThreadRenderer:
    """Gives each thread that draws a RenderContext of its own, made at its first picture."""

    def __init__(self, model: Any, gl_context: Any, *, shadows: bool = False, blobs: BlobShadows | None = None) -> None:
        self._make = partial(RenderContext, model, gl_context, shadows=shadows, blobs=blobs)
        self._threads = threading.local()

    @property
    def context(self) -> RenderContext:
        """The calling thread's."""
        context: RenderContext | None = getattr(self._threads, 'context', None)
        if context is None:
            context = self._threads.context = self._make()
        return context

    def close_thread(self) -> None:
        """Frees the context of the calling thread, which every thread that drew shall do before it ends."""
        context = self._threads.__dict__.pop('context', None)
        if context is not None:
            context.close()


def _room_for(width: int, height: int) -> Picture:
    return np.empty((height, width, 3), np.uint8)


def _is_opaque(model: Any) -> bool:
    """Returns whether nothing that moves lets light through."""
    moving = model.body_weldid[model.geom_bodyid] != 0
    seen = model.geom_group != _COLLISION_GROUP
    materials = model.geom_matid
    alphas = np.where(materials < 0, model.geom_rgba[:, 3], model.mat_rgba[materials, 3] if model.nmat else 1.0)
    return bool((alphas[moving & seen] >= 1.0).all())
