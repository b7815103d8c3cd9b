#!/usr/bin/env python3
"""How closely the simulated arm follows a hand through the guard at 20 Hz, before its servos ran ahead and now.

The hand's path is made (hand_path.py tells how), no person's recording. Commands reach the guard without a network, one
a tick, so that lag is the guard's and the arm's alone; the tool is looked at in every step of the physics. The error is
of the tool against the hand at the same moment; the lag is the delay of the hand's path that fits the tool's best. A
step is a jump of the hand; `far` is a place where the arm reaches out; `bounce` is how far the tool swings over where a
key's even motion stops at once.
"""

import argparse
import sys
from dataclasses import dataclass, replace
from typing import Any

import harness

harness.enter_workspace()

import mujoco  # noqa: E402
import numpy as np  # noqa: E402
from hand_path import HandHabits, HandPath, circle_path, made_hand_path, moved, step_path  # noqa: E402

from cobalt_sim.arm_drive import ArmDrive  # noqa: E402
from cobalt_sim.experts.expert import ExpertCommand  # noqa: E402
from cobalt_sim.in_process import GuardedPlant  # noqa: E402
from cobalt_sim.mujoco_plant import PART, MujocoPlant  # noqa: E402
from cobalt_sim.render_profile import load_profile  # noqa: E402
from cobalt_sim.sim_world import SimWorld  # noqa: E402
from cobalt_sim.tasks import load_task  # noqa: E402
from cobalt_teleop.core.pose import Pose, Vector, inverse, multiply, rotation_vector  # noqa: E402
from cobalt_teleop.kinematics.robot_description import load_robot  # noqa: E402

PANDA = 'franka_panda'
TICK_S = 0.05
MIDDLE = np.array([0.47, 0.0, 0.22])
FAR = np.array([0.60, -0.20, 0.12])
STEPS_M = (0.05, 0.02)
TURN_RAD = 0.35
KEY_SPEED = 0.15

# What the model and robot.yaml had before: stiffness [Nm/rad] and damping [Nms/rad] of the joints, accelerations.
OLD_SERVOS = ((4500, 250), (4500, 250), (3500, 180), (3500, 180), (2000, 80), (2000, 80), (2000, 80))
OLD_ACCELERATIONS = {'linear_acceleration': 1.5, 'angular_acceleration': 8.0}


class HeldTargets(ArmDrive):
    """The drive as it was: each target is held through its tick."""

    def run(self, data: Any) -> None:
        data.act[self._act] = self._target
        data.ctrl[self._ctrl] = 0.0


@dataclass(frozen=True, kw_only=True)
class Followed:
    """What a run left, one row a physics step.

    Attributes:
        start: Of the tool, where the hand's motion is zero.
        times: (n,) since the hand's motion began [s].
        places: (n, 3) of the tool [m].
        turns: (n, 4) xyzw.
        at_limit: (n, joints) the servo gives all the torque that it may.
    """

    start: Pose
    times: Vector
    places: Vector
    turns: Vector
    at_limit: Vector


def make_plant(name: str, *, old: bool) -> MujocoPlant:
    """Returns a workcell without cameras, as it is, or as the Panda's was."""
    robot = load_robot(name)
    if not old:
        return MujocoPlant(SimWorld(robot, load_task('lift'), [], load_profile('fast')))
    robot = replace(robot, limits=replace(robot.limits, **OLD_ACCELERATIONS))
    world = SimWorld(robot, load_task('lift'), [], load_profile('fast'))
    for actuator, (stiffness, damping) in zip(world.indices.arms[PART].arm_ctrl, OLD_SERVOS, strict=True):
        world.model.actuator_gainprm[actuator, 0] = stiffness
        world.model.actuator_biasprm[actuator, 1:3] = -stiffness, -damping
    plant = MujocoPlant(world)
    plant._arms[PART].drive.__class__ = HeldTargets
    return plant


def follow(plant: MujocoPlant, path: HandPath, seconds: float, place: Vector = MIDDLE) -> Followed:
    """Drives the tool to a place, and from there along a hand's path."""
    guarded = GuardedPlant(plant)
    guarded.reset(0)
    start = plant.observe().parts[PART].pose
    for tick in range(120):
        share = min(1.0, tick / 80)
        pose = Pose(start.position + share * (place - start.position), start.quat_xyzw)
        guarded.tick(ExpertCommand(pose=pose, gripper=1.0, engaged=0 < tick < 110))
    start = plant.observe().parts[PART].pose
    began_s = float(plant.data.time)
    indices = plant._world.indices.arms[PART]
    torque = plant._world.model.actuator_forcerange[indices.arm_ctrl, 1]
    rows: list[Vector] = []
    quat_wxyz = np.zeros(4)

    def look(_: Any, data: Any) -> None:
        mujoco.mju_mat2Quat(quat_wxyz, data.site_xmat[indices.tool_site])
        at_limit = np.abs(data.actuator_force[indices.arm_ctrl]) >= torque - 1e-6
        rows.append(np.array([data.time, *data.site_xpos[indices.tool_site], *quat_wxyz[[1, 2, 3, 0]], *at_limit]))

    mujoco.set_mjcb_control(look)
    try:
        for tick in range(round(seconds / TICK_S)):
            guarded.tick(ExpertCommand(pose=moved(start, path(tick * TICK_S)), gripper=1.0, engaged=True))
    finally:
        mujoco.set_mjcb_control(None)
    table = np.array(rows)
    # Each tick ends with a look at the state in which the next begins.
    table = table[np.append(np.diff(table[:, 0]) > 1e-9, True)]
    return Followed(
        start=start,
        times=table[:, 0] - began_s,
        places=table[:, 1:4],
        turns=table[:, 4:8],
        at_limit=table[:, 8:],
    )


