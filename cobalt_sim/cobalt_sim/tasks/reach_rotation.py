"""Reach rotation: turn the hand as the green one is turned, wherever it is, and keep it so."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from cobalt_sim.tasks.ghost_hand import GHOST, add_ghost_hand, ghost_at, goal_turn, random_turn
from cobalt_sim.tasks.stay import Stay
from cobalt_sim.tasks.task import ONE_ARM, GoalScene, SceneState
from cobalt_teleop.core.pose import Pose, angle_between
from cobalt_teleop.workcell_host.plant import Progress, TaskInfo

TOLERANCE = np.radians(8.0)
"""Angle between the hand and the green one below which it is turned alike [rad]."""

HOLD_S = 1.0
"""Time for which it must stay so [s]."""

_LEAST, _MOST = np.radians(20.0), np.radians(45.0)
_FAR = np.radians(60.0)
_BESIDE = np.array([0.50, 0.24, 0.24])


class ReachRotationJudge:
    """Success: the hand has been turned like the green one for the whole holding time."""

    def __init__(self) -> None:
        self._stay = Stay()

    def judge(self, state: SceneState) -> Progress:
        """Returns the progress; the stage grows with likeness and with the time."""
        angle = angle_between(state.tool.quat_xyzw, state.objects[GHOST].quat_xyzw)
        stayed_s = self._stay.seconds(state.time, is_so=angle <= TOLERANCE)
        if angle > TOLERANCE:
            return Progress(stage=0.8 * max(0.0, 1.0 - angle / _FAR))
        success = stayed_s >= HOLD_S
        stage = 1.0 if success else 0.8 + 0.15 * stayed_s / HOLD_S
        return Progress(reward=float(success), stage=stage, success=success)


class ReachRotationTask:
    """A green outline of a hand beside the arm, turned by 20 to 45 degrees."""

    info = TaskInfo(
        name='reach_rotation',
        instruction='Turn the hand as the green one is turned, wherever it is, and keep it so for a second.',
        time_limit_s=30.0,
    )
    objects = (GHOST,)
    parts = ONE_ARM

    def add_to_scene(self, spec: Any) -> None:
        """Adds the green hand."""
        add_ghost_hand(spec)

    def start(self, rng: np.random.Generator) -> Mapping[str, Pose]:
        """Returns the green hand at its place, turned anyhow."""
        return ghost_at(_BESIDE, random_turn(rng, _LEAST, _MOST))

    def goal(self) -> GoalScene:
        """Returns both hands turned alike."""
        turn = goal_turn()
        return GoalScene(
            tool=np.array([0.48, -0.04, 0.24]), quat_xyzw=turn, gripper=1.0, objects=ghost_at(_BESIDE, turn)
        )

    def new_judge(self) -> ReachRotationJudge:
        """Returns a judge of one episode."""
        return ReachRotationJudge()
