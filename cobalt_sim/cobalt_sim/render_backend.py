"""Which OpenGL the renderer uses, found by a timed trial in a child process, which a broken driver may hang or kill."""

import os
import subprocess
import sys
from typing import Any

from cobalt_teleop.core.errors import CobaltError

_PACKAGES = {'egl': 'libegl1 libgl1-mesa-dri', 'osmesa': 'libosmesa6'}
_TRIAL_LIMIT_S = 20.0

BACKENDS = tuple(_PACKAGES)
"""In the order in which they are tried."""


def find_backend() -> str:
    """Returns the first back end that draws a picture; MUJOCO_GL, if set, allows that one alone.

    Raises:
        CobaltError: None works. The message tells what each said and what to install.
    """
    wanted = os.environ.get('MUJOCO_GL', '').strip().lower()
    if wanted and wanted not in BACKENDS:
        raise CobaltError(f"MUJOCO_GL is '{wanted}', but must be one of {', '.join(BACKENDS)}, or not be set")
    tried = (wanted,) if wanted else BACKENDS
    faults = []
    for backend in tried:
        fault = _trial(backend)
        if fault is None:
            return backend
        faults.append(f'{backend}: {fault}')
    packages = ' or '.join(f'sudo apt-get install {_PACKAGES[backend]}' for backend in tried)
    raise CobaltError(f'no OpenGL to render pictures with ({"; ".join(faults)}). Type: {packages}')


def context_class(backend: str) -> Any:
    """Returns MuJoCo's GLContext of a back end, whatever MUJOCO_GL was when mujoco was imported."""
    # Mesa's rasteriser shall work in the thread that draws, one for each core (measured: 5 % less CPU a picture).
    os.environ.setdefault('LP_NUM_THREADS', '0')
    if backend == 'egl':
        from mujoco.egl import GLContext
    else:
        from mujoco.osmesa import GLContext
    return GLContext


def _trial(backend: str) -> str | None:
    """Draws in a child process; returns None if that worked, else why not."""
    environment = {**os.environ, 'MUJOCO_GL': backend, 'PYOPENGL_PLATFORM': backend}
    try:
        result = subprocess.run(
            [sys.executable, '-m', 'cobalt_sim.render_backend', backend],
            env=environment, capture_output=True, text=True, timeout=_TRIAL_LIMIT_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f'drew nothing within {_TRIAL_LIMIT_S:.0f} s'
    if result.returncode == 0:
        return None
    lines = result.stderr.strip().splitlines()
    return lines[-1] if lines else f'ended with code {result.returncode}'


def _draw(backend: str) -> None:
    """Draws a red box and looks whether it is red."""
    import mujoco

    from cobalt_sim.render_context import RenderContext

    model = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><light dir="0 0 -1" pos="0 0 2"/><camera name="above" pos="0 0 1"/>'
        '<geom type="box" size="1 1 .01" rgba="1 0 0 1"/></worldbody></mujoco>'
    )
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    context = RenderContext(model, context_class(backend))
    picture = context.draw(data, 'above', 32, 24)
    context.close()
    red, green = int(picture[12, 16, 0]), int(picture[12, 16, 1])
    if red < 60 or green > red // 2:
        raise SystemExit(f'the trial picture has the colour {picture[12, 16].tolist()}, which is not red')


if __name__ == '__main__':
    _draw(sys.argv[1])
