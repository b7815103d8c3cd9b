"""Threading: put the needle through the ring."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from cobalt_sim.tasks.carry_stage import carry_stage
from cobalt_sim.tasks.ghost_hand import POINTING_DOWN
from cobalt_sim.tasks.solids import BLUE, GREY, YELLOW, Box, add_stand, add_thing, ring
from cobalt_sim.tasks.stay import Stay
from cobalt_sim.tasks.task import ONE_ARM, GoalScene, SceneState
from cobalt_teleop.core.pose import Pose, multiply, quaternion, rotate
from cobalt_teleop.workcell_host.plant import Progress, TaskInfo

NEEDLE, RING = 'needle', 'ring'
NEEDLE_HALF = 0.012
"""Half the height of the needle's handle [m]."""
TIP = 0.115
"""How far the needle's tip is from the middle of its handle, along x [m]."""
RING_HEIGHT = 0.12
"""Of the middle of the ring's hole over the table [m]; the hole is along the ring's z."""

THROUGH_M = 0.03
"""How far the tip must have come out of the ring [m]."""
HOLD_S = 0.3
"""Time for which the needle must be there [s]."""

_HANDLE_END, _SHAFT_HALF = 0.02, 0.003
_HOLE, _OUTER, _RING_HALF = 0.016, 0.023, 0.004
_NEEDLE_MIN, _NEEDLE_MAX = np.array([0.40, -0.20]), np.array([0.48, -0.08])
_RING_MIN, _RING_MAX = np.array([0.53, 0.02]), np.array([0.60, 0.14])
_NEEDLE_TURN, _RING_TURN = np.pi / 3, np.pi / 6


class ThreadingJudge:
    """Success: the needle's shaft has been in the hole for the holding time, and its tip far beyond."""

    def __init__(self) -> None:
        self._stay = Stay()

    def judge(self, state: SceneState) -> Progress:
        """Returns the progress; the stage grows with nearness, grasp, and nearness to the ring."""
        needle, hole = state.objects[NEEDLE], state.objects[RING]
        through = way_through(needle, hole)
        if self._stay.seconds(state.time, is_so=through >= THROUGH_M) >= HOLD_S:
            return Progress(reward=1.0, stage=1.0, success=True)
        if through > 0.0:
            return Progress(stage=0.8 + 0.1 * min(1.0, through / THROUGH_M))
        tip = needle @ Pose(np.array([TIP, 0.0, 0.0]))
        return Progress(stage=carry_stage(state, NEEDLE, needle.position + hole.position - tip.position))


class ThreadingTask:
    """A needle with a handle on the table, and a ring on a post that stands fast."""

    info = TaskInfo(
        name='threading',
        instruction='Take the blue needle by its thick end and put it through the yellow ring.',
        time_limit_s=90.0,
    )
    objects = (NEEDLE, RING)
    parts = ONE_ARM

    def add_to_scene(self, spec: Any) -> None:
        """Adds the needle and the ring."""
        handle = Box(half=(_HANDLE_END, 0.011, NEEDLE_HALF))
        half_length = (TIP - _HANDLE_END) / 2.0
        shaft = Box(half=(half_length, _SHAFT_HALF, _SHAFT_HALF), at=(_HANDLE_END + half_length, 0.0, 0.0))
        add_thing(spec, NEEDLE, [handle, shaft], colour=BLUE, mass=0.05, at=(0.45, -0.15, NEEDLE_HALF))
        # The hole is along z, so y is what is up.
        below = RING_HEIGHT - _OUTER
        foot = Box(half=(0.03, 0.004, 0.03), at=(0.0, 0.004 - RING_HEIGHT, 0.0), colour=GREY)
        post = Box(half=(0.005, below / 2.0, 0.004), at=(0.0, -_OUTER - below / 2.0, 0.0), colour=GREY)
        add_stand(
            spec, RING, [foot, post, *ring(_HOLE, _OUTER, _RING_HALF)], colour=YELLOW, at=(0.55, 0.1, RING_HEIGHT)
        )

    def start(self, rng: np.random.Generator) -> Mapping[str, Pose]:
        """Returns the needle lying near the arm, and the ring further away; both point away from it, more or less."""
        needle, place = rng.uniform(_NEEDLE_MIN, _NEEDLE_MAX), rng.uniform(_RING_MIN, _RING_MAX)
        needle_yaw, ring_yaw = rng.uniform(-1.0, 1.0, 2) * (_NEEDLE_TURN, _RING_TURN)
        return {
            NEEDLE: Pose(np.array([*needle, NEEDLE_HALF]), quaternion([0.0, 0.0, needle_yaw])),
            RING: ring_at(place, ring_yaw),
        }

    def goal(self) -> GoalScene:
        """Returns the needle in the hand, its tip beyond the ring; turned, so that it is seen from the side."""
        yaw = -_RING_TURN
        hole = ring_at(np.array([0.54, 0.04]), yaw)
        turn = quaternion([0.0, 0.0, yaw])
        needle = Pose(hole.position - rotate(turn, np.array([TIP - 0.055, 0.0, 0.0])), turn)
        return GoalScene(
            tool=needle.position,
            quat_xyzw=multiply(turn, POINTING_DOWN),
            gripper=0.0,
            objects={NEEDLE: needle, RING: hole},
        )

    def new_judge(self) -> ThreadingJudge:
        """Returns a judge of one episode."""
        return ThreadingJudge()


def ring_at(place: Any, yaw: float) -> Pose:
    """Returns the pose of a ring that stands at a place (2,) on the table [m], its hole along x turned by yaw [rad]."""
    upright = multiply(quaternion([0.0, 0.0, np.pi / 2]), quaternion([np.pi / 2, 0.0, 0.0]))
    return Pose(np.array([*place, RING_HEIGHT]), multiply(quaternion([0.0, 0.0, yaw]), upright))


def way_through(needle: Pose, hole: Pose) -> float:
    """Returns how far the needle's tip has come out of the ring, from either side [m]; 0 if it is not in the hole."""
    in_ring = hole.inverse() @ needle
    start = (in_ring @ Pose(np.array([_HANDLE_END, 0.0, 0.0]))).position
    tip = (in_ring @ Pose(np.array([TIP, 0.0, 0.0]))).position
    if start[2] * tip[2] >= 0.0:
        return 0.0
    crossing = start + (tip - start) * start[2] / (start[2] - tip[2])
    return abs(float(tip[2])) if float(np.linalg.norm(crossing[:2])) < _HOLE else 0.0
