"""Three-piece assembly: put the tower into the base and the cap on the tower."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from cobalt_sim.tasks.carry_stage import carry_stage
from cobalt_sim.tasks.solids import BLUE, GREY, YELLOW, Box, add_stand, add_thing, frame
from cobalt_sim.tasks.stay import Stay
from cobalt_sim.tasks.table_places import stand_apart
from cobalt_sim.tasks.task import ONE_ARM, GoalScene, SceneState
from cobalt_sim.tasks.upright import is_upright
from cobalt_teleop.core.pose import Pose, Vector, quaternion
from cobalt_teleop.workcell_host.plant import Progress, TaskInfo

BASE, TOWER, CAP = 'base_piece', 'tower', 'cap'
BASE_FLOOR, BASE_HEIGHT = 0.006, 0.026
"""Heights of the floor and of the rim of the base [m]."""
BLOCK_HEIGHT, TOWER_HEIGHT = 0.05, 0.078
"""Heights of the tower's block, on which the cap rests, and of its top [m]."""
CAP_HALF = 0.012
"""Half the height of the cap [m]."""

HOLD_S = 0.3
"""Time for which all must be together, let go of [s]."""

_SOCKET, _BASE_OUTER = 0.024, 0.036
_BLOCK_HALF, _PEG_HALF = 0.019, 0.010
_CAP_HOLE, _CAP_OUTER = 0.015, 0.028
_BASE_MIN, _BASE_MAX = np.array([0.46, 0.12]), np.array([0.56, 0.20])
_PIECE_MIN, _PIECE_MAX = np.array([0.42, -0.20]), np.array([0.58, 0.02])
_APART_M = 0.14


class ThreePieceJudge:
    """Success: the tower has stood in the base and the cap lain on the tower, and the arm touches neither."""

    def __init__(self) -> None:
        self._stay = Stay()

    def judge(self, state: SceneState) -> Progress:
        """Returns the progress; half of the stage for each piece."""
        base, tower, cap = (state.objects[name] for name in (BASE, TOWER, CAP))
        stands = is_in_base(tower, base) and TOWER not in state.touched
        lies = stands and is_on_tower(cap, tower) and CAP not in state.touched
        if self._stay.seconds(state.time, is_so=lies) >= HOLD_S:
            return Progress(reward=1.0, stage=1.0, success=True)
        if lies:
            return Progress(stage=0.95)
        if is_in_base(tower, base):
            return Progress(stage=0.5 + 0.5 * carry_stage(state, CAP, cap_place(tower)))
        return Progress(stage=0.5 * carry_stage(state, TOWER, tower_place(base)))


class ThreePieceAssemblyTask:
    """A tower and a cap on the table, and a base that stands fast."""

    info = TaskInfo(
        name='three_piece_assembly',
        instruction='Put the blue tower into the grey base, then the yellow cap on the tower.',
        time_limit_s=120.0,
    )
    objects = (TOWER, CAP, BASE)
    parts = ONE_ARM

    def add_to_scene(self, spec: Any) -> None:
        """Adds the pieces. The frames of base and tower are at their undersides."""
        peg_half = (TOWER_HEIGHT - BLOCK_HEIGHT) / 2.0
        block = Box(half=(_BLOCK_HALF, _BLOCK_HALF, BLOCK_HEIGHT / 2.0), at=(0.0, 0.0, BLOCK_HEIGHT / 2.0))
        peg = Box(half=(_PEG_HALF, _PEG_HALF, peg_half), at=(0.0, 0.0, BLOCK_HEIGHT + peg_half))
        add_thing(spec, TOWER, [block, peg], colour=BLUE, mass=0.08, at=(0.5, -0.15, 0.0))
        add_thing(spec, CAP, frame(_CAP_HOLE, _CAP_OUTER, CAP_HALF), colour=YELLOW, mass=0.05, at=(0.5, 0.0, CAP_HALF))
        floor = Box(half=(_BASE_OUTER, _BASE_OUTER, BASE_FLOOR / 2.0), at=(0.0, 0.0, BASE_FLOOR / 2.0))
        half = (BASE_HEIGHT - BASE_FLOOR) / 2.0
        walls = frame(_SOCKET, _BASE_OUTER, half, at=(0.0, 0.0, BASE_FLOOR + half))
        add_stand(spec, BASE, [floor, *walls], colour=GREY, at=(0.5, 0.15, 0.0))

    def start(self, rng: np.random.Generator) -> Mapping[str, Pose]:
        """Returns tower and cap standing in front of the arm, turned any way, and the base on the left."""
        pieces = stand_apart(rng, {TOWER: 0.0, CAP: CAP_HALF}, _PIECE_MIN, _PIECE_MAX, _APART_M)
        base, yaw = rng.uniform(_BASE_MIN, _BASE_MAX), rng.uniform(-np.pi / 4, np.pi / 4)
        return {**pieces, BASE: Pose(np.array([*base, 0.0]), quaternion([0.0, 0.0, yaw]))}

    def goal(self) -> GoalScene:
        """Returns the pieces together, and the open hand drawn back."""
        base = Pose(np.array([0.50, 0.06, 0.0]), quaternion([0.0, 0.0, 0.3]))
        tower = Pose(tower_place(base), base.quat_xyzw)
        return GoalScene(
            tool=np.array([0.42, -0.08, 0.22]),
            gripper=1.0,
            objects={BASE: base, TOWER: tower, CAP: Pose(cap_place(tower), base.quat_xyzw)},
        )

    def new_judge(self) -> ThreePieceJudge:
        """Returns a judge of one episode."""
        return ThreePieceJudge()


def tower_place(base: Pose) -> Vector:
    """Returns where the tower stands in the base, (3,) [m]."""
    return np.add(base.position, (0.0, 0.0, BASE_FLOOR))


def cap_place(tower: Pose) -> Vector:
    """Returns where the cap lies on an upright tower, (3,) [m]."""
    return np.add(tower.position, (0.0, 0.0, BLOCK_HEIGHT + CAP_HALF))


def is_in_base(tower: Pose, base: Pose) -> bool:
    """Returns whether the tower stands in the base."""
    return _is_at(tower, tower_place(base), 1.5 * (_SOCKET - _BLOCK_HALF))


def is_on_tower(cap: Pose, tower: Pose) -> bool:
    """Returns whether the cap lies around the tower's peg."""
    return _is_at(cap, cap_place(tower), 1.5 * (_CAP_HOLE - _PEG_HALF))


def _is_at(piece: Pose, place: Vector, beside_m: float) -> bool:
    shift = piece.position - place
    return float(np.linalg.norm(shift[:2])) < beside_m and abs(float(shift[2])) < 0.005 and is_upright(piece.quat_xyzw)
