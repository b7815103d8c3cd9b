"""Reach position: bring the point between the fingertips into a ball in the air, and keep it there.

The first exercise of a person at a new device: it needs no turning and no gripper.
"""

from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np

from cobalt_sim.tasks.stay import Stay
from cobalt_sim.tasks.task import ONE_ARM, GoalScene, SceneState
from cobalt_teleop.core.pose import Pose
from cobalt_teleop.workcell_host.plant import Progress, TaskInfo

BALL = 'ball'
RADIUS = 0.015
"""Of the ball; the tool is in it while it is nearer than this to its centre [m]."""

HOLD_S = 1.0
"""Time for which the tool must stay in the ball [s]."""

_START_MIN = np.array([0.36, -0.22, 0.06])
_START_MAX = np.array([0.60, 0.22, 0.30])
_REACH_M = 0.40


class ReachPositionJudge:
    """Success: the tool has been in the ball for the whole holding time."""

    def __init__(self) -> None:
        self._stay = Stay()

    def judge(self, state: SceneState) -> Progress:
        """Returns the progress; the stage grows with nearness and with the time inside."""
        distance = float(np.linalg.norm(state.objects[BALL].position - state.tool.position))
        stayed_s = self._stay.seconds(state.time, is_so=distance <= RADIUS)
        if distance > RADIUS:
            return Progress(stage=0.8 * max(0.0, 1.0 - distance / _REACH_M))
        success = stayed_s >= HOLD_S
        stage = 1.0 if success else 0.8 + 0.15 * stayed_s / HOLD_S
        return Progress(reward=float(success), stage=stage, success=success)


class ReachPositionTask:
    """A ball in the air, without weight or substance."""

    info = TaskInfo(
        name='reach_position',
        instruction='Bring the fingertips to the green ball, so that it is between them, and stay there for a second.',
        time_limit_s=30.0,
    )
    objects = (BALL,)
    parts = ONE_ARM

    def add_to_scene(self, spec: Any) -> None:
        """Adds the ball."""
        spec.add_material(name=BALL, rgba=(0.10, 0.75, 0.30, 1.0), specular=0.3, shininess=0.3)
        body = spec.worldbody.add_body(name=BALL, pos=(0.5, 0.0, 0.2), mocap=True)
        body.add_geom(
            name=BALL,
            type=mujoco.mjtGeom.mjGEOM_SPHERE,
            size=(RADIUS, 0.0, 0.0),
            material=BALL,
            contype=0,
            conaffinity=0,
        )

    def start(self, rng: np.random.Generator) -> Mapping[str, Pose]:
        """Returns the ball anywhere in the workspace."""
        return {BALL: Pose(rng.uniform(_START_MIN, _START_MAX))}

    def goal(self) -> GoalScene:
        """Returns the ball between the fingertips."""
        place = np.array([0.48, 0.02, 0.20])
        return GoalScene(tool=place, gripper=1.0, objects={BALL: Pose(place)})

    def new_judge(self) -> ReachPositionJudge:
        """Returns a judge of one episode."""
        return ReachPositionJudge()
