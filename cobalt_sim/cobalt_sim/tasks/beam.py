"""Beam: follow a beam in the air with the fingertips, from its white end to its green one, without leaving it."""

from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np

from cobalt_sim.tasks.task import ONE_ARM, GoalScene, SceneState
from cobalt_teleop.core.pose import Pose, Vector, multiply, quaternion, rotate
from cobalt_teleop.workcell_host.plant import Progress, TaskInfo

BEAM = 'beam'
"""Its frame is in its middle; it leads along z, from the white end to the green one."""

LENGTH_M = 0.30
RADIUS_M = 0.020
"""So far from the beam's axis, or from an end, the tool is on it [m]."""

_FAR_M = 0.40
_MIDDLE_MIN = np.array([0.46, -0.05, 0.14])
_MIDDLE_MAX = np.array([0.52, 0.05, 0.22])
_STEEPEST = np.radians(20.0)


class BeamJudge:
    """Success: the tool came to the green end, on the beam all the way from the white one."""

    def __init__(self) -> None:
        self._on = False

    def judge(self, state: SceneState) -> Progress:
        """Returns the progress; the stage grows on the way, and falls back where the tool leaves the beam."""
        start, end = ends(state.objects[BEAM])
        along = float(np.dot(state.tool.position - start, end - start)) / LENGTH_M
        beside = float(np.linalg.norm(state.tool.position - start - along / LENGTH_M * (end - start)))
        is_on = beside <= RADIUS_M and -RADIUS_M <= along <= LENGTH_M + RADIUS_M
        from_start = float(np.linalg.norm(state.tool.position - start))
        self._on = is_on and (self._on or from_start <= RADIUS_M)
        if not self._on:
            return Progress(stage=0.2 * max(0.0, 1.0 - from_start / _FAR_M))
        success = float(np.linalg.norm(state.tool.position - end)) <= RADIUS_M
        stage = 1.0 if success else 0.2 + 0.75 * float(np.clip(along / LENGTH_M, 0.0, 1.0))
        return Progress(reward=float(success), stage=stage, success=success)


class BeamTask:
    """A rod in the air, without weight or substance, a ball at each end."""

    info = TaskInfo(
        name='beam',
        instruction='Begin at the white ball and follow the beam with the fingertips to the green one; stay on it.',
        time_limit_s=45.0,
    )
    objects = (BEAM,)
    parts = ONE_ARM

    def add_to_scene(self, spec: Any) -> None:
        """Adds the beam."""
        body = spec.worldbody.add_body(name=BEAM, pos=(0.5, 0.0, 0.2), mocap=True)
        half = LENGTH_M / 2.0
        looks = (
            ('beam_rod', mujoco.mjtGeom.mjGEOM_CYLINDER, (0.005, half, 0.0), 0.0, (0.95, 0.75, 0.15, 1.0)),
            ('beam_start', mujoco.mjtGeom.mjGEOM_SPHERE, (0.014, 0.0, 0.0), -half, (0.97, 0.97, 0.97, 1.0)),
            ('beam_end', mujoco.mjtGeom.mjGEOM_SPHERE, (0.018, 0.0, 0.0), half, (0.10, 0.75, 0.30, 1.0)),
        )
        for name, kind, size, z, rgba in looks:
            spec.add_material(name=name, rgba=rgba, specular=0.3, shininess=0.3)
            body.add_geom(type=kind, size=size, pos=(0.0, 0.0, z), material=name, contype=0, conaffinity=0)

    def start(self, rng: np.random.Generator) -> Mapping[str, Pose]:
        """Returns the beam across the workspace, to either side, rising or falling a little."""
        middle = rng.uniform(_MIDDLE_MIN, _MIDDLE_MAX)
        side = rng.choice((-1.0, 1.0))
        heading = side * np.pi / 2.0 + rng.uniform(-0.5, 0.5)
        return {BEAM: _leading(middle, heading, rng.uniform(-_STEEPEST, _STEEPEST))}

    def goal(self) -> GoalScene:
        """Returns the fingertips at the green end."""
        beam = _leading(np.array([0.48, 0.0, 0.18]), np.pi / 2.0, 0.15)
        return GoalScene(tool=ends(beam)[1], gripper=0.0, objects={BEAM: beam})

    def new_judge(self) -> BeamJudge:
        """Returns a judge of one episode."""
        return BeamJudge()


def ends(beam: Pose) -> tuple[Vector, Vector]:
    """Returns the white end and the green one, (3,) each [m], in the base frame."""
    half = rotate(beam.quat_xyzw, np.array([0.0, 0.0, LENGTH_M / 2.0]))
    return beam.position - half, beam.position + half


def _leading(middle: Vector, heading: float, rise: float) -> Pose:
    """Returns a beam that leads along a heading about the upright, rising by an angle [rad]."""
    level = multiply(quaternion([0.0, 0.0, heading]), quaternion([0.0, np.pi / 2.0, 0.0]))
    return Pose(middle, multiply(level, quaternion([0.0, -rise, 0.0])))
