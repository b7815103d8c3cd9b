"""How a workcell is brought into a state in which its task is done, for a picture of the goal."""

from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np

from cobalt_sim.plant_arm import PlantArm
from cobalt_sim.sim_world import SimWorld
from cobalt_teleop.core.kinematics import Kinematics
from cobalt_teleop.core.pose import Pose, Vector

DRAWN_PX = (720, 540)
"""Width and height of the whole view."""

CUT_OUT = slice(170, 530), slice(85, 565)
"""Rows and columns of it with what matters: the workspace, and the hand above it."""

_SOLUTIONS = 50
_THERE_M, _TURNED_RAD = 1e-4, 1e-3

_GRIP_S = 0.6
"""Time in which the fingers come to rest [s]."""


def joints_at(kinematics: Kinematics, home: Vector, place: Vector, quat_xyzw: Vector | None = None) -> Vector:
    """Returns joints that bring the tool to a place.

    Args:
        kinematics: Of the arm.
        home: (n,) joints to begin from [rad].
        place: (3,) in the base frame [m].
        quat_xyzw: (4,) rotation of the tool; None for that at home.

    Returns:
        (n,) [rad].
    """
    target = Pose(place, kinematics.forward(home).quat_xyzw if quat_xyzw is None else quat_xyzw)
    joints = home
    for _ in range(_SOLUTIONS):  # each goes no further than joints get in a moment
        solution = kinematics.solve(target, joints)
        joints = solution.joints
        if solution.position_error < _THERE_M and solution.rotation_error < _TURNED_RAD:
            break
    return joints


def close_on_objects(world: SimWorld, data: Any, arms: Sequence[PlantArm], gripper: float) -> None:
    """Moves the fingers of a mujoco.MjData to 0 closed to 1 open, while its objects stay where they are, weightless.

    Afterwards the objects have their weight again, and what lies between the fingers is held by them.
    """
    for arm in arms:
        arm.grip(gripper)
    bodies = list(world.indices.object_bodies.values())
    data.xfrc_applied[bodies, :3] = -np.outer(world.model.body_mass[bodies], world.model.opt.gravity)
    for _ in range(round(_GRIP_S / world.tick_s)):
        for arm in arms:
            arm.drive.run(data)
        mujoco.mj_step(world.model, data, nstep=world.substeps)
    data.xfrc_applied[bodies] = 0.0
    mujoco.mj_forward(world.model, data)
