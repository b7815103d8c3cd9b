"""One OpenGL context, for one thread, for life."""

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import mujoco
import numpy as np

from cobalt_teleop.workcell_host.plant import Picture

Decorate = Callable[[Any, Any], None]
"""Adds to a mujoco.MjvScene what belongs to the picture of a mujoco.MjData, but to no physics."""

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
        decorate: Called for every picture; None for nothing to add.
    """

    def __init__(self, model: Any, gl_context: Any, *, shadows: bool = False, decorate: Decorate | None = None) -> None:
        self._model = model
        self._decorate = decorate
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
        if getattr(_CURRENT, 'context', None) is not self:
            self._gl.make_current()
            _CURRENT.context = self
        if width > self._mjr.offWidth or height > self._mjr.offHeight:
            mujoco.mjr_resizeOffscreen(max(width, self._mjr.offWidth), max(height, self._mjr.offHeight), self._mjr)
        self._camera.fixedcamid = self._model.camera(camera).id
        mujoco.mjv_updateScene(
            self._model, data, self._option, self._perturb, self._camera, mujoco.mjtCatBit.mjCAT_ALL, self._scene
        )
        if self._decorate is not None:
            self._decorate(self._scene, data)
        viewport = mujoco.MjrRect(0, 0, width, height)
        mujoco.mjr_render(viewport, self._scene, self._mjr)
        picture = np.empty((height, width, 3), np.uint8)
        mujoco.mjr_readPixels(picture, None, viewport, self._mjr)
        return picture[::-1]

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

    def __init__(self, model: Any, gl_context: Any, *, shadows: bool = False, decorate: Decorate | None = None) -> None:
        self._make = partial(RenderContext, model, gl_context, shadows=shadows, decorate=decorate)
        self._threads = threading.local()

    def draw(self, data: Any, camera: str, width: int, height: int) -> Picture:
        """Returns a picture of a mujoco.MjData, (height, width, 3) RGB."""
        context = getattr(self._threads, 'context', None)
        if context is None:
            context = self._make()
            self._threads.context = context
        return context.draw(data, camera, width, height)

    def close_thread(self) -> None:
        """Frees the context of the calling thread, which every thread that drew shall do before it ends."""
        context = self._threads.__dict__.pop('context', None)
        if context is not None:
            context.close()
