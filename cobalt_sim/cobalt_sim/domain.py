"""Domain randomisation: what differs from episode to episode, so that a policy does not learn what was always alike.

Everything follows from the episode's seed and from how much may differ. Source of the method: J. Tobin et al., "Domain
Randomization for Transferring Deep Neural Networks from Simulation to the Real World", IROS 2017.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import mujoco
import numpy as np

from cobalt_teleop.core.errors import CobaltError

_STREAM = 0x646F6D
"""Keeps these draws apart from those of the task's start, which are of the same seed."""

_LARGEST_TURN_OF_LIGHT_RAD = 0.5
"""Of a light's direction, where lights differ by all that they may."""


@dataclass(frozen=True, kw_only=True)
class DomainSpread:
    """How much may differ from episode to episode; all 0 for nothing.

    Attributes:
        lights: Share of each light's brightness, and of half a radian of its direction, 0 to 1.
        colours: Share of each colour of arm, table and room, 0 to 1; objects keep theirs, which instructions name.
        camera_mm: Each camera is moved by so much along each axis [mm].
        camera_deg: And turned by so much about each axis [deg].
        friction: Share of the friction of each surface, 0 to 0.9.
        mass: Share of the mass of each object, 0 to 0.9.
    """

    lights: float = 0.0
    colours: float = 0.0
    camera_mm: float = 0.0
    camera_deg: float = 0.0
    friction: float = 0.0
    mass: float = 0.0

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not 0.0 <= value <= _LARGEST[name]:
                raise CobaltError(f'{name} may differ by 0 to {_LARGEST[name]:g}, but is {value:g}')

    @property
    def varies(self) -> bool:
        """Whether anything differs."""
        return any(asdict(self).values())

    def as_text(self) -> str:
        """Returns it as JSON, to be recorded; empty if nothing differs."""
        return json.dumps(asdict(self)) if self.varies else ''


_LARGEST = {'lights': 1.0, 'colours': 1.0, 'camera_mm': 200.0, 'camera_deg': 45.0, 'friction': 0.9, 'mass': 0.9}


def spread_of(text: str) -> DomainSpread:
    """Returns what `as_text` has told.

    Raises:
        CobaltError: It is something else.
    """
    if not text:
        return DomainSpread()
    try:
        content = json.loads(text)
        return DomainSpread(**{field.name: float(content[field.name]) for field in fields(DomainSpread)})
    except (ValueError, KeyError, TypeError) as error:
        raise CobaltError(f'{text!r} does not tell how much differs from episode to episode') from error


def randomise(model: Any, pristine: Any, spread: DomainSpread, seed: int, objects: Sequence[int]) -> None:
    """Makes a model one of those that a seed may bring.

    Args:
        model: mujoco.MjModel that is changed; one like the pristine.
        pristine: mujoco.MjModel from which all differs.
        spread: By how much.
        seed: Of the episode.
        objects: Bodies of the task, by number: their masses differ, and their colours do not.
    """
    # Each kind has a stream of its own: what one is told to do changes nothing of the others.
    lights, colours, cameras, friction, mass = (
        np.random.default_rng(part) for part in np.random.SeedSequence((seed, _STREAM)).spawn(5)
    )
    shares = _shares(lights, spread.lights, model.nlight)[:, None]
    model.light_diffuse[:] = pristine.light_diffuse * shares
    model.light_specular[:] = pristine.light_specular * shares
    model.light_dir[:] = [
        _turned(way, lights.uniform(-1.0, 1.0, 3) * spread.lights * _LARGEST_TURN_OF_LIGHT_RAD)
        for way in pristine.light_dir
    ]
    named = np.isin(model.geom_bodyid, objects)
    of_objects = {'geom_rgba': np.flatnonzero(named), 'mat_rgba': model.geom_matid[named & (model.geom_matid >= 0)]}
    for name, kept in of_objects.items():
        colour = getattr(pristine, name)
        shares = _shares(colours, spread.colours, (len(colour), 3))
        shares[kept] = 1.0
        getattr(model, name)[:, :3] = np.clip(colour[:, :3] * shares, 0.0, 1.0)
    shift_m, turn_rad = spread.camera_mm * 1e-3, np.deg2rad(spread.camera_deg)
    model.cam_pos[:] = pristine.cam_pos + cameras.uniform(-1.0, 1.0, (model.ncam, 3)) * shift_m
    for number in range(model.ncam):
        turn = np.zeros(4)
        way = cameras.uniform(-1.0, 1.0, 3) * turn_rad
        mujoco.mju_axisAngle2Quat(turn, way / max(np.linalg.norm(way), 1e-12), float(np.linalg.norm(way)))
        mujoco.mju_mulQuat(model.cam_quat[number], pristine.cam_quat[number], turn)
    model.geom_friction[:, 0] = pristine.geom_friction[:, 0] * _shares(friction, spread.friction, model.ngeom)
    heavier = _shares(mass, spread.mass, len(objects))
    model.body_mass[objects] = pristine.body_mass[objects] * heavier
    model.body_inertia[objects] = pristine.body_inertia[objects] * heavier[:, None]
    mujoco.mj_setConst(model, mujoco.MjData(model))


def _shares(generator: np.random.Generator, spread: float, shape: Any) -> Any:
    return generator.uniform(1.0 - spread, 1.0 + spread, shape)


def _turned(way: Any, turn: Any) -> Any:
    """Returns a (3,) direction after a small (3,) turn [rad]."""
    turned = way + np.cross(turn, way)
    return turned / np.linalg.norm(turned)
