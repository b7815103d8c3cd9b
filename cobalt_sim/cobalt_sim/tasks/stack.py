"""Stack: put the blue cube on the yellow one."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from cobalt_sim.tasks import solids
from cobalt_sim.tasks.carry_stage import carry_stage
from cobalt_sim.tasks.solids import Box, add_thing
from cobalt_sim.tasks.table_places import stand_apart
from cobalt_sim.tasks.task import ONE_ARM, GoalScene, SceneState
from cobalt_teleop.core.pose import Pose, rotate
from cobalt_teleop.workcell_host.plant import Progress, TaskInfo

BLUE, YELLOW = 'blue_cube', 'yellow_cube'
BLUE_HALF, YELLOW_HALF = 0.02, 0.025
"""Half the cubes' edges [m]."""

HOLD_S = 0.5
"""Time for which the blue cube must stand on the yellow one, let go of and still [s]."""

_HEIGHT_TOLERANCE_M = 0.003
_LARGEST_SHIFT_M = 0.8 * YELLOW_HALF
_STILL_M = 0.002
_STILL_RAD = 0.05

_START_MIN = np.array([0.40, -0.20])
_START_MAX = np.array([0.60, 0.20])
_APART_M = 0.13


class StackJudge:
    """Success: the blue cube stands on the yellow one, no fingertip touches either, and both have been still."""

    def __init__(self) -> None:
        self._stood_since: float | None = None
        self._stood_at = Pose()

    def judge(self, state: SceneState) -> Progress:
        """Returns the progress; the stage grows with nearness, grasp, height, and nearness to the place."""
        blue, yellow = state.objects[BLUE], state.objects[YELLOW]
        stands = is_on_top(blue, yellow) and not state.touched & {BLUE, YELLOW}
        if not stands:
            self._stood_since = None
        elif self._stood_since is None or _moved(self._stood_at, blue):
            self._stood_since, self._stood_at = state.time, blue
        # Half a step of slack: times are sums of time steps.
        success = self._stood_since is not None and state.time - self._stood_since >= HOLD_S - 1e-3
        place = yellow.position + np.array([0.0, 0.0, YELLOW_HALF + BLUE_HALF])
        stage = 1.0 if success else 0.9 if stands else carry_stage(state, BLUE, place)
        return Progress(reward=float(success), stage=stage, success=success)


class StackTask:
    """Two cubes on the table, the smaller one to be put on the larger one."""

    info = TaskInfo(
        name='stack', instruction='Put the blue cube on top of the yellow cube and let go.', time_limit_s=90.0
    )
    objects = (BLUE, YELLOW)
    parts = ONE_ARM

    def add_to_scene(self, spec: Any) -> None:
        """Adds the cubes."""
        for name, half, colour, mass, y in (
            (BLUE, BLUE_HALF, solids.BLUE, 0.06, 0.2),
            (YELLOW, YELLOW_HALF, solids.YELLOW, 0.12, -0.2),
        ):
            add_thing(spec, name, [Box(half=(half,) * 3)], colour=colour, mass=mass, at=(0.5, y, half))

    def start(self, rng: np.random.Generator) -> Mapping[str, Pose]:
        """Returns both cubes lying in front of the arm, turned any way, with room for the hand between them."""
        return stand_apart(rng, {BLUE: BLUE_HALF, YELLOW: YELLOW_HALF}, _START_MIN, _START_MAX, _APART_M)

    def goal(self) -> GoalScene:
        """Returns the blue cube on the yellow one, and the open hand drawn back from it."""
        yellow = np.array([0.52, 0.04, YELLOW_HALF])
        blue = yellow + np.array([0.0, 0.0, YELLOW_HALF + BLUE_HALF])
        return GoalScene(
            tool=blue + np.array([-0.06, -0.10, 0.14]),
            gripper=1.0,
            objects={BLUE: Pose(blue), YELLOW: Pose(yellow)},
        )

    def new_judge(self) -> StackJudge:
        """Returns a judge of one episode."""
        return StackJudge()


def is_on_top(blue: Pose, yellow: Pose) -> bool:
    """Returns whether the blue cube lies flat on the yellow one, and that one flat on the table."""
    shift = blue.position - yellow.position
    flat = all(max(abs(rotate(cube.quat_xyzw, axis)[2]) for axis in np.eye(3)) > 0.995 for cube in (blue, yellow))
    return (
        flat
        and abs(yellow.position[2] - YELLOW_HALF) < _HEIGHT_TOLERANCE_M
        and abs(shift[2] - YELLOW_HALF - BLUE_HALF) < _HEIGHT_TOLERANCE_M
        and float(np.linalg.norm(shift[:2])) < _LARGEST_SHIFT_M
    )


def _moved(before: Pose, now: Pose) -> bool:
    turn = abs(float(np.dot(before.quat_xyzw, now.quat_xyzw)))
    return float(np.linalg.norm(now.position - before.position)) > _STILL_M or turn < np.cos(_STILL_RAD / 2.0)
