"""What things and what stands beside them are made of: boxes and cylinders, with contacts that a hand can hold."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import mujoco
import numpy as np

BLUE = (0.06, 0.28, 0.92)
YELLOW = (0.98, 0.80, 0.10)
GREY = (0.30, 0.33, 0.38)
"""Blue and yellow are told apart by people who cannot tell red from green."""

Triple = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class Solid(ABC):
    """One of the parts that a body is made of.

    Attributes:
        at: Its middle in the body's frame [m].
        yaw: Its turn about the body's z [rad].
        colour: RGB, 0 to 1; None for the body's.
        touchable: Whether other things touch it.
    """

    kind: ClassVar[Any]
    at: Triple = (0.0, 0.0, 0.0)
    yaw: float = 0.0
    colour: Triple | None = None
    touchable: bool = True

    @property
    @abstractmethod
    def size(self) -> Triple:
        """As MuJoCo has it for this kind [m]."""

    @property
    @abstractmethod
    def volume(self) -> float:
        """[m^3]."""


@dataclass(frozen=True, kw_only=True)
class Box(Solid):
    """A box.

    Attributes:
        half: Its half lengths [m].
    """

    kind = mujoco.mjtGeom.mjGEOM_BOX
    half: Triple

    @property
    def size(self) -> Triple:
        """Its half lengths [m]."""
        return self.half

    @property
    def volume(self) -> float:
        """[m^3]."""
        return 8.0 * self.half[0] * self.half[1] * self.half[2]


@dataclass(frozen=True, kw_only=True)
class Cylinder(Solid):
    """A cylinder along the body's z.

    Attributes:
        radius: [m].
        half_height: [m].
    """

    kind = mujoco.mjtGeom.mjGEOM_CYLINDER
    radius: float
    half_height: float

    @property
    def size(self) -> Triple:
        """Its radius and half its height [m]."""
        return self.radius, self.half_height, 0.0

    @property
    def volume(self) -> float:
        """[m^3]."""
        return 2.0 * np.pi * self.radius**2 * self.half_height


def ring(inner: float, outer: float, half_height: float, *, at: Triple = (0.0, 0.0, 0.0), sides: int = 12) -> list[Box]:
    """Returns boxes around a hole along z.

    Args:
        inner: Radius of the hole [m].
        outer: Radius of the whole, where it is thinnest [m].
        half_height: [m].
        at: Its middle in the body's frame [m].
        sides: Number of boxes.
    """
    middle, thick = (inner + outer) / 2.0, (outer - inner) / 2.0
    half = (thick, outer * float(np.tan(np.pi / sides)), half_height)
    angles = np.arange(sides) * 2.0 * np.pi / sides
    return [
        Box(half=half, at=(at[0] + middle * np.cos(turn), at[1] + middle * np.sin(turn), at[2]), yaw=turn)
        for turn in angles.tolist()
    ]


def frame(inner: float, outer: float, half_height: float, *, at: Triple = (0.0, 0.0, 0.0)) -> list[Box]:
    """Returns four boxes around a square hole along z.

    Args:
        inner: Half the edge of the hole [m].
        outer: Half the edge of the whole [m].
        half_height: [m].
        at: Its middle in the body's frame [m].
    """
    middle, thick = (inner + outer) / 2.0, (outer - inner) / 2.0
    x, y, z = at
    along, across = (outer, thick, half_height), (thick, inner, half_height)
    return [
        Box(half=along, at=(x, y + middle, z)),
        Box(half=along, at=(x, y - middle, z)),
        Box(half=across, at=(x + middle, y, z)),
        Box(half=across, at=(x - middle, y, z)),
    ]


def add_thing(spec: Any, name: str, solids: Sequence[Solid], *, colour: Triple, mass: float, at: Triple) -> None:
    """Adds a thing that can be taken to a mujoco.MjSpec: a body with a free joint of the same name.

    Args:
        spec: Whose world frame is the base frame.
        name: Of body and joint.
        solids: What it is made of.
        colour: RGB, 0 to 1.
        mass: [kg].
        at: Where it is until a start puts it elsewhere [m].
    """
    body = spec.worldbody.add_body(name=name, pos=at)
    body.add_freejoint(name=name)
    add_solids(spec, body, solids, colour=colour, mass=mass)


def add_stand(spec: Any, name: str, solids: Sequence[Solid], *, colour: Triple, at: Triple) -> None:
    """Adds what stands fast, but elsewhere at each start, to a mujoco.MjSpec: a mocap body."""
    body = spec.worldbody.add_body(name=name, pos=at, mocap=True)
    add_solids(spec, body, solids, colour=colour, mass=1.0)


def add_solids(spec: Any, body: Any, solids: Sequence[Solid], *, colour: Triple, mass: float) -> None:
    """Adds solids to a body of a mujoco.MjSpec, which weighs so much [kg] altogether."""
    volume = sum(solid.volume for solid in solids)
    for solid in solids:
        body.add_geom(
            type=solid.kind,
            size=solid.size,
            pos=solid.at,
            quat=(np.cos(solid.yaw / 2.0), 0.0, 0.0, np.sin(solid.yaw / 2.0)),
            material=_material(spec, solid.colour or colour),
            mass=mass * solid.volume / volume,
            contype=int(solid.touchable),
            conaffinity=int(solid.touchable),
            friction=(1.0, 0.01, 0.0005),
            condim=4,
            solref=(0.006, 1.0),
        )


def _material(spec: Any, colour: Triple) -> str:
    name = 'solid_' + '_'.join(f'{round(255 * part):02x}' for part in colour)
    if name not in {material.name for material in spec.materials}:
        spec.add_material(name=name, rgba=(*colour, 1.0), specular=0.4, shininess=0.5)
    return name
