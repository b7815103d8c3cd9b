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
import itertools
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import harness

harness.enter_workspace()
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'cobalt_sim' / 'test'))

import numpy as np  # noqa: E402
from test_hostile_commands import TICK_S, hostile_commands  # noqa: E402

from cobalt_sim.in_process import GuardedPart  # noqa: E402
from cobalt_sim.mujoco_plant import MujocoPlant  # noqa: E402
from cobalt_sim.render_profile import load_profile  # noqa: E402
from cobalt_sim.sim_world import SimWorld  # noqa: E402
from cobalt_sim.tasks import load_task  # noqa: E402
from cobalt_teleop.core.command import Authority, Mode, MotionCommand, Reference  # noqa: E402
from cobalt_teleop.core.limits import PartLimits  # noqa: E402
from cobalt_teleop.core.pose import Pose, multiply, quaternion  # noqa: E402
from cobalt_teleop.kinematics.arm_set import load_arms  # noqa: E402
from cobalt_teleop.workcell_host.plant import PartState  # noqa: E402

_TICKS = 220
_TASK = 'reach_position'  # nothing that an arm could touch but the table
_STEP_M, _STEP_RAD = 0.045, 0.55

Commands = Iterator[MotionCommand]


class _Hand:
    """Counts presses and samples, and adds up what it did since its press."""

    def __init__(self) -> None:
        self._epoch = self._sample = 0
        self._pose = Pose()

    def press(self) -> None:
        self._epoch += 1
        self._pose = Pose()

    def move(self, way: Any, turn: Any = (0.0, 0.0, 0.0)) -> MotionCommand:
        """Returns the command after a step [m] and a turn [rad]."""
        self._pose = Pose(self._pose.position + way, multiply(quaternion(turn), self._pose.quat_xyzw))
        return self._say(pose=self._pose, mode=Mode.POSE)

    def push(self, twist: Any, *, engaged: bool) -> MotionCommand:
        """Returns the command of a stick."""
        return self._say(pose=None, mode=Mode.TWIST, twist=twist, engaged=engaged)

    def _say(self, **values: Any) -> MotionCommand:
        self._sample += 1
        told = {'reference': Reference.ENGAGE, 'engaged': True, 'tracked': True, 'age_s': 0.0}
        return MotionCommand(clutch_epoch=self._epoch, sample=self._sample, **(told | values))


def _direction(rng: np.random.Generator) -> Any:
    way = rng.normal(size=3)
    return way / np.linalg.norm(way)


def ratchet(rng: np.random.Generator, limits: PartLimits) -> Commands:
    """Yields full speed out to a face or a corner, with a fresh press wherever the tool then is."""
    way = rng.choice([-1.0, 0.0, 1.0], 3)
    way = way / np.linalg.norm(way) if way.any() else np.array([1.0, 0.0, 0.0])
    hand = _Hand()
    while True:
        hand.press()
        back = rng.integers(0, 3)
        for count in range(rng.integers(1, 14)):
            yield hand.move(0.049 * way * (-1.0 if count < back else 1.0))


def alternate(rng: np.random.Generator, limits: PartLimits) -> Commands:
    """Yields the largest steps to and fro, of place and turn, that drift to a corner."""
    axis, drift, hand = _direction(rng), _direction(rng), _Hand()
    while True:
        hand.press()
        for count in range(rng.integers(5, 60)):
            sign = 1.0 if (count // rng.integers(1, 4)) % 2 else -1.0
            yield hand.move(sign * _STEP_M * axis + 0.004 * drift, _STEP_RAD * sign * axis)


def twirl(rng: np.random.Generator, limits: PartLimits) -> Commands:
    """Yields a way far out, turned on and on."""
    hand = _Hand()
    while True:
        hand.press()
        turn, way = 0.5 * _direction(rng), 0.04 * _direction(rng)
        for _ in range(rng.integers(20, 120)):
            yield hand.move(way * rng.uniform(0.0, 1.0), turn * rng.uniform(0.0, 1.0))


def stutter(rng: np.random.Generator, limits: PartLimits) -> Commands:
    """Yields a twist beyond the limits that flips in each tick, with lapses of a tick."""
    hand = _Hand()
    while True:
        hand.press()
        twist = rng.uniform(-1.7, 1.7, 6) * np.repeat([limits.linear_speed, limits.angular_speed], 3)
        for count in range(rng.integers(1, 30)):
            sign = 1.0 if count % 2 or rng.random() < 0.5 else -1.0
            yield hand.push(sign * twist, engaged=bool(rng.random() > 0.1))


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
        guarded, plant = GuardedPart(self._part, TICK_S), self._plant
        here = plant.observe()
        guarded.start_from(here)
        for command in itertools.islice(self._commands, _TICKS):
            action = replace(guarded.decide(here, Authority.HUMAN, command), gripper_target=0.0)
            plant.apply({guarded.name: action})
            plant.advance()
            if self._touches():
                return
            before, here = here, plant.observe()
            self._note(before.parts[guarded.name], here.parts[guarded.name], action.joint_targets)

    def _note(self, before: PartState, here: PartState, targets: Any) -> None:
        limits, place = self._limits, here.pose.position
        speed = float(np.linalg.norm(place - before.pose.position)) / TICK_S
        outside = max(float((limits.workspace_min - place).max()), float((place - limits.workspace_max).max()))
        self.speed_ratio = max(self.speed_ratio, speed / limits.linear_speed)
        self.outside_box_mm = max(self.outside_box_mm, 1e3 * outside)
        self.following_error_rad = max(self.following_error_rad, float(np.abs(here.joint_positions - targets).max()))

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
