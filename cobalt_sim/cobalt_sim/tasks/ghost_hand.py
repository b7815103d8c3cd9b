"""A green outline of a gripper that hangs in the air, weightless and without substance: how a hand is to be turned."""

from typing import Any

import mujoco
import numpy as np

from cobalt_teleop.core.pose import Pose, Vector, multiply, quaternion

GHOST = 'ghost_hand'
"""Its frame is the tool's: z leaves the hand, the fingers open along y."""

POINTING_DOWN = np.array([1.0, 0.0, 0.0, 0.0])
"""Rotation of a tool that points down, as arms at a table do at home, (4,) xyzw."""

_THICK = 0.005
_ACROSS, _ALONG, _STEM = 0.06, 0.06, 0.06


def add_ghost_hand(spec: Any) -> None:
    """Adds it to a mujoco.MjSpec, as a mocap body."""
    spec.add_material(name=GHOST, rgba=(0.10, 0.75, 0.30, 1.0), specular=0.3, shininess=0.3)
    body = spec.worldbody.add_body(name=GHOST, pos=(0.5, 0.0, 0.3), mocap=True)
    rods = (
        ((0.0, -_ACROSS, 0.0), (0.0, -_ACROSS, -_ALONG)),
        ((0.0, _ACROSS, 0.0), (0.0, _ACROSS, -_ALONG)),
        ((0.0, -_ACROSS, -_ALONG), (0.0, _ACROSS, -_ALONG)),
        ((0.0, 0.0, -_ALONG), (0.0, 0.0, -_ALONG - _STEM)),
    )
    for start, end in rods:
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_CAPSULE,
            fromto=(*start, *end),
            size=(_THICK, 0.0, 0.0),
            material=GHOST,
            contype=0,
            conaffinity=0,
        )


def random_turn(rng: np.random.Generator, least: float, most: float) -> Vector:
    """Returns a rotation (4,) xyzw away from POINTING_DOWN, about any axis, by an angle between two [rad]."""
    axis = rng.normal(size=3)
    return multiply(quaternion(axis / np.linalg.norm(axis) * rng.uniform(least, most)), POINTING_DOWN)


def goal_turn() -> Vector:
    """Returns the rotation (4,) xyzw that pictures of a goal show: one that differs from the hand's at home."""
    return multiply(quaternion([0.35, 0.0, 0.0]), POINTING_DOWN)


def ghost_at(place: Vector, turn: Vector) -> dict[str, Pose]:
    """Returns its pose as a task's objects, in the base frame."""
    return {GHOST: Pose(place, turn)}
