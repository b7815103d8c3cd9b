#!/usr/bin/env python3
"""Steps a second of the simulator as gymnasium environments, with and without pictures, beside robosuite's Lift.

Both simulate a Panda and a cube with 2 ms a substep and 25 substeps a step, under random actions; pictures are one
camera's, 84x84. robosuite runs once in one process and once in two, and the better one counts. `full_meshes` is our arm
with its meshes as they were before they were made light. robosuite needs an older MuJoCo: it gets an environment of its
own in build/robosuite, once. Steps a second of CPU hardly depend on what else the machine does.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import harness

harness.enter_workspace()

import cobalt_sim  # noqa: E402
from cobalt_teleop.kinematics.robot_description import ROBOTS  # noqa: E402

PICTURE_PX = 84
HERE = Path(__file__).resolve().parent
VENV = HERE.parents[1] / 'build' / 'robosuite' / 'venv'
FULL = VENV.parent / 'franka_panda'
PACKAGES = ('robosuite==1.5.2', 'mujoco==3.3.7', 'trimesh', 'fast-simplification')
FACES = 10_000_000


def ours(num_envs: int, seconds: float, *, pictures: bool, robot: str = 'franka_panda') -> tuple[float, float]:
    """Returns steps of all environments together, a second and a second of CPU."""
    choices = {'cameras': ('front',), 'width': PICTURE_PX, 'height': PICTURE_PX} if pictures else {}
    envs = cobalt_sim.make_vec('lift', num_envs=num_envs, robot=robot, **choices)
    try:
        envs.reset(seed=0)
        envs.action_space.seed(0)
        for _ in range(3):
            envs.step(envs.action_space.sample())
        steps, start_s, start_cpu_s = 0, time.perf_counter(), time.process_time()
        while time.perf_counter() - start_s < seconds:
            envs.step(envs.action_space.sample())
            steps += num_envs
        return steps / (time.perf_counter() - start_s), steps / (time.process_time() - start_cpu_s)
    finally:
        envs.close()


def robosuites(seconds: float, *, processes: int, pictures: bool) -> tuple[float, float]:
    """Returns steps of one environment in each of some processes, a second together and a second of CPU."""
    command = [VENV / 'bin' / 'python', HERE / 'robosuite_lift.py', '--seconds', str(seconds)]
    if pictures:
        command.append('--pictures')
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for _ in range(processes)
    ]
    told = [json.loads(process.communicate()[0].splitlines()[-1]) for process in running]
    return sum(each['steps_per_s'] for each in told), sum(each['steps_per_cpu_s'] for each in told) / processes


def prepare() -> None:
    """Makes robosuite's environment, and our arm with full meshes, where they are missing."""
    if not (VENV / 'bin' / 'python').exists():
        harness.say('robosuite gets an environment of its own ...')
        subprocess.run([sys.executable, '-m', 'venv', VENV], check=True)
        subprocess.run([VENV / 'bin' / 'pip', 'install', '-q', *PACKAGES], check=True)
    if not (FULL / 'robot.yaml').exists():
        harness.say('the Panda with its full meshes is made ...')
        script = ROBOTS / 'franka_panda' / 'make_model.py'
        subprocess.run(
            [VENV / 'bin' / 'python', script, '--into', FULL, '--faces', str(FACES)],
            env={'PYTHONPATH': str(ROBOTS.parent.parent), 'PATH': '/usr/bin:/bin'},
            check=True,
            stdout=subprocess.DEVNULL,
        )
        (FULL / 'robot.yaml').write_text((ROBOTS / 'franka_panda' / 'robot.yaml').read_text())


def measure(arguments: argparse.Namespace) -> harness.Figures:
    """Measures one after the other."""
    prepare()
    seconds = 2.0 if arguments.quick else arguments.seconds
    figures: harness.Figures = {}
    for pictures, kind in ((False, 'no_pictures'), (True, 'pictures')):
        for count in (1, 8, 32, 64):
            harness.say(f'{count} environments, {kind} ...')
            name = f'{kind}.envs_{count}'
            figures[f'steps_per_s.{name}'], figures[f'steps_per_cpu_s.{name}'] = ours(count, seconds, pictures=pictures)
        for processes in (1, 2):
            harness.say(f'robosuite in {processes}, {kind} ...')
            name = f'{kind}.robosuite_{processes}'
            figures[f'steps_per_s.{name}'], figures[f'steps_per_cpu_s.{name}'] = robosuites(
                seconds, processes=processes, pictures=pictures
            )
    harness.say('full meshes ...')
    name = 'full_meshes.envs_32'
    figures[f'steps_per_s.{name}'], figures[f'steps_per_cpu_s.{name}'] = ours(
        32, seconds, pictures=True, robot=str(FULL)
    )
    for kind in ('no_pictures', 'pictures', 'full_meshes'):
        for what, ratio in (('steps_per_s', 'robosuite_ratio'), ('steps_per_cpu_s', 'robosuite_cpu_ratio')):
            beside = 'no_pictures' if kind == 'no_pictures' else 'pictures'
            best = max(figures[f'{what}.{beside}.robosuite_{processes}'] for processes in (1, 2))
            figures[f'{ratio}.{kind}'] = figures[f'{what}.{kind}.envs_32'] / best
    return figures


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds --seconds."""
    parser.add_argument('--seconds', type=float, default=10.0, help='that each is run [s] (10)')


if __name__ == '__main__':
    sys.exit(harness.run('sim', __doc__, measure, add_arguments))
