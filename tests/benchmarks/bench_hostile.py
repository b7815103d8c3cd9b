#!/usr/bin/env python3
"""How far the simulated Panda goes beyond its limits while its targets keep them, under hostile commands.

Each run lasts 11 s of simulated time, until something but the fingertips touches anything. Commands, one kind a run:
ratchet (full speed outwards, fresh presses), alternate (the largest step to and fro in each tick, drifting to a
corner), twirl (far out and turned on), stutter (a stick that flips in each tick), mixed (those of
cobalt_sim/test/test_hostile_commands.py).

speed_ratio is the mean speed of the tool in a tick beside its limit; outside_box_mm how far the tool is beyond the box;
following_error_rad how far a joint is from its target.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import harness

harness.enter_workspace()
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'cobalt_sim' / 'test'))

import numpy as np  # noqa: E402
from test_hostile_commands import TICK_S, hostile_commands  # noqa: E402

from cobalt_sim.mujoco_plant import MujocoPlant  # noqa: E402
from cobalt_sim.render_profile import load_profile  # noqa: E402
from cobalt_sim.sim_world import SimWorld  # noqa: E402
from cobalt_sim.tasks import load_task  # noqa: E402
from cobalt_teleop.core.command import Authority, Mode, MotionCommand, Reference  # noqa: E402
from cobalt_teleop.core.limits import PartLimits  # noqa: E402
from cobalt_teleop.core.part_controller import Measured, PartController  # noqa: E402
from cobalt_teleop.core.pose import Pose, multiply, quaternion  # noqa: E402
from cobalt_teleop.kinematics.arm_set import load_arms  # noqa: E402
from cobalt_teleop.workcell_host.plant import PartAction  # noqa: E402

_TICKS = 220
_TASK = 'reach_position'  # nothing that an arm could touch but the table
_STEP_M, _STEP_RAD = 0.045, 0.55
_UPRIGHT = quaternion([0.0, 0.0, 0.0])

Commands = Iterator[MotionCommand]


def _command(pose: Pose | None, epoch: int, sample: int, **more: Any) -> MotionCommand:
    values = {'mode': Mode.POSE, 'reference': Reference.ENGAGE, 'engaged': True, 'tracked': True, 'age_s': 0.0} | more
    return MotionCommand(pose=pose, clutch_epoch=epoch, sample=sample, **values)


def _direction(rng: np.random.Generator) -> Any:
    way = rng.normal(size=3)
    return way / np.linalg.norm(way)


def ratchet(rng: np.random.Generator, limits: PartLimits) -> Commands:
    """Yields full speed out to a face or a corner, with a fresh press wherever the tool then is."""
    way = rng.choice([-1.0, 0.0, 1.0], 3)
    way = way / np.linalg.norm(way) if way.any() else np.array([1.0, 0.0, 0.0])
    epoch = sample = 0
    while True:
        epoch += 1
        place, back = np.zeros(3), rng.integers(0, 3)
        for count in range(rng.integers(1, 14)):
            place = place + 0.049 * way * (-1.0 if count < back else 1.0)
            sample += 1
            yield _command(Pose(place, _UPRIGHT), epoch, sample)


def alternate(rng: np.random.Generator, limits: PartLimits) -> Commands:
    """Yields the largest steps to and fro, of place and turn, that drift to a corner."""
    axis, drift, epoch, sample = _direction(rng), _direction(rng), 0, 0
    while True:
        epoch += 1
        place, quat_xyzw = np.zeros(3), _UPRIGHT
        for count in range(rng.integers(5, 60)):
            sign = 1.0 if (count // rng.integers(1, 4)) % 2 else -1.0
            place = place + sign * _STEP_M * axis + 0.004 * drift
            quat_xyzw = multiply(quaternion(_STEP_RAD * sign * axis), quat_xyzw)
            sample += 1
            yield _command(Pose(place, quat_xyzw), epoch, sample)


def twirl(rng: np.random.Generator, limits: PartLimits) -> Commands:
    """Yields a way far out, turned on and on."""
    epoch = sample = 0
    while True:
        epoch += 1
        place, quat_xyzw = np.zeros(3), _UPRIGHT
        turn, way = 0.5 * _direction(rng), 0.04 * _direction(rng)
        for _ in range(rng.integers(20, 120)):
            place = place + way * rng.uniform(0.0, 1.0)
            quat_xyzw = multiply(quaternion(turn * rng.uniform(0.0, 1.0)), quat_xyzw)
            sample += 1
            yield _command(Pose(place, quat_xyzw), epoch, sample)


def stutter(rng: np.random.Generator, limits: PartLimits) -> Commands:
    """Yields a twist beyond the limits that flips in each tick, with lapses of a tick."""
    epoch = sample = 0
    while True:
        epoch += 1
        twist = rng.uniform(-1.7, 1.7, 6) * np.repeat([limits.linear_speed, limits.angular_speed], 3)
        for count in range(rng.integers(1, 30)):
            sample += 1
            sign = 1.0 if count % 2 or rng.random() < 0.5 else -1.0
            yield _command(None, epoch, sample, mode=Mode.TWIST, twist=sign * twist, engaged=bool(rng.random() > 0.1))


KINDS: dict[str, Callable[[np.random.Generator, PartLimits], Commands]] = {
    'ratchet': ratchet,
    'alternate': alternate,
    'twirl': twirl,
    'stutter': stutter,
    'mixed': hostile_commands,
}


class Run:
    """One arm under one kind of commands.

    Args:
        world: Of the plant.
        plant: It is reset.
        kind: Of KINDS.
        seed: Of start and commands.
    """

    def __init__(self, world: SimWorld, plant: MujocoPlant, kind: str, seed: int) -> None:
        self._model, self._plant = world.model, plant
        self._part = plant.capabilities.parts[0]
        self._limits = self._part.limits
        plant.reset(_TASK, seed + 1)
        self._commands = KINDS[kind](np.random.default_rng(seed), self._limits)
        self.speed_ratio = self.outside_box_mm = self.following_error_rad = 0.0

    def go(self) -> None:
        """Drives, and keeps what was worst."""
        part, plant = self._part, self._plant
        controller = PartController(limits=self._limits, kinematics=part.kinematics, home=part.home, period_s=TICK_S)
        here = self._measured()
        controller.start_from(here)
        for _ in range(_TICKS):
            decision = controller.step(
                measured=here, authority=Authority.HUMAN, human=next(self._commands), policy=None
            )
            plant.apply(
                {
                    part.name: PartAction(
                        joint_targets=decision.joint_targets,
                        gripper_target=0.0,
                        joint_velocities=decision.joint_velocities,
                    )
                }
            )
            plant.advance()
            if self._touches():
                return
            before, here = here, self._measured()
            self._note(before, here, decision.joint_targets)

    def _note(self, before: Measured, here: Measured, targets: Any) -> None:
        limits, place = self._limits, here.pose.position
        speed = float(np.linalg.norm(place - before.pose.position)) / TICK_S
        outside = max(float((limits.workspace_min - place).max()), float((place - limits.workspace_max).max()))
        self.speed_ratio = max(self.speed_ratio, speed / limits.linear_speed)
        self.outside_box_mm = max(self.outside_box_mm, 1e3 * outside)
        self.following_error_rad = max(self.following_error_rad, float(np.abs(here.joints - targets).max()))

    def _measured(self) -> Measured:
        state = self._plant.observe().parts[self._part.name]
        return Measured(pose=state.pose, joints=state.joint_positions.copy(), gripper=state.gripper)

    def _touches(self) -> bool:
        """Whether anything touches but the fingertips one another."""
        model, data = self._model, self._plant.data
        names = [model.body(model.geom_bodyid[geom]).name for pair in data.contact.geom for geom in pair]
        return any('pad' not in name for name in names)


def measure(arguments: argparse.Namespace) -> harness.Figures:
    """Runs all kinds with each seed."""
    seeds = 5 if arguments.quick else arguments.seeds
    world = SimWorld(load_arms('franka_panda'), load_task(_TASK), [], load_profile('fast'), tick_s=TICK_S)
    plant, runs = MujocoPlant(world), []
    for seed in range(seeds):
        for kind in KINDS:
            runs.append(Run(world, plant, kind, seed))
            runs[-1].go()
        if seed % 10 == 9:
            harness.say(f'{len(runs)} of {seeds * len(KINDS)} runs')
    figures: harness.Figures = {'runs': len(runs)}
    for name in ('speed_ratio', 'outside_box_mm', 'following_error_rad'):
        values = sorted(getattr(run, name) for run in runs)
        figures |= {f'{name}.p99': values[int(0.99 * len(values))], f'{name}.max': values[-1]}
    return figures


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds --seeds."""
    parser.add_argument('--seeds', type=int, default=100, help='seeds of each of the five kinds (100)')


if __name__ == '__main__':
    sys.exit(harness.run('hostile', __doc__, measure, add_arguments))
