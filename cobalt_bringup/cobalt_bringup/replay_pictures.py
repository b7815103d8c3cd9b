"""Pictures of a replay: a film, or a folder with a file for each tick: colours, depth, and which body is seen."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from cobalt_sim.mujoco_plant import MujocoPlant
from cobalt_sim.replay import RecordedTick
from cobalt_sim.sim_world import SimWorld
from cobalt_teleop.core.errors import CobaltError

KINDS = ('rgb', 'depth', 'segmentation')
"""PNG with 8 bits for each colour; with 16 bits in millimetres, 65535 for farther; with 8 bits, numbers of bodies."""

_FARTHEST_MM = 65535


class Film:
    """An .mp4 of a replay.

    Args:
        file: Which is made or replaced.
        plant: Whose first camera films.
        rate_hz: Of the replay [Hz].

    Raises:
        CobaltError: It cannot be written.
    """

    def __init__(self, file: Path, plant: MujocoPlant, rate_hz: float) -> None:
        self._plant = plant
        self._camera = plant.capabilities.cameras[0]
        size = self._camera.width, self._camera.height
        self._writer = cv2.VideoWriter(str(file), cv2.VideoWriter.fourcc(*'mp4v'), rate_hz, size)
        if not self._writer.isOpened():
            raise CobaltError(f'{file} cannot be written; its name must end in .mp4, in a folder that exists')

    def take(self, _: RecordedTick) -> None:
        """Films the present state."""
        self._writer.write(cv2.cvtColor(self._plant.capture(self._camera.name), cv2.COLOR_RGB2BGR))

    def close(self) -> None:
        """Ends the film."""
        self._writer.release()


class Frames:
    """A folder for each kind with a PNG for each tick, named by its step; `frames.json` beside them tells of them.

    Args:
        folder: Which is made, and must not exist.
        plant: Whose first camera looks.
        world: Of the plant.
        kinds: Some of KINDS.

    Raises:
        CobaltError: It cannot be written.
    """

    def __init__(self, folder: Path, plant: MujocoPlant, world: SimWorld, kinds: Sequence[str]) -> None:
        self._folder, self._plant, self._world, self._kinds = folder, plant, world, kinds
        self._camera = plant.capabilities.cameras[0]
        self._steps: list[dict[str, Any]] = []
        try:
            folder.mkdir(parents=True)
            for kind in kinds:
                (folder / kind).mkdir()
        except OSError as error:
            raise CobaltError(f'{folder} cannot be made: {error.strerror}') from error

    def take(self, tick: RecordedTick) -> None:
        """Draws the present state."""
        for kind in self._kinds:
            if not cv2.imwrite(str(self._folder / kind / f'{tick.step:08d}.png'), self._draw(kind)):
                raise CobaltError(f'a picture in {self._folder / kind} cannot be written')
        self._steps.append({'step': tick.step, 'sim_time': tick.sim_time})

    def close(self) -> None:
        """Writes what the files are."""
        about = {
            'camera': self._camera.name,
            'focal_px': self._camera.focal_px,
            'depth': 'millimetres along the axis of the camera',
            'bodies': dict(enumerate(self._world.body_names)),
            'frames': self._steps,
        }
        (self._folder / 'frames.json').write_text(json.dumps(about, indent=1) + '\n', encoding='utf-8')

    def _draw(self, kind: str) -> Any:
        camera = self._camera.name
        if kind == 'depth':
            return np.minimum(self._plant.capture_depth(camera) * 1e3, _FARTHEST_MM).astype(np.uint16)
        if kind == 'segmentation':
            return self._plant.capture_bodies(camera)
        return cv2.cvtColor(self._plant.capture(camera), cv2.COLOR_RGB2BGR)
