"""Two-arm lift: take the pot by both handles and hold it level above the table."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from cobalt_sim.tasks.solids import BLUE, YELLOW, Box, add_thing, frame
from cobalt_sim.tasks.stay import Stay
from cobalt_sim.tasks.task import TWO_ARMS, GoalScene, SceneState
from cobalt_sim.tasks.upright import is_upright
from cobalt_teleop.core.pose import Pose, Vector, quaternion
from cobalt_teleop.workcell_host.plant import Progress, TaskInfo

POT = 'pot'
HANDLES = {'left': np.array([0.0, 0.135, 0.012]), 'right': np.array([0.0, -0.135, 0.012])}
"""Where each hand takes the pot, in the pot's frame [m]."""
POT_HALF = 0.035
"""Half the pot's height [m]."""
HEIGHT = 0.12
"""Height of the pot's middle above which it counts as lifted [m]."""
HOLD_S = 0.5
"""Time for which it must be held there [s]."""

_EDGE, _WALL = 0.07, 0.006
_LEVEL_RAD = 0.15
_START_MIN, _START_MAX = np.array([0.42, -0.02]), np.array([0.52, 0.02])
_TURN = 0.25
_REACH_M = 0.40


class TwoArmLiftJudge:
    """Success: both hands have held the pot level above the height for the whole holding time."""

    def __init__(self) -> None:
        self._stay = Stay()

    def judge(self, state: SceneState) -> Progress:
        """Returns the progress; the stage grows as each hand nears its handle and holds it, and with height."""
        pot = state.objects[POT]
        holding = [part for part in HANDLES if POT in state.held_by[part]]
        lifted = len(holding) == len(HANDLES) and pot.position[2] >= HEIGHT and is_upright(pot.quat_xyzw, _LEVEL_RAD)
        if self._stay.seconds(state.time, is_so=bool(lifted)) >= HOLD_S:
            return Progress(reward=1.0, stage=1.0, success=True)
        if len(holding) == len(HANDLES):
            risen = (pot.position[2] - POT_HALF) / (HEIGHT - POT_HALF)
            return Progress(stage=0.6 + 0.35 * float(np.clip(risen, 0.0, 1.0)))
        near = [
            max(0.0, 1.0 - float(np.linalg.norm(state.tools[part].position - handle_at(pot, part))) / _REACH_M)
            for part in HANDLES
        ]
        return Progress(stage=sum(0.25 if part in holding else 0.2 * n for part, n in zip(HANDLES, near, strict=True)))


class TwoArmLiftTask:
    """A pot with two handles, too wide for one hand."""

    info = TaskInfo(
        name='two_arm_lift',
        instruction='Take the blue pot by both yellow handles, and hold it level above the table.',
        time_limit_s=90.0,
    )
    objects = (POT,)
    parts = TWO_ARMS

    def add_to_scene(self, spec: Any) -> None:
        """Adds the pot."""
        floor = Box(half=(_EDGE, _EDGE, 0.003), at=(0.0, 0.0, 0.003 - POT_HALF))
        walls = frame(_EDGE - _WALL, _EDGE, POT_HALF - 0.003, at=(0.0, 0.0, 0.003))
        handles = []
        for place in HANDLES.values():
            x, y, z = place.tolist()
            side = float(np.sign(y))
            middle = side * (_EDGE + abs(y)) / 2.0
            reach = (abs(y) - _EDGE) / 2.0
            handles += [
                Box(half=(0.006, reach, 0.008), at=(x + end, middle, z), colour=YELLOW) for end in (-0.032, 0.032)
            ]
            handles.append(Box(half=(0.038, 0.009, 0.010), at=(x, y, z), colour=YELLOW))
        add_thing(spec, POT, [floor, *walls, *handles], colour=BLUE, mass=0.4, at=(0.47, 0.0, POT_HALF))

    def start(self, rng: np.random.Generator) -> Mapping[str, Pose]:
        """Returns the pot standing between the arms, turned a little."""
        place, yaw = rng.uniform(_START_MIN, _START_MAX), rng.uniform(-_TURN, _TURN)
        return {POT: Pose(np.array([*place, POT_HALF]), quaternion([0.0, 0.0, yaw]))}

    def goal(self) -> GoalScene:
        """Returns the pot between both hands, above the table."""
        pot = Pose(np.array([0.47, 0.0, 0.20]))
        return GoalScene(
            tool=handle_at(pot, 'left'), other_tools={'right': handle_at(pot, 'right')}, gripper=0.0, objects={POT: pot}
        )

    def new_judge(self) -> TwoArmLiftJudge:
        """Returns a judge of one episode."""
        return TwoArmLiftJudge()


def handle_at(pot: Pose, part: str) -> Vector:
    """Returns where a hand takes the pot, (3,) [m]."""
    return (pot @ Pose(HANDLES[part])).position
