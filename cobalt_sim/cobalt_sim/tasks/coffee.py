"""Coffee: put the pod into the machine and close its lid."""

from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np

from cobalt_sim.tasks.carry_stage import carry_stage
from cobalt_sim.tasks.solids import BLUE, GREY, YELLOW, Box, Cylinder, add_solids, add_thing, ring
from cobalt_sim.tasks.stay import Stay
from cobalt_sim.tasks.task import ONE_ARM, GoalScene, SceneState
from cobalt_sim.tasks.upright import is_upright
from cobalt_teleop.core.pose import Pose, angle_between, quaternion
from cobalt_teleop.workcell_host.plant import Progress, TaskInfo

POD, LID = 'pod', 'lid'
POD_HALF = 0.022
"""Half the pod's height [m]."""
HOLDER = np.array([0.50, 0.14, 0.06])
"""Where a pod stands in the machine, in the base frame [m]."""
HINGE = HOLDER + np.array([0.0, 0.062, 0.058])
"""Of the lid, along x [m]."""
LID_LENGTH = 0.10
"""From the hinge to the lid's end [m]."""
OPEN_RAD = 1.8
"""How far the lid opens [rad]."""

HOLD_S = 0.3
"""Time for which the pod must be in the closed machine, let go of [s]."""

_POD_RADIUS, _HOLE, _RIM = 0.021, 0.026, 0.014
_SHUT_RAD = 0.12
_START_MIN, _START_MAX = np.array([0.42, -0.20]), np.array([0.58, -0.04])


class CoffeeJudge:
    """Success: the pod has stood in the holder under the closed lid, and the arm does not touch it."""

    def __init__(self) -> None:
        self._stay = Stay()

    def judge(self, state: SceneState) -> Progress:
        """Returns the progress; the stage grows with nearness, grasp, nearness to the holder, and as the lid closes."""
        pod, opened = state.objects[POD], opening_of(state.objects[LID])
        inside = is_in_holder(pod) and POD not in state.touched
        if self._stay.seconds(state.time, is_so=inside and opened < _SHUT_RAD) >= HOLD_S:
            return Progress(reward=1.0, stage=1.0, success=True)
        if inside:
            return Progress(stage=0.6 + 0.35 * (1.0 - opened / OPEN_RAD))
        return Progress(stage=0.7 * carry_stage(state, POD, HOLDER))


class CoffeeTask:
    """A pod on the table, and a coffee machine that stands fast, its lid open."""

    info = TaskInfo(
        name='coffee',
        instruction='Put the blue pod into the coffee machine and close the yellow lid.',
        time_limit_s=120.0,
    )
    objects = (POD, LID)
    parts = ONE_ARM

    def add_to_scene(self, spec: Any) -> None:
        """Adds the pod and the machine."""
        body = Cylinder(radius=_POD_RADIUS, half_height=POD_HALF)
        cap = Cylinder(
            radius=_POD_RADIUS - 0.003,
            half_height=0.0008,
            at=(0.0, 0.0, POD_HALF),
            colour=(0.9, 0.9, 0.9),
            touchable=False,
        )
        add_thing(spec, POD, [body, cap], colour=BLUE, mass=0.05, at=(0.5, -0.15, POD_HALF))
        _add_machine(spec)
        _add_lid(spec)

    def start(self, rng: np.random.Generator) -> Mapping[str, Pose]:
        """Returns the pod standing in front of the arm, and the lid open."""
        place = rng.uniform(_START_MIN, _START_MAX)
        return {POD: Pose(np.array([*place, POD_HALF])), LID: lid_at(OPEN_RAD)}

    def goal(self) -> GoalScene:
        """Returns the pod in the machine, the lid closed, and the open hand drawn back."""
        return GoalScene(
            tool=np.array([0.45, -0.05, 0.2]),
            gripper=1.0,
            objects={POD: Pose(HOLDER + np.array([0.0, 0.0, POD_HALF])), LID: lid_at(0.0)},
        )

    def new_judge(self) -> CoffeeJudge:
        """Returns a judge of one episode."""
        return CoffeeJudge()


def _add_machine(spec: Any) -> None:
    x, y, floor = HOLDER.tolist()
    body = spec.worldbody.add_body(name='machine', pos=(x, y, 0.0))
    foot = Box(half=(0.055, 0.06, 0.006), at=(0.0, 0.0, 0.006))
    block = Box(half=(0.045, 0.042, floor / 2.0 - 0.003), at=(0.0, 0.0, floor / 2.0 + 0.003))
    rim = ring(_HOLE, _HOLE + 0.007, _RIM / 2.0, at=(0.0, 0.0, floor + _RIM / 2.0))
    hinge_y, hinge_z = (HINGE - HOLDER)[1], HINGE[2]
    tower = Box(half=(0.045, 0.010, hinge_z / 2.0 - 0.004), at=(0.0, hinge_y + 0.012, hinge_z / 2.0 - 0.004))
    add_solids(spec, body, [foot, block, tower, *rim], colour=GREY, mass=1.0)


def _add_lid(spec: Any) -> None:
    body = spec.worldbody.add_body(name=LID, pos=HINGE)
    body.add_joint(
        name=LID,
        type=mujoco.mjtJoint.mjJNT_HINGE,
        axis=(-1.0, 0.0, 0.0),
        range=(0.0, OPEN_RAD),
        limited=True,
        damping=0.01,
        frictionloss=0.01,
        armature=0.0005,
    )
    plate = Box(half=(0.038, LID_LENGTH / 2.0 - 0.004, 0.004), at=(0.0, -LID_LENGTH / 2.0 - 0.004, 0.0))
    add_solids(spec, body, [plate], colour=YELLOW, mass=0.06)


def lid_at(opened_rad: float) -> Pose:
    """Returns the pose of the lid when it is open by so much [rad]."""
    return Pose(HINGE, quaternion([-opened_rad, 0.0, 0.0]))


def opening_of(lid: Pose) -> float:
    """Returns how far the lid is open [rad]."""
    return angle_between(lid.quat_xyzw, lid_at(0.0).quat_xyzw)


def is_in_holder(pod: Pose) -> bool:
    """Returns whether the pod stands upright in the machine's holder."""
    shift = pod.position - HOLDER
    beside = float(np.linalg.norm(shift[:2])) < 1.3 * (_HOLE - _POD_RADIUS)
    return beside and abs(float(shift[2]) - POD_HALF) < 0.006 and is_upright(pod.quat_xyzw)
