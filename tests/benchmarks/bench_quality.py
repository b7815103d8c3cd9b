#!/usr/bin/env python3
"""Which verdicts the shipped rules give to operators of known quality, whose episodes they were not tuned on.

Scripted operators (tests/benchmarks/operators/*.yaml) lift cubes in the simulator, through ROS, and the recorder keeps
it all. Episodes are numbered within each operator: the even ones were there to tune the rules on, and the odd ones are
judged. Prints the table of verdicts; `cobalt bag report` on the kept data set shows all of it.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import harness

harness.enter_workspace()

from running_stack import free_domain  # noqa: E402

from cobalt_recorder.quality_rules import VERDICTS  # noqa: E402
from cobalt_recorder.rejudge import rejudge  # noqa: E402
from cobalt_recorder.rules_file import load_rules, shipped_rules  # noqa: E402
from cobalt_recorder.verdict_file import EpisodeVerdict, read_verdict  # noqa: E402

GOOD = 'smooth'
OPERATORS = Path(__file__).parent / 'operators'
_JUDGED_WITHIN_S = 60.0
_MODULES = {
    'sim': 'cobalt_sim.sim_node',
    'recorder': 'cobalt_recorder.recorder_node',
    'operator': 'cobalt_sim.scripted_operator.node',
}


def operators() -> list[str]:
    """Returns the names of all operators, the good one first."""
    names = sorted(file.stem for file in OPERATORS.glob('*.yaml'))
    return sorted(names, key=lambda name: name != GOOD)


def _command(name: str, *words: str) -> list[str]:
    return [sys.executable, '-m', _MODULES[name], '--ros-args', '--log-level', 'warn', *words]


@contextmanager
def _running(name: str, *words: str) -> Iterator[None]:
    process = subprocess.Popen(_command(name, *words))
    try:
        yield
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(20.0)


def record(folder: Path, *, workcells: int, rounds: dict[str, int]) -> None:
    """Has each operator drive, one after the other, and waits for the verdicts.

    Args:
        folder: Of the data set.
        workcells: Driven at once.
        rounds: How many episodes of each workcell, by operator.
    """
    os.environ['ROS_DOMAIN_ID'] = str(free_domain())
    sim = ('-p', f'num_envs:={workcells}', '-p', 'cameras:=front', '-p', 'width:=160', '-p', 'height:=120')
    seed = 1
    with _running('sim', *sim), _running('recorder', '-p', f'dataset:={folder}'):
        for operator, count in rounds.items():
            began_s = time.monotonic()
            words = ('-p', f'num_workcells:={workcells}', '-p', f'episodes:={count}', '-p', f'seed:={seed}')
            words += ('-p', 'require_recording:=true', '--params-file', str(OPERATORS / f'{operator}.yaml'))
            done = subprocess.run(_command('operator', *words), capture_output=True, text=True, check=False)
            if not done.stdout or done.stderr:
                raise SystemExit(f'{operator} did not drive: {done.stderr.strip()}')
            harness.say(f'{operator}: {done.stdout.strip()} ({time.monotonic() - began_s:.0f} s)')
            seed += count
        end_s = time.monotonic() + _JUDGED_WITHIN_S
        while len(read_verdicts(folder)) < workcells * sum(rounds.values()) and time.monotonic() < end_s:
            time.sleep(0.5)


def read_verdicts(folder: Path) -> list[EpisodeVerdict]:
    """Returns the verdicts of a data set, in the order of time."""
    found = [read_verdict(bag) for bag in sorted(folder.glob('*/*'), key=lambda bag: bag.name) if bag.is_dir()]
    return [verdict for verdict in found if verdict is not None]


def halves(verdicts: list[EpisodeVerdict]) -> tuple[list[EpisodeVerdict], list[EpisodeVerdict]]:
    """Returns the even and the odd ones of each operator's episodes."""
    counts: Counter[str] = Counter()
    even: list[EpisodeVerdict] = []
    odd: list[EpisodeVerdict] = []
    for verdict in verdicts:
        (odd if counts[verdict.operator_id] % 2 else even).append(verdict)
        counts[verdict.operator_id] += 1
    return even, odd


def _tell(title: str, verdicts: list[EpisodeVerdict]) -> dict[str, Counter[str]]:
    """Prints who got which verdicts, and what the rules objected to; returns the counts."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    for verdict in verdicts:
        counts[verdict.operator_id][verdict.judged.verdict] += 1
        for reason in verdict.judged.reasons[:1]:
            reasons[verdict.operator_id][reason] += 1
    harness.say(f'\n{title}\n{"operator":<16}' + ''.join(f'{name:>8}' for name in VERDICTS) + '   first reason')
    for name in operators():
        if name in counts:
            often = ', '.join(reason for reason, _ in reasons[name].most_common(1))
            harness.say(f'{name:<16}' + ''.join(f'{counts[name][one]:>8}' for one in VERDICTS) + f'   {often}')
    return counts


def measure(arguments: argparse.Namespace) -> harness.Figures:
    """Records unless there is a data set, and judges."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = (arguments.data or Path(temporary)).expanduser().absolute()
        if not read_verdicts(folder):
            good, bad = (1, 1) if arguments.quick else (arguments.good, arguments.bad)
            names = [GOOD, 'failing'] if arguments.quick else operators()
            rounds = {name: good if name == GOOD else bad for name in names}
            record(folder, workcells=arguments.workcells, rounds=rounds)
        rules = load_rules(shipped_rules())
        even, odd = (rejudge(half, rules) for half in halves(read_verdicts(folder)))
    _tell('Episodes to tune on', even)
    counts = _tell('Episodes that are judged', odd)
    figures: harness.Figures = {'episodes': len(odd)}
    for name, own in counts.items():
        figures[f'{name}.accepted_share'] = own['ACCEPT'] / own.total()
    bad_counts = sum((own for name, own in counts.items() if name != GOOD), Counter[str]())
    figures['bad.found_share'] = 1.0 - bad_counts['ACCEPT'] / max(1, bad_counts.total())
    return figures


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds where the episodes are, and how many."""
    parser.add_argument(
        '--data', type=Path, metavar='FOLDER', help='data set to keep; one that is there is judged only'
    )
    parser.add_argument('--workcells', type=int, default=3, help='driven at once (3)')
    parser.add_argument('--good', type=int, default=20, help='rounds of the good operator (20)')
    parser.add_argument('--bad', type=int, default=4, help='rounds of each bad one (4)')


if __name__ == '__main__':
    sys.exit(harness.run('bench_quality', __doc__, measure, add_arguments))
