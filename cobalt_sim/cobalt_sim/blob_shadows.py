"""Soft dark patches on the table, straight below what hangs over it: they tell height where no light casts shadows.

A patch is one textured rectangle of the drawn scene. It belongs to no physics and touches nothing.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from cobalt_teleop.core.pose import Vector

_ROUND = 'shadow_round'
_SQUARE = 'shadow_square'
_TEXTURE_PX = 64
_ABOVE_TABLE_M = 0.0016  # Over the lines of the mat.
_BELOW_TABLE_M = 0.01
_BEHIND_ALL_M = 0.02

# The texture fades out towards its rim, so a patch is larger than what casts it; it grows and pales with height.
_SPREAD = 1.6
_GROWTH_PER_M = 1.4


@dataclass(frozen=True, kw_only=True)
class _Look:
    """How dark a shadow is.

    Attributes:
        opacity: On the table, 0 to 1.
        fade_m: Height at which it has paled to 37 % [m].
        margin_m: Least distance between the edges of what casts it and of its shadow [m].
    """

    opacity: float
    fade_m: float
    margin_m: float = 0.0


_OBJECT = _Look(opacity=0.70, fade_m=0.20)
_HAND = _Look(opacity=0.42, fade_m=0.35)
_FINGERTIP = _Look(opacity=0.50, fade_m=0.09, margin_m=0.006)

_HAND_ALONG_M, _HAND_ACROSS_M = 0.020, 0.030
"""Half lengths of the hand: along the line of its fingertips beyond them, and across."""

_UNSEEN = 0.02
"""Opacity below which nothing is drawn."""

_Pair = tuple[float, float]
_Triple = tuple[float, float, float]


def add_materials(spec: Any) -> None:
    """Adds what patches are drawn with to a mujoco.MjSpec."""
    across = (np.arange(_TEXTURE_PX) + 0.5) / _TEXTURE_PX * 2.0 - 1.0
    x, y = np.meshgrid(across, across)
    for name, power in ((_ROUND, 2.0), (_SQUARE, 5.0)):
        radius = (np.abs(x) ** power + np.abs(y) ** power) ** (1.0 / power)
        # From full at the inner part to nothing at the rim, smooth at both ends.
        ramp = np.clip((1.0 - radius) / (1.0 - 0.35), 0.0, 1.0)
        picture = np.zeros((_TEXTURE_PX, _TEXTURE_PX, 4), np.uint8)
        picture[..., :3] = 255
        picture[..., 3] = np.round(255.0 * ramp * ramp * (3.0 - 2.0 * ramp))
        texture = spec.add_texture(
            name=name,
            type=mujoco.mjtTexture.mjTEXTURE_2D,
            width=_TEXTURE_PX,
            height=_TEXTURE_PX,
            nchannel=4,
        )
        texture.data = picture.tobytes()
        textures = ['' for _ in range(mujoco.mjtTextureRole.mjNTEXROLE)]
        textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = name
        spec.add_material(name=name, rgba=(0.0, 0.0, 0.0, 0.5), specular=0.0, shininess=0.0, textures=textures)


class BlobShadows:
    """Draws shadows of objects and of hands into a scene. Keeps no state, so threads may share it.

    Args:
        model: mujoco.MjModel whose spec got the materials.
        objects: Bodies of one geom each, by number.
        hands: Of each the bodies whose first geom is a fingertip, by number; they and the hand above have shadows.
        table_min: (2,) corner of the table's top [m]; nothing beyond the table has a shadow.
        table_max: (2,) the opposite corner [m].
    """

    def __init__(
        self, model: Any, objects: Sequence[int], hands: Sequence[Sequence[int]], table_min: Vector, table_max: Vector
    ) -> None:
        geoms = [int(model.body_geomadr[body]) for body in objects]
        self._hands = [[int(model.body_geomadr[body]) for body in fingertips] for fingertips in hands]
        self._tips = [tip for tips in self._hands for tip in tips]
        self._half = {geom: model.geom_aabb[geom, 3:].tolist() for geom in (*geoms, *self._tips)}
        self._round, square = (model.material(name).id for name in (_ROUND, _SQUARE))
        spheres = model.geom_type == mujoco.mjtGeom.mjGEOM_SPHERE
        self._of_objects = [(geom, self._round if spheres[geom] else square) for geom in geoms]
        self._table_min, self._table_max = table_min.tolist(), table_max.tolist()

    def add_to(self, scene: Any, data: Any) -> None:
        """Adds the shadows of a mujoco.MjData to a mujoco.MjvScene that was updated from it."""
        for tips in self._hands:
            if len(tips) > 1:
                self._add_hand(scene, data, tips)
        fingertips = [(geom, self._round) for geom in self._tips]
        for geoms, look in ((fingertips, _FINGERTIP), (self._of_objects, _OBJECT)):
            for geom, material in geoms:
                below, direction, half = _outline(data.geom_xmat[geom].tolist(), self._half[geom])
                x, y, z = data.geom_xpos[geom].tolist()
                self._add(scene, material, look, (x, y, z - below), direction, half)

    def add_bright_to(self, scene: Any, data: Any, eye: Vector) -> None:
        """Adds the shadows in white, so that on black they show how dark they are, 0 to 255.

        They are at the same places of the picture, but behind everything that stands on the table.

        Args:
            scene: mujoco.MjvScene that gets them.
            data: mujoco.MjData that has what casts them.
            eye: (3,) place of the camera in the world [m].
        """
        if eye[2] <= _ABOVE_TABLE_M:
            return  # the table hides them
        first = scene.ngeom
        self.add_to(scene, data)
        # Seen from the eye, a plane is the same as a lower one that is as much larger.
        growth = (eye[2] + _BEHIND_ALL_M) / (eye[2] - _ABOVE_TABLE_M)
        for number in range(first, scene.ngeom):
            geom = scene.geoms[number]
            _brighten(geom)
            geom.pos[:] = eye + (geom.pos - eye) * growth
            geom.size[:2] *= growth

    def add_everywhere(self, scene: Any) -> None:
        """Adds one patch to a mujoco.MjvScene that covers all places where a shadow may fall."""
        (x0, y0), (x1, y1) = self._table_min, self._table_max
        half = (x1 - x0) / 2.0, (y1 - y0) / 2.0
        _brighten(_add_patch(scene, half, ((x0 + x1) / 2.0, (y0 + y1) / 2.0), (1.0, 0.0), 1.0))

    def _add_hand(self, scene: Any, data: Any, tips: Sequence[int]) -> None:
        x0, y0, z0 = data.geom_xpos[tips[0]].tolist()
        x1, y1, z1 = data.geom_xpos[tips[-1]].tolist()
        length = math.hypot(x1 - x0, y1 - y0)
        if length > 0.0:
            place = (x0 + x1) / 2.0, (y0 + y1) / 2.0, (z0 + z1) / 2.0
            direction = (x1 - x0) / length, (y1 - y0) / length
            self._add(scene, self._round, _HAND, place, direction, (length / 2.0 + _HAND_ALONG_M, _HAND_ACROSS_M))

    def _add(self, scene: Any, material: int, look: _Look, place: _Triple, direction: _Pair, half: _Pair) -> None:
        """Adds the patch below a place [m], of what has these half lengths [m] along a direction and across it."""
        x, y, z = place
        if z < -_BELOW_TABLE_M or not (
            self._table_min[0] < x < self._table_max[0] and self._table_min[1] < y < self._table_max[1]
        ):
            return
        height = max(0.0, z)
        opacity = look.opacity * math.exp(-height / look.fade_m)
        if opacity < _UNSEEN:
            return
        spread = _SPREAD * (1.0 + _GROWTH_PER_M * height)
        size = (half[0] + look.margin_m) * spread, (half[1] + look.margin_m) * spread
        _add_patch(scene, size, (x, y), direction, opacity).matid = material


def _add_patch(scene: Any, half: _Pair, place: _Pair, direction: _Pair, opacity: float) -> Any:
    """Returns the new geom of a mujoco.MjvScene, black, with these half lengths along a direction and across it."""
    cos, sin = direction
    geom = scene.geoms[scene.ngeom]
    mujoco.mjv_initGeom(
        geom,
        mujoco.mjtGeom.mjGEOM_PLANE,
        np.array([*half, 1.0]),
        np.array([*place, _ABOVE_TABLE_M]),
        np.array([cos, -sin, 0.0, sin, cos, 0.0, 0.0, 0.0, 1.0]),
        np.array([0.0, 0.0, 0.0, opacity], np.float32),
    )
    geom.category = mujoco.mjtCatBit.mjCAT_DECOR
    scene.ngeom += 1
    return geom


def _brighten(geom: Any) -> None:
    geom.rgba[:3] = geom.emission = 1.0


def _outline(rotation: Sequence[float], half: Sequence[float]) -> tuple[float, _Pair, _Pair]:
    """Looks at a turned box from above.

    Args:
        rotation: 9 numbers of its matrix, by rows.
        half: Its 3 half lengths [m].

    Returns:
        How far it reaches below its centre [m]; the direction of the rectangle around it; the rectangle's half lengths
        along that direction and across it [m].
    """
    # The most level axis of the box gives the rectangle its direction.
    level = min(range(3), key=lambda axis: abs(rotation[6 + axis]))
    length = math.hypot(rotation[level], rotation[3 + level])
    x, y = rotation[level] / length, rotation[3 + level] / length
    axes = list(zip(half, rotation[0:3], rotation[3:6], rotation[6:9], strict=True))
    along = sum(size * abs(x * ax + y * ay) for size, ax, ay, _ in axes)
    across = sum(size * abs(x * ay - y * ax) for size, ax, ay, _ in axes)
    return sum(size * abs(az) for size, _, _, az in axes), (x, y), (along, across)
