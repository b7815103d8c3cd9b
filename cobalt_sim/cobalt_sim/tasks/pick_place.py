"""Pick and place: put the blue cube and the yellow can into the box."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from cobalt_sim.tasks.solids import BLUE, GREY, YELLOW, Box, Cylinder, add_solids, add_thing
from cobalt_sim.tasks.stay import Stay
from cobalt_sim.tasks.table_places import stand_apart
from cobalt_sim.tasks.task import ONE_ARM, GoalScene, SceneState
from cobalt_teleop.core.pose import Pose
from cobalt_teleop.workcell_host.plant import Progress, TaskInfo

CUBE, CAN = 'blue_cube', 'yellow_can'
CUBE_HALF, CAN_RADIUS, CAN_HALF = 0.02, 0.021, 0.03
"""Half the cube's edge, the can's radius, half its height [m]."""

BOX_PLACE = np.array([0.48, 0.19])
"""Middle of the box on the table [m]."""
BOX_INSIDE = np.array([0.085, 0.075])
"""Half its inner length and width [m]."""
WALL_HEIGHT, _WALL, _FLOOR = 0.045, 0.004, 0.004

HOLD_S = 0.3
"""Time for which both must lie in the box, let go of [s]."""

_START_MIN, _START_MAX = np.array([0.40, -0.20]), np.array([0.58, 0.02])
_APART_M = 0.12
_REACH_M = 0.40


class PickPlaceJudge:
    """Success: both things have been in the box for the holding time, and the arm touches neither."""

    def __init__(self) -> None:
        self._stay = Stay()

    def judge(self, state: SceneState) -> Progress:
        """Returns the progress; half of the stage for each thing, which grows with grasp and nearness to the box."""
        inside = [is_in_box(state.objects[name]) and name not in state.touched for name in (CUBE, CAN)]
        success = self._stay.seconds(state.time, is_so=all(inside)) >= HOLD_S
        if success:
            return Progress(reward=1.0, stage=1.0, success=True)
        stage = sum(
            0.48 if done else self._stage_of(state, name) for name, done in zip((CUBE, CAN), inside, strict=True)
        )
        return Progress(stage=stage)

    @staticmethod
    def _stage_of(state: SceneState, name: str) -> float:
        place = state.objects[name].position
        if name not in state.held:
            return 0.1 * max(0.0, 1.0 - float(np.linalg.norm(place - state.tool.position)) / _REACH_M)
        return 0.2 + 0.2 * max(0.0, 1.0 - float(np.linalg.norm(place[:2] - BOX_PLACE)) / _REACH_M)


class PickPlaceTask:
    """Two things on the table, and an open box beside them that stands fast."""

    info = TaskInfo(
        name='pick_place', instruction='Put the blue cube and the yellow can into the box.', time_limit_s=120.0
    )
    objects = (CUBE, CAN)
    parts = ONE_ARM

    def add_to_scene(self, spec: Any) -> None:
        """Adds the things and the box."""
        cube = Box(half=(CUBE_HALF,) * 3)
        can = Cylinder(radius=CAN_RADIUS, half_height=CAN_HALF)
        add_thing(spec, CUBE, [cube], colour=BLUE, mass=0.06, at=(0.5, 0.1, CUBE_HALF))
        add_thing(spec, CAN, [can], colour=YELLOW, mass=0.06, at=(0.5, -0.1, CAN_HALF))
        length, width = BOX_INSIDE.tolist()
        half_height = WALL_HEIGHT / 2.0
        walls = [
            Box(half=(length, width, _FLOOR / 2.0), at=(0.0, 0.0, _FLOOR / 2.0)),
            Box(half=(_WALL, width + 2.0 * _WALL, half_height), at=(length + _WALL, 0.0, half_height)),
            Box(half=(_WALL, width + 2.0 * _WALL, half_height), at=(-length - _WALL, 0.0, half_height)),
            Box(half=(length, _WALL, half_height), at=(0.0, width + _WALL, half_height)),
            Box(half=(length, _WALL, half_height), at=(0.0, -width - _WALL, half_height)),
        ]
        box = spec.worldbody.add_body(name='box', pos=(*BOX_PLACE, 0.0))
        add_solids(spec, box, walls, colour=GREY, mass=1.0)

    def start(self, rng: np.random.Generator) -> Mapping[str, Pose]:
        """Returns both things standing in front of the arm, turned any way, with room for the hand between them."""
        return stand_apart(rng, {CUBE: CUBE_HALF, CAN: CAN_HALF}, _START_MIN, _START_MAX, _APART_M)

    def goal(self) -> GoalScene:
        """Returns both things in the box, and the open hand drawn back."""
        return GoalScene(
            tool=np.array([0.46, 0.0, 0.22]),
            gripper=1.0,
            objects={CUBE: in_box(0.035, -0.02, CUBE_HALF), CAN: in_box(-0.035, 0.02, CAN_HALF)},
        )

    def new_judge(self) -> PickPlaceJudge:
        """Returns a judge of one episode."""
        return PickPlaceJudge()


def in_box(x: float, y: float, half_height: float) -> Pose:
    """Returns where a thing stands in the box, so far from its middle [m]."""
    return Pose(np.array([BOX_PLACE[0] + x, BOX_PLACE[1] + y, _FLOOR + half_height]))


def is_in_box(thing: Pose) -> bool:
    """Returns whether a thing's middle is between the walls, below their edge."""
    beside = np.abs(thing.position[:2] - BOX_PLACE)
    return bool((beside < BOX_INSIDE).all()) and float(thing.position[2]) < WALL_HEIGHT
