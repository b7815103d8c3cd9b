"""Two-arm handover: the left arm gives the bar to the right one, which lays it into its box."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from cobalt_sim.tasks.solids import BLUE, GREY, YELLOW, Box, add_stand, add_thing
from cobalt_sim.tasks.stay import Stay
from cobalt_sim.tasks.task import TWO_ARMS, GoalScene, SceneState
from cobalt_teleop.core.pose import Pose, quaternion
from cobalt_teleop.workcell_host.plant import Progress, TaskInfo

BAR, BOX = 'bar', 'box'
BAR_HALF = np.array([0.012, 0.095, 0.014])
"""Half its lengths [m]; it is long along y."""
TAKEN_AT = {'left': 0.068, 'right': -0.068}
"""Where each hand takes it, along y [m]."""
FLOOR = 0.004
"""Height of the box's floor [m]."""
WALL_HEIGHT = 0.035
"""Of the box [m]."""
HOLD_S = 0.3
"""Time for which the bar must lie in the box, let go of [s]."""

_INSIDE = np.array([0.06, 0.12])
_WALL = 0.004
_START_MIN, _START_MAX = np.array([0.42, 0.24]), np.array([0.54, 0.32])
_TURN = np.pi / 6
# Out of the left arm's reach.
_BOX_MIN, _BOX_MAX = np.array([0.44, -0.39]), np.array([0.52, -0.33])


class TwoArmHandoverJudge:
    """Success: the bar has lain in the box for the holding time, and no arm touches it."""

    def __init__(self) -> None:
        self._stay = Stay()

    def judge(self, state: SceneState) -> Progress:
        """Returns the progress; the stage grows from the left hand over both to the right one, and with nearness."""
        bar = state.objects[BAR]
        box = state.objects[BOX]
        inside = is_in_box(bar, box) and BAR not in state.touched
        if self._stay.seconds(state.time, is_so=inside) >= HOLD_S:
            return Progress(reward=1.0, stage=1.0, success=True)
        left, right = (BAR in state.held_by[part] for part in TWO_ARMS)
        far = float(np.linalg.norm(bar.position[:2] - box.position[:2]))
        if inside:
            return Progress(stage=0.95)
        if right:
            return Progress(stage=0.5 if left else 0.6 + 0.3 * max(0.0, 1.0 - far / 0.8))
        if left:
            return Progress(stage=0.2 + 0.2 * max(0.0, 1.0 - far / 0.8))
        return Progress(stage=0.15 * max(0.0, 1.0 - float(np.linalg.norm(bar.position - state.tool.position)) / 0.4))


class TwoArmHandoverTask:
    """A bar before the left arm, and an open box beside the right one that stands fast."""

    info = TaskInfo(
        name='two_arm_handover',
        instruction='Take the bar with the arm beside it, hand it over to the other arm, and lay it into the box.',
        time_limit_s=120.0,
    )
    objects = (BAR, BOX)
    parts = TWO_ARMS

    def add_to_scene(self, spec: Any) -> None:
        """Adds the bar and the box."""
        x, y, z = BAR_HALF.tolist()
        ends = [Box(half=(x, 0.03, z), at=(0.0, side * (y - 0.03), 0.0), colour=BLUE) for side in (-1, 1)]
        middle = Box(half=(x, y - 0.06, z), colour=YELLOW)
        add_thing(spec, BAR, [middle, *ends], colour=BLUE, mass=0.1, at=(0.5, 0.28, z))
        length, width = _INSIDE.tolist()
        half = WALL_HEIGHT / 2.0
        floor = Box(half=(length, width, FLOOR / 2.0), at=(0.0, 0.0, FLOOR / 2.0))
        walls = []
        for side in (-1, 1):
            walls.append(Box(half=(_WALL, width + 2.0 * _WALL, half), at=(side * (length + _WALL), 0.0, half)))
            walls.append(Box(half=(length, _WALL, half), at=(0.0, side * (width + _WALL), half)))
        add_stand(spec, BOX, [floor, *walls], colour=GREY, at=(0.47, -0.36, 0.0))

    def start(self, rng: np.random.Generator) -> Mapping[str, Pose]:
        """Returns the bar lying before the left arm, turned a little."""
        place, yaw = rng.uniform(_START_MIN, _START_MAX), rng.uniform(-_TURN, _TURN)
        return {
            BAR: Pose(np.array([*place, BAR_HALF[2]]), quaternion([0.0, 0.0, yaw])),
            BOX: Pose(np.array([*rng.uniform(_BOX_MIN, _BOX_MAX), 0.0])),
        }

    def goal(self) -> GoalScene:
        """Returns the bar in the box, and the open hands drawn back."""
        box = Pose(np.array([0.47, -0.33, 0.0]))
        return GoalScene(
            tool=np.array([0.42, 0.18, 0.22]),
            other_tools={'right': np.array([0.42, -0.14, 0.22])},
            gripper=1.0,
            objects={BAR: Pose(np.add(box.position, (0.0, 0.0, FLOOR + BAR_HALF[2]))), BOX: box},
        )

    def new_judge(self) -> TwoArmHandoverJudge:
        """Returns a judge of one episode."""
        return TwoArmHandoverJudge()


def is_in_box(bar: Pose, box: Pose) -> bool:
    """Returns whether the bar's middle is between the walls, below their edge."""
    beside = np.abs(bar.position[:2] - box.position[:2])
    return bool((beside < _INSIDE).all()) and float(bar.position[2]) < WALL_HEIGHT
