"""Mug clean-up: open the drawer, put the mug in, and close it."""

from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np

from cobalt_sim.tasks.carry_stage import carry_stage
from cobalt_sim.tasks.solids import BLUE, GREY, YELLOW, Box, Cylinder, add_solids, add_thing
from cobalt_sim.tasks.stay import Stay
from cobalt_sim.tasks.task import ONE_ARM, GoalScene, SceneState
from cobalt_teleop.core.pose import Pose, quaternion
from cobalt_teleop.workcell_host.plant import Progress, TaskInfo

MUG, DRAWER = 'mug', 'drawer'
MUG_HALF = 0.03
"""Half the mug's height [m]."""
CLOSED = np.array([0.50, 0.26, 0.006])
"""Where the closed drawer's floor is, in the base frame [m]; it opens along -y."""
TRAVEL = 0.13
"""How far it opens [m]."""
KNOB = np.array([0.0, -0.108, 0.040])
"""Where the drawer is taken by hand, from its floor [m]."""
KNOB_HALF = 0.024
"""Half the length of the knob along y [m]."""

HOLD_S = 0.3
"""Time for which the mug must be in the closed drawer, let go of [s]."""

_INSIDE = np.array([0.055, 0.062])
_WALL, _FLOOR_HALF, _HEIGHT = 0.004, 0.002, 0.04
_CABINET_TOP = 0.09
_SHUT_M = 0.012
_MUG_RADIUS = 0.028
_START_MIN, _START_MAX = np.array([0.42, -0.20]), np.array([0.58, -0.10])


class MugCleanupJudge:
    """Success: the mug has been in the closed drawer for the holding time, and the arm does not touch it."""

    def __init__(self) -> None:
        self._stay = Stay()

    def judge(self, state: SceneState) -> Progress:
        """Returns the progress; the stage grows as the drawer opens, the mug nears and gets in, and it closes."""
        drawer = state.objects[DRAWER]
        opened = float(np.clip((CLOSED[1] - drawer.position[1]) / TRAVEL, 0.0, 1.0))
        inside = is_in_drawer(state.objects[MUG], drawer) and MUG not in state.touched
        if self._stay.seconds(state.time, is_so=inside and opened * TRAVEL < _SHUT_M) >= HOLD_S:
            return Progress(reward=1.0, stage=1.0, success=True)
        if inside:
            return Progress(stage=0.7 + 0.25 * (1.0 - opened))
        return Progress(stage=0.2 * opened + 0.6 * carry_stage(state, MUG, drawer.position))


class MugCleanupTask:
    """A mug on the table, and a small cabinet with one drawer that stands fast."""

    info = TaskInfo(
        name='mug_cleanup',
        instruction='Open the drawer by its yellow handle, put the blue mug into it, and close the drawer.',
        time_limit_s=150.0,
    )
    objects = (MUG, DRAWER)
    parts = ONE_ARM

    def add_to_scene(self, spec: Any) -> None:
        """Adds the mug, the cabinet and its drawer."""
        add_thing(
            spec,
            MUG,
            [
                Cylinder(radius=_MUG_RADIUS, half_height=MUG_HALF),
                Cylinder(
                    radius=_MUG_RADIUS - 0.004, half_height=0.001, at=(0.0, 0.0, MUG_HALF), colour=GREY, touchable=False
                ),
                Box(half=(0.010, 0.004, 0.004), at=(_MUG_RADIUS + 0.008, 0.0, 0.016)),
                Box(half=(0.010, 0.004, 0.004), at=(_MUG_RADIUS + 0.008, 0.0, -0.014)),
                Box(half=(0.004, 0.004, 0.019), at=(_MUG_RADIUS + 0.018, 0.0, 0.001)),
            ],
            colour=BLUE,
            mass=0.1,
            at=(0.5, -0.15, MUG_HALF),
        )
        _add_cabinet(spec)
        _add_drawer(spec)

    def start(self, rng: np.random.Generator) -> Mapping[str, Pose]:
        """Returns the mug standing in front of the arm, turned any way, and the drawer closed."""
        place, yaw = rng.uniform(_START_MIN, _START_MAX), rng.uniform(-np.pi, np.pi)
        return {MUG: Pose(np.array([*place, MUG_HALF]), quaternion([0.0, 0.0, yaw])), DRAWER: drawer_at(0.0)}

    def goal(self) -> GoalScene:
        """Returns the mug in the closed drawer, and the open hand drawn back."""
        drawer = drawer_at(0.0)
        mug = drawer @ Pose(np.array([0.0, -0.01, _FLOOR_HALF + MUG_HALF]))
        return GoalScene(tool=np.array([0.45, 0.0, 0.2]), gripper=1.0, objects={MUG: mug, DRAWER: drawer})

    def new_judge(self) -> MugCleanupJudge:
        """Returns a judge of one episode."""
        return MugCleanupJudge()


