#!/usr/bin/env python3
"""Which share of fresh starts each task's scripted expert solves within the task's time limit, and how fast.

Experts act through the guard alone, in simulated time, without pictures. Seeds 2000 to 2049 were not used in tuning.
"""

import argparse
import sys

import harness

harness.enter_workspace()

import numpy as np  # noqa: E402

from cobalt_sim.experts import EXPERTS, TWO_ARM_EXPERTS  # noqa: E402
from cobalt_sim.in_process import run_expert  # noqa: E402
from cobalt_sim.mujoco_plant import MujocoPlant  # noqa: E402
from cobalt_sim.render_profile import load_profile  # noqa: E402
from cobalt_sim.replay import RecordedTick, replay, tick_of  # noqa: E402
from cobalt_sim.sim_world import SimWorld  # noqa: E402
from cobalt_sim.tasks import load_task  # noqa: E402
from cobalt_sim.tasks.task import ONE_ARM  # noqa: E402
from cobalt_teleop.kinematics.arm_set import load_arms  # noqa: E402


def measure(arguments: argparse.Namespace) -> harness.Figures:
    """Runs the experts, one task after the other."""
    figures: harness.Figures = {}
    episodes = arguments.episodes or (5 if arguments.quick else 50)
    for name in arguments.tasks.split(','):
        task = load_task(name)
        arms = load_arms(arguments.robot if task.parts == ONE_ARM else 'two_pandas')
        plant = MujocoPlant(SimWorld(arms, task, [], load_profile('fast')))
        harness.say(f'{name}: {episodes} episodes ...')
        seeds = range(arguments.first_seed, arguments.first_seed + episodes)
        solved, reports = [], []
        for seed in seeds:
            ticks: list[RecordedTick] = []
            time_s = run_expert(
                plant,
                seed,
                limit_s=task.info.time_limit_s,
                after_tick=lambda guarded, ticks=ticks: ticks.append(tick_of(guarded)),
            )
            solved += [] if time_s is None else [time_s]
            if arguments.replay:
                reports.append(replay(plant, seed, ticks))
        figures[f'{name}.solved_share'] = len(solved) / episodes
        figures[f'{name}.mean_s'] = float(np.mean(solved)) if solved else float('nan')
        if reports:
            figures[f'{name}.reproduced_share'] = sum(report.reproduced for report in reports) / episodes
            figures[f'{name}.largest_difference_rad'] = max(report.largest_difference for report in reports)
    return figures


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds --tasks, --robot, --replay, --episodes and --first-seed."""
    everything = ','.join((*EXPERTS, *TWO_ARM_EXPERTS))
    parser.add_argument('--tasks', default=everything, help='names, separated by commas (all)')
    parser.add_argument('--robot', default='franka_panda', help='single arm, by name or robot.yaml (franka_panda)')
    parser.add_argument('--replay', action='store_true', help='replay each episode by its joint targets, too')
    parser.add_argument('--episodes', type=int, help='of each task (50)')
    parser.add_argument('--first-seed', type=int, default=2000, help='of the episodes (2000)')


if __name__ == '__main__':
    sys.exit(harness.run('experts', __doc__, measure, add_arguments))
