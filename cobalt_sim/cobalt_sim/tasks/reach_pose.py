"""Reach pose: bring the hand into the green one, turned alike, and keep it there."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from cobalt_sim.tasks.ghost_hand import GHOST, add_ghost_hand, ghost_at, goal_turn, random_turn
from cobalt_sim.tasks.stay import Stay
from cobalt_sim.tasks.task import ONE_ARM, GoalScene, SceneState
from cobalt_teleop.core.pose import Pose, angle_between
from cobalt_teleop.workcell_host.plant import Progress, TaskInfo

DISTANCE_M = 0.015
"""Between the fingertips' middle and that of the green hand, below which it is there [m]."""

TOLERANCE = np.radians(10.0)
"""Angle between the two hands below which they are turned alike [rad]."""

HOLD_S = 1.0
"""Time for which it must stay so [s]."""

_START_MIN = np.array([0.40, -0.18, 0.12])
_START_MAX = np.array([0.56, 0.18, 0.28])
_MOST = np.radians(35.0)
_FAR_M, _FAR = 0.40, np.radians(60.0)


class ReachPoseJudge:
    """Success: the hand has been in the green one, turned alike, for the whole holding time."""

    def __init__(self) -> None:
        self._stay = Stay()

    def judge(self, state: SceneState) -> Progress:
        """Returns the progress; the stage grows with nearness, likeness and the time."""
        ghost = state.objects[GHOST]
        distance = float(np.linalg.norm(ghost.position - state.tool.position))
        angle = angle_between(state.tool.quat_xyzw, ghost.quat_xyzw)
        there = distance <= DISTANCE_M and angle <= TOLERANCE
        stayed_s = self._stay.seconds(state.time, is_so=there)
        if not there:
            return Progress(stage=0.4 * max(0.0, 1.0 - distance / _FAR_M) + 0.4 * max(0.0, 1.0 - angle / _FAR))
        success = stayed_s >= HOLD_S
        stage = 1.0 if success else 0.8 + 0.15 * stayed_s / HOLD_S
        return Progress(reward=float(success), stage=stage, success=success)


class ReachPoseTask:
    """A green outline of a hand in the air, turned by up to 35 degrees."""

    info = TaskInfo(
        name='reach_pose',
        instruction='Bring the hand into the green one, turned like it, and stay there for a second.',
        time_limit_s=45.0,
    )
    objects = (GHOST,)
    parts = ONE_ARM

    def add_to_scene(self, spec: Any) -> None:
        """Adds the green hand."""
        add_ghost_hand(spec)

    def start(self, rng: np.random.Generator) -> Mapping[str, Pose]:
        """Returns the green hand anywhere in the workspace, turned anyhow."""
        return ghost_at(rng.uniform(_START_MIN, _START_MAX), random_turn(rng, 0.0, _MOST))

    def goal(self) -> GoalScene:
        """Returns the hand in the green one."""
        place, turn = np.array([0.48, 0.02, 0.20]), goal_turn()
        return GoalScene(tool=place, quat_xyzw=turn, gripper=1.0, objects=ghost_at(place, turn))

    def new_judge(self) -> ReachPoseJudge:
        """Returns a judge of one episode."""
        return ReachPoseJudge()