def errors(run: Followed, path: HandPath, delay_s: float) -> tuple[float, float]:
    """Returns root mean squares of the distance [m] and the angle [rad] to the hand's path, delayed."""
    every = slice(None, None, 5)
    hand = [moved(run.start, path(time - delay_s)) for time in run.times[every]]
    distance = run.places[every] - np.array([pose.position for pose in hand])
    cosine = np.abs((run.turns[every] * np.array([pose.quat_xyzw for pose in hand])).sum(axis=1)).clip(0.0, 1.0)
    return float(np.sqrt((distance**2).sum(axis=1).mean())), float(np.sqrt(((2.0 * np.arccos(cosine)) ** 2).mean()))


def lags_ms(run: Followed, path: HandPath) -> tuple[float, float]:
    """Returns the delays of the hand's path that fit the tool's places and turns best [ms]."""
    delays = np.arange(-0.04, 0.24, 0.02)
    table = np.array([errors(run, path, float(delay)) for delay in delays]) ** 2
    best = []
    for column in table.T:
        at = int(np.clip(np.argmin(column), 1, len(column) - 2))
        before, here, after = column[at - 1 : at + 2]
        # The vertex of the parabola through the three least squares.
        best.append(float(delays[at] + 0.02 * 0.5 * (before - after) / (before - 2.0 * here + after)) * 1e3)
    return best[0], best[1]


def overshoot_percent(plant: MujocoPlant, place: Vector = MIDDLE) -> float:
    """Returns by how much the tool swings over a jump of the hand, at the worst of ways, sizes and turns [%]."""
    worst = 0.0
    for axis in np.eye(3):
        for size in STEPS_M:
            run = follow(plant, step_path(axis * size * 0.999, np.zeros(3), 0.2), 1.5, place)
            reached = ((run.places - run.start.position) @ axis).max()
            worst = max(worst, 100.0 * (reached / (size * 0.999) - 1.0))
        run = follow(plant, step_path(np.zeros(3), axis * TURN_RAD, 0.2), 1.5, place)
        turned = [rotation_vector(multiply(turn, inverse(run.start.quat_xyzw))) @ axis for turn in run.turns[::5]]
        worst = max(worst, 100.0 * (max(turned) / TURN_RAD - 1.0))
    return worst


def bounce_mm(plant: MujocoPlant) -> float:
    """Returns how far the tool swings over the place where a key's motion stops, at the worst of phases [mm]."""
    worst = 0.0
    for lasts_s in (0.5, 0.52):

        def key(time_s: float, lasts_s: float = lasts_s) -> Pose:
            return Pose(np.array([0.0, KEY_SPEED * float(np.clip(time_s - 0.2, 0.0, lasts_s)), 0.0]))

        run = follow(plant, key, 1.5)
        worst = max(worst, 1e3 * float((run.places - run.start.position)[:, 1].max() - KEY_SPEED * lasts_s))
    return worst


def measure(arguments: argparse.Namespace) -> harness.Figures:
    """Measures the arm as it was, then as it is, with the same hand."""
    seconds = arguments.seconds or (10.0 if arguments.quick else 60.0)
    hand = made_hand_path(arguments.seed, seconds)
    circle = circle_path(1.0, 0.03, 0.15)
    figures: harness.Figures = {}
    for suffix, old in (('_before', True), ('', False)):
        if old and arguments.robot != PANDA:
            continue
        harness.say(f'{"as it was" if old else "as it is"}: {seconds:g} s along a hand, a circle, steps ...')
        plant = make_plant(arguments.robot, old=old)
        run = follow(plant, hand, seconds)
        lag, turn_lag = lags_ms(run, hand)
        distance, angle = errors(run, hand, 0.0)
        figures[f'lag{suffix}_ms'] = lag
        figures[f'turn_lag{suffix}_ms'] = turn_lag
        figures[f'rms_error{suffix}_mm'] = 1e3 * distance
        figures[f'rms_error{suffix}_deg'] = float(np.degrees(angle))
        speeds = np.diff(run.places, axis=0) / np.diff(run.times)[:, None]
        accelerations = np.diff(speeds, axis=0) / np.diff(run.times)[1:, None]
        figures[f'rms_acceleration{suffix}_m_s2'] = float(np.sqrt((accelerations**2).sum(axis=1).mean()))
        round_run = follow(plant, circle, 6.0)
        figures[f'circle_lag{suffix}_ms'] = lags_ms(round_run, circle)[0]
        figures[f'overshoot{suffix}_percent'] = overshoot_percent(plant)
        small_hand = made_hand_path(arguments.seed, 10.0, HandHabits(reach=(0.05, 0.07, 0.06)))
        figures[f'far.lag{suffix}_ms'] = lags_ms(follow(plant, small_hand, 10.0, FAR), small_hand)[0]
        figures[f'far.overshoot{suffix}_percent'] = overshoot_percent(plant, FAR)
        figures[f'bounce{suffix}_mm'] = bounce_mm(plant)
        for name, shares in (('hand', run.at_limit), ('circle', round_run.at_limit)):
            for joint, share in enumerate(shares.mean(axis=0), 1):
                figures[f'torque_limit{suffix}.{name}.joint{joint}_share'] = float(share)
    return figures


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds --robot, --seconds and --seed."""
    parser.add_argument('--robot', default=PANDA, help=f'arm, by name or robot.yaml ({PANDA}, as it was and is)')
    parser.add_argument('--seconds', type=float, help="length of the hand's path [s] (60)")
    parser.add_argument('--seed', type=int, default=1, help="of the hand's path (1)")


if __name__ == '__main__':
    sys.exit(harness.run('tracking', __doc__, measure, add_arguments))