def _add_cabinet(spec: Any) -> None:
    half_x, half_y = _INSIDE[0] + 2.0 * _WALL + 0.003, _INSIDE[1] + 2.0 * _WALL
    back, half_height = half_y + 0.012, _CABINET_TOP / 2.0
    middle = (back - half_y) / 2.0
    body = spec.worldbody.add_body(name='cabinet', pos=(CLOSED[0], CLOSED[1], 0.0))
    sides = [
        Box(half=(0.005, (half_y + back) / 2.0, half_height), at=(side * (half_x + 0.005), middle, half_height))
        for side in (-1, 1)
    ]
    # Bars, so that one sees what is in the closed drawer.
    bars = [
        Box(half=(0.004, (half_y + back) / 2.0, 0.004), at=(x, middle, _CABINET_TOP + 0.004))
        for x in np.linspace(-half_x - 0.006, half_x + 0.006, 6).tolist()
    ]
    rear = Box(half=(half_x, 0.004, half_height), at=(0.0, back - 0.004, half_height))
    add_solids(spec, body, [*sides, *bars, rear], colour=(0.80, 0.82, 0.84), mass=1.0)


def _add_drawer(spec: Any) -> None:
    body = spec.worldbody.add_body(name=DRAWER, pos=CLOSED)
    body.add_joint(
        name=DRAWER,
        type=mujoco.mjtJoint.mjJNT_SLIDE,
        axis=(0.0, -1.0, 0.0),
        range=(0.0, TRAVEL),
        limited=True,
        damping=4.0,
        frictionloss=0.5,
    )
    x, y = _INSIDE.tolist()
    front = Box(half=(x + _WALL * 2.0, _WALL, 0.038), at=(0.0, -y - _WALL * 3.0, 0.038), colour=GREY)
    knob = Box(half=(0.009, KNOB_HALF, 0.012), at=KNOB.tolist(), colour=YELLOW)
    sides = [
        Box(half=(_WALL, y + 2.0 * _WALL, _HEIGHT / 2.0), at=(side * (x + _WALL), 0.0, _HEIGHT / 2.0))
        for side in (-1, 1)
    ]
    ends = [Box(half=(x, _WALL, _HEIGHT / 2.0), at=(0.0, side * (y + _WALL), _HEIGHT / 2.0)) for side in (-1, 1)]
    floor = Box(half=(x, y, _FLOOR_HALF))
    add_solids(spec, body, [floor, *sides, *ends, front, knob], colour=(0.62, 0.65, 0.68), mass=0.3)


def drawer_at(opened_m: float) -> Pose:
    """Returns the pose of the drawer when it is open by so much [m]."""
    return Pose(CLOSED - np.array([0.0, opened_m, 0.0]))


def is_in_drawer(mug: Pose, drawer: Pose) -> bool:
    """Returns whether the mug's middle is between the drawer's walls, and not above them on something."""
    x, y, z = mug.position - drawer.position
    return bool(abs(x) < _INSIDE[0] and abs(y) < _INSIDE[1]) and 0.0 < float(z) < MUG_HALF + 0.01
