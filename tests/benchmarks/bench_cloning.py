#!/usr/bin/env python3
"""Trains a small policy by behaviour cloning from exported episodes, and tries it on starts that it has not seen.

Takes the data set that `bench_quality.py --data FOLDER` has recorded. One policy learns from the accepted episodes
alone, one from these and the rejected ones, and one from as many episodes whatever their verdicts. Each is tried on
the same seeds through `cobalt_sim.make_vec`, the gymnasium face of the simulator in which the episodes were driven.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import h5py
import harness
import numpy as np

harness.enter_workspace()

import cobalt_sim  # noqa: E402
from cobalt_recorder.export.choice import ExportChoice  # noqa: E402
from cobalt_recorder.export.run import export_data_set  # noqa: E402
from cobalt_teleop.core.pose import multiply, quaternion  # noqa: E402

HERE = Path(__file__).resolve().parent
VENV = HERE.parents[1] / 'build' / 'cloning' / 'venv'
PACKAGES = ('scikit-learn==1.7.2',)
TRIED_SEEDS = range(5000, 5050)
_FINGERS_OPEN = 0.5


class Policy:
    """The mean of some networks, from what is measured to the way of the tool and the gripper.

    Args:
        file: Of their weights.
        scales: Mean and standard deviation of inputs, then of outputs.
    """

    def __init__(self, file: Path, scales: tuple[np.ndarray, ...]) -> None:
        self._networks: dict[str, dict[str, dict[str, np.ndarray]]] = {}
        for name, values in np.load(file).items():
            number, place, kind = name.split('.')
            self._networks.setdefault(number, {}).setdefault(place, {})[kind] = values
        self._scales = scales

    def __call__(self, inputs: np.ndarray) -> np.ndarray:
        """Returns (n, 7) for (n, i): the way [m], the turn as a rotation vector [rad], the gripper."""
        mean, deviation, out_mean, out_deviation = self._scales
        answers = []
        for layers in self._networks.values():
            values = (inputs - mean) / deviation
            for number, layer in enumerate(layers.values(), start=1):
                values = values @ layer['weights'] + layer['biases']
                values = np.maximum(values, 0.0) if number < len(layers) else values
            answers.append(values)
        return np.asarray(np.mean(answers, axis=0) * out_deviation + out_mean)


def inputs_of(tool: np.ndarray, gripper: np.ndarray, cube: np.ndarray) -> np.ndarray:
    """Returns (n, 9) of (n, 7) poses and (n, 1): where the cube is from the tool, how it is turned, and the gripper.

    A cube looks the same after a quarter of a turn: its yaw counts as four times the angle.
    """

    def yaw(poses: np.ndarray) -> np.ndarray:
        x, y, z, w = poses[:, 3:].T
        return np.asarray(np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)))

    between = 4.0 * (yaw(cube) - yaw(tool))
    columns = [cube[:, :3] - tool[:, :3], tool[:, 2:3], cube[:, 2:3], np.sin(between)[:, None]]
    return np.concatenate([*columns, np.cos(between)[:, None], gripper, (gripper > _FINGERS_OPEN) * 1.0], axis=1)


def demonstrations(dataset: Path, verdicts: tuple[str, ...], folder: Path) -> list[tuple[np.ndarray, np.ndarray]]:
    """Exports episodes and returns inputs and outputs of each."""
    file = folder / f'{"_".join(verdicts).lower()}.hdf5'
    choice = ExportChoice(action='delta', cameras=(), objects=True, verdicts=verdicts, valid_share=0.0)
    export_data_set(dataset, file, 'robomimic', choice)
    found = []
    with h5py.File(file) as opened:
        for name in sorted(opened['data'], key=lambda one: int(one.removeprefix('demo_'))):
            seen = {key: np.array(value, dtype=np.float64) for key, value in opened[f'data/{name}/obs'].items()}
            tool = np.concatenate([seen['arm_eef_pos'], seen['arm_eef_quat']], axis=1)
            inputs = inputs_of(tool, seen['arm_gripper'], seen['object'])
            found.append((inputs, np.array(opened[f'data/{name}/actions'], dtype=np.float64)))
    return found


def trained(demos: list[tuple[np.ndarray, np.ndarray]], seed: int, folder: Path) -> Policy:
    """Returns a policy that was fitted to demonstrations."""
    inputs, outputs = (np.concatenate([demo[place] for demo in demos]) for place in (0, 1))
    scales = tuple(
        value for table in (inputs, outputs) for value in (table.mean(axis=0), np.maximum(table.std(axis=0), 1e-3))
    )
    source, result = folder / 'rows.npz', folder / 'weights.npz'
    np.savez(source, inputs=(inputs - scales[0]) / scales[1], outputs=(outputs - scales[2]) / scales[3])
    subprocess.run([VENV / 'bin' / 'python', HERE / 'fit_policy.py', source, result, str(seed)], check=True)
    return Policy(result, scales)


def success_share(policy: Policy, seeds: range, limit_s: float) -> float:
    """Returns on which share of starts it lifts the cube."""
    envs = cobalt_sim.make_vec('lift', num_envs=len(seeds), actions='absolute', time_limit_s=limit_s)
    try:
        seen, _ = envs.reset(seed=list(seeds))
        solved = np.zeros(len(seeds), dtype=bool)
        over = np.zeros(len(seeds), dtype=bool)
        while not over.all():
            tool = np.asarray(seen['tool_pose'], dtype=np.float64)
            cube = np.asarray(seen['cube_pose'], dtype=np.float64)
            wanted = policy(inputs_of(tool, np.asarray(seen['gripper'], dtype=np.float64), cube))
            turned = [multiply(quaternion(way[3:6]), pose[3:]) for way, pose in zip(wanted, tool, strict=True)]
            actions = np.concatenate([tool[:, :3] + wanted[:, :3], turned, np.clip(wanted[:, 6:], 0.0, 1.0)], axis=1)
            seen, _, terminated, truncated, infos = envs.step(actions.astype(np.float32))
            solved |= ~over & np.asarray(infos['success'], dtype=bool)
            over |= terminated | truncated
        return float(solved.mean())
    finally:
        envs.close()


def measure(arguments: argparse.Namespace) -> harness.Figures:
    """Trains each policy some times, and tries it."""
    if not (VENV / 'bin' / 'python').exists():
        harness.say('scikit-learn gets an environment of its own ...')
        subprocess.run([sys.executable, '-m', 'venv', VENV], check=True)
        subprocess.run([VENV / 'bin' / 'pip', 'install', '-q', *PACKAGES], check=True)
    figures: harness.Figures = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        accepted = demonstrations(arguments.data, ('ACCEPT',), folder)
        rejected = demonstrations(arguments.data, ('REJECT',), folder)
        everything = demonstrations(arguments.data, ('ACCEPT', 'REVIEW', 'REJECT'), folder)
        for run in range(arguments.runs):
            order = np.random.default_rng(run).permutation(len(everything))
            choices = {
                'accepted': accepted[: arguments.demonstrations],
                'as_many_of_all': [everything[place] for place in order[: arguments.demonstrations]],
                'with_rejected': accepted[: arguments.demonstrations] + rejected,
            }
            for name, demos in choices.items():
                share = success_share(trained(demos, run, folder), TRIED_SEEDS, arguments.limit_s)
                rows = sum(len(demo[0]) for demo in demos)
                harness.say(f'run {run}, {name}: {len(demos)} episodes, {rows} rows, {share:.0%} solved')
                figures[f'{name}.episodes'] = len(demos)
                figures[f'{name}.success_share'] = figures.get(f'{name}.success_share', 0.0) + share / arguments.runs
    return figures


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the data set, and how much is tried."""
    parser.add_argument('--data', type=Path, required=True, metavar='FOLDER', help='what bench_quality.py has kept')
    parser.add_argument('--demonstrations', type=int, default=50, help='that a policy learns from (50)')
    parser.add_argument('--runs', type=int, default=3, help='of training, each from other weights (3)')
    parser.add_argument('--limit-s', type=float, default=20.0, help='simulated time for each attempt (20)')


if __name__ == '__main__':
    sys.exit(harness.run('bench_cloning', __doc__, measure, add_arguments))
