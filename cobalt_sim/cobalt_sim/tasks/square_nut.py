"""Square nut: put the nut over the peg."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from cobalt_sim.tasks.carry_stage import carry_stage
from cobalt_sim.tasks.solids import BLUE, YELLOW, Box, add_stand, add_thing, frame
from cobalt_sim.tasks.stay import Stay
from cobalt_sim.tasks.task import ONE_ARM, GoalScene, SceneState
from cobalt_sim.tasks.upright import is_upright
from cobalt_teleop.core.pose import Pose, quaternion
from cobalt_teleop.workcell_host.plant import Progress, TaskInfo

NUT, PEG = 'nut', 'peg'
NUT_HALF = 0.012
"""Half the nut's height [m]."""
HANDLE = 0.075
"""Where the nut's handle is taken, along x from the middle of its hole [m]."""
PEG_HEIGHT = 0.09
"""[m]."""

HOLD_S = 0.3
"""Time for which the nut must lie around the peg, let go of [s]."""

_HOLE, _OUTER, _PEG_HALF = 0.022, 0.034, 0.016
_SHIFT_M = 1.5 * (_HOLE - _PEG_HALF)
_NUT_MIN, _NUT_MAX = np.array([0.42, -0.20]), np.array([0.56, -0.06])
_PEG_MIN, _PEG_MAX = np.array([0.44, 0.10]), np.array([0.56, 0.20])


class SquareNutJudge:
    """Success: the nut has lain flat around the peg for the holding time, and the arm does not touch it."""

    def __init__(self) -> None:
        self._stay = Stay()

    def judge(self, state: SceneState) -> Progress:
        """Returns the progress; the stage grows with nearness, grasp, and nearness to the peg."""
        lies = is_around_peg(state.objects[NUT], state.objects[PEG]) and NUT not in state.touched
        if self._stay.seconds(state.time, is_so=lies) >= HOLD_S:
            return Progress(reward=1.0, stage=1.0, success=True)
        place = state.objects[PEG].position + np.array([0.0, 0.0, NUT_HALF])
        return Progress(stage=0.9 if lies else carry_stage(state, NUT, place))


class SquareNutTask:
    """A square nut with a handle on the table, and a square peg that stands fast."""

    info = TaskInfo(
        name='square_nut',
        instruction='Take the blue nut by its handle, put it over the yellow peg, and let go.',
        time_limit_s=90.0,
    )
    objects = (NUT, PEG)
    parts = ONE_ARM

    def add_to_scene(self, spec: Any) -> None:
        """Adds the nut and the peg."""
        half_length = 0.035
        handle = Box(half=(half_length, 0.011, NUT_HALF), at=(_OUTER + half_length, 0.0, 0.0))
        walls = frame(_HOLE, _OUTER, NUT_HALF)
        add_thing(spec, NUT, [*walls, handle], colour=BLUE, mass=0.08, at=(0.5, -0.1, NUT_HALF))
        peg = Box(half=(_PEG_HALF, _PEG_HALF, PEG_HEIGHT / 2.0), at=(0.0, 0.0, PEG_HEIGHT / 2.0))
        add_stand(spec, PEG, [peg], colour=YELLOW, at=(0.5, 0.15, 0.0))

    def start(self, rng: np.random.Generator) -> Mapping[str, Pose]:
        """Returns the nut lying on the right, turned any way, and the peg on the left."""
        nut, peg = rng.uniform(_NUT_MIN, _NUT_MAX), rng.uniform(_PEG_MIN, _PEG_MAX)
        nut_yaw, peg_yaw = rng.uniform(-np.pi, np.pi), rng.uniform(-np.pi / 4, np.pi / 4)
        return {
            NUT: Pose(np.array([*nut, NUT_HALF]), quaternion([0.0, 0.0, nut_yaw])),
            PEG: Pose(np.array([*peg, 0.0]), quaternion([0.0, 0.0, peg_yaw])),
        }

    def goal(self) -> GoalScene:
        """Returns the nut around the peg, and the open hand drawn back from it."""
        peg, turn = np.array([0.48, 0.06, 0.0]), quaternion([0.0, 0.0, 0.3])
        return GoalScene(
            tool=np.array([0.42, -0.06, 0.20]),
            gripper=1.0,
            objects={NUT: Pose(peg + np.array([0.0, 0.0, NUT_HALF]), turn), PEG: Pose(peg, turn)},
        )

    def new_judge(self) -> SquareNutJudge:
        """Returns a judge of one episode."""
        return SquareNutJudge()


def is_around_peg(nut: Pose, peg: Pose) -> bool:
    """Returns whether the nut lies flat on the table, the peg through its hole."""
    shift = nut.position - peg.position
    return (
        float(np.linalg.norm(shift[:2])) < _SHIFT_M and abs(shift[2] - NUT_HALF) < 0.005 and is_upright(nut.quat_xyzw)
    )
