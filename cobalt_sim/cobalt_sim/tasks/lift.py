"""Lift: take the cube and hold it above the table."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from cobalt_sim.tasks.solids import BLUE, Box, add_thing
from cobalt_sim.tasks.stay import Stay
from cobalt_sim.tasks.task import ONE_ARM, GoalScene, SceneState
from cobalt_teleop.core.pose import Pose, quaternion
from cobalt_teleop.workcell_host.plant import Progress, TaskInfo

CUBE = 'cube'
HALF_EDGE = 0.025
"""Half the cube's edge [m]."""

HEIGHT = 0.12
"""Height of the cube's centre above which it counts as lifted [m]."""

HOLD_S = 0.5
"""Time for which it must be held there [s]."""

_START_MIN = np.array([0.42, -0.18])
_START_MAX = np.array([0.60, 0.18])
_REACH_M = 0.30


class LiftJudge:
    """Success: the cube has been above the height, between both fingertips, for the whole holding time."""

    def __init__(self) -> None:
        self._stay = Stay()

    def judge(self, state: SceneState) -> Progress:
        """Returns the progress; the stage grows with nearness, grasp and height."""
        cube = state.objects[CUBE]
        held = CUBE in state.held
        lifted = held and float(cube.position[2]) >= HEIGHT
        success = self._stay.seconds(state.time, is_so=lifted) >= HOLD_S
        return Progress(
            reward=float(success), stage=1.0 if success else self._stage(state, cube, held), success=success
        )

    @staticmethod
    def _stage(state: SceneState, cube: Pose, held: bool) -> float:
        if held:
            risen = (cube.position[2] - HALF_EDGE) / (HEIGHT - HALF_EDGE)
            return 0.5 + 0.4 * float(np.clip(risen, 0.0, 1.0))
        distance = float(np.linalg.norm(cube.position - state.tool.position))
        return 0.4 * max(0.0, 1.0 - distance / _REACH_M)


class LiftTask:
    """A cube on the table, to be lifted."""

    info = TaskInfo(name='lift', instruction='Pick up the blue cube and hold it above the table.', time_limit_s=60.0)
    objects = (CUBE,)
    parts = ONE_ARM

    def add_to_scene(self, spec: Any) -> None:
        """Adds the cube."""
        add_thing(spec, CUBE, [Box(half=(HALF_EDGE,) * 3)], colour=BLUE, mass=0.1, at=(0.5, 0.0, HALF_EDGE))

    def start(self, rng: np.random.Generator) -> Mapping[str, Pose]:
        """Returns the cube lying anywhere in front of the arm, turned any way."""
        place = rng.uniform(_START_MIN, _START_MAX)
        yaw = rng.uniform(-np.pi, np.pi)
        return {CUBE: Pose(np.array([*place, HALF_EDGE]), quaternion([0.0, 0.0, yaw]))}

    def goal(self) -> GoalScene:
        """Returns the cube between the fingertips, well above the table."""
        place = np.array([0.48, 0.02, 0.20])
        return GoalScene(tool=place, gripper=0.0, objects={CUBE: Pose(place)})

    def new_judge(self) -> LiftJudge:
        """Returns a judge of one episode."""
        return LiftJudge()
