#!/usr/bin/env python3
"""Many operators for many minutes on one simulator, bridge and recorder: does latency or memory grow?

Scripted operators drive a workcell each, with pages of aiortc on the fast road, and run one recorded episode after the
other (a recording is removed once its verdict has come). First and last quarter of the time are compared; the first
half minute counts for nothing, as processes still fill their caches. Whoever loses page or control is counted.
"""

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import harness

harness.enter_workspace()
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'cobalt_teleop' / 'test'))

import numpy as np  # noqa: E402
import rclpy  # noqa: E402
from ros_operator import Operator  # noqa: E402
from running_stack import RunningStack  # noqa: E402
from scripted_people import Person, Series  # noqa: E402

from cobalt_interfaces.msg import ControlStep  # noqa: E402
from cobalt_teleop.core import topics  # noqa: E402
from cobalt_teleop.ros.stamps import to_nanoseconds  # noqa: E402

WARM_UP_S = 30.0
PROGRESS_S = 20.0


class CommandWatch:
    """How long commands take from the operator's page to the tick that applies them, in one workcell.

    Args:
        operator: Hears its rows.
        started_s: Monotonic time of the soak's start [s].
    """

    def __init__(self, operator: Operator, started_s: float) -> None:
        self._operator = operator
        self._started_s = started_s
        self.delays = Series()
        self.rows = 0
        self.driven = 0
        operator.listen(topics.CONTROL_STEP)

    def look(self) -> None:
        """Takes the rows that have come."""
        rows = self._operator.heard[(topics.CONTROL_STEP.name, 'env_0')]
        taken, rows[:] = list(rows), []
        sample = 0
        for row in taken:
            human = row.parts[0].human
            self.rows += 1
            if row.authority != ControlStep.AUTHORITY_HUMAN:
                continue
            self.driven += 1
            if human.sequence != sample:
                sample = human.sequence
                delay_ms = (to_nanoseconds(row.applied_stamp) - to_nanoseconds(human.device_stamp)) / 1e6
                self.delays.add(time.monotonic() - self._started_s, delay_ms)


def grown(series: Series, duration_s: float) -> tuple[list[float], list[float]]:
    """Returns the values of the first and of the last quarter after the warm-up."""
    warm_s = min(WARM_UP_S, duration_s / 4)
    quarter_s = (duration_s - warm_s) / 4
    return series.between(warm_s, warm_s + quarter_s), series.between(duration_s - quarter_s, duration_s)


def growth_of(name: str, series: Sequence[Series], duration_s: float) -> harness.Figures:
    """Returns p50 and p95 of the first and last quarter, and what the median has grown by [ms]."""
    pairs = [grown(one, duration_s) for one in series]
    first, last = ([value for pair in pairs for value in pair[part]] for part in (0, 1))
    figures = harness.percentiles(f'{name}.first', first, (50, 95)) | harness.percentiles(
        f'{name}.last', last, (50, 95)
    )
    if first and last:
        figures[f'{name}.growth_ms'] = statistics.median(last) - statistics.median(first)
    return figures


def memory_figures(memory: dict[str, Series], duration_s: float) -> harness.Figures:
    """Returns how memory has grown, and the slope over the last three quarters."""
    figures: harness.Figures = {}
    for name, series in memory.items():
        first, last = grown(series, duration_s)
        if not first or not last:
            continue
        figures[f'rss_mb.{name}'] = statistics.median(last)
        figures[f'rss_growth_mb.{name}'] = statistics.median(last) - statistics.median(first)
        late = [(at, value) for at, value in zip(series.times, series.values, strict=True) if at > duration_s / 4]
        if len(late) > 2:
            slope = np.polyfit([at for at, _ in late], [value for _, value in late], 1)[0]
            figures[f'rss_slope_mb_per_hour.{name}'] = float(slope) * 3600
    return figures


async def soak(
    stack: RunningStack, people: list[Person], watch: CommandWatch, duration_s: float, started_s: float
) -> dict[str, Series]:
    """Has all work, and samples memory; returns it by process [MB]."""
    until_s = started_s + duration_s
    port = int(stack.arguments['port'])
    working = [asyncio.ensure_future(person.work(port, started_s, until_s)) for person in people]
    memory: dict[str, Series] = {}
    told_s = started_s
    while time.monotonic() < until_s:
        await asyncio.sleep(1.0)
        now_s = time.monotonic()
        watch.look()
        nodes = stack.nodes()
        for name, process in nodes.items():
            memory.setdefault(name, Series()).add(now_s - started_s, process.memory_info().rss / 1e6)
        if now_s - told_s >= PROGRESS_S:
            told_s = now_s
            harness.say(_progress(people, watch, memory, now_s - started_s, duration_s))
    await asyncio.gather(*working)
    return memory


def _progress(
    people: list[Person], watch: CommandWatch, memory: dict[str, Series], at_s: float, duration_s: float
) -> str:
    since = at_s - PROGRESS_S
    ages = [age for person in people for age in person.ages.between(since, at_s)]
    delays = watch.delays.between(since, at_s)
    sizes = ', '.join(f'{name} {series.values[-1]:.0f}' for name, series in sorted(memory.items()))
    age = f'{statistics.median(ages):.0f}' if ages else '-'
    delay = f'{statistics.median(delays):.0f}' if delays else '-'
    dropped = sum(person.dropped for person in people)
    episodes = sum(person.episodes for person in people)
    return (
        f'{at_s / 60:5.1f} of {duration_s / 60:.0f} min: picture {age} ms, command {delay} ms, '
        f'{episodes} episodes, {dropped} dropped, MB: {sizes}'
    )


def measure(arguments: argparse.Namespace) -> harness.Figures:
    """Runs the soak."""
    duration_s = 40.0 if arguments.quick else arguments.minutes * 60.0
    people = [Person(number) for number in range(arguments.operators)]
    with tempfile.TemporaryDirectory() as folder:
        places = {
            'dataset': f'{folder}/dataset',
            'num_envs': arguments.operators,
            'cameras': 'front',
            'width': 320,
            'height': 240,
        }
        with RunningStack(Path(folder) / 'stack.log', arguments=places) as stack:
            stack.wait_until_live(arguments.operators)
            os.environ['ROS_DOMAIN_ID'] = str(stack.domain)
            rclpy.init()
            operator = Operator('onlooker', host_id='sim')
            try:
                started_s = time.monotonic()
                watch = CommandWatch(operator, started_s)
                memory = asyncio.run(soak(stack, people, watch, duration_s, started_s))
            finally:
                operator.close()
                rclpy.try_shutdown()
            printed = stack.printed()
    if not watch.driven:
        raise AssertionError('no operator moved an arm: what was measured is an idle stack')
    figures: harness.Figures = {'minutes': duration_s / 60.0, 'operators': len(people)}
    figures |= growth_of('picture_age', [person.ages for person in people], duration_s)
    figures |= growth_of('round_trip', [person.trips for person in people], duration_s)
    figures |= growth_of('command', [watch.delays], duration_s)
    figures['driven_share'] = watch.driven / max(watch.rows, 1)
    figures['latency_growth_ms'] = max(figures.get(f'{name}.growth_ms', 0.0) for name in ('picture_age', 'command'))
    figures |= memory_figures(memory, duration_s)
    figures['dropped'] = sum(person.dropped for person in people)
    figures['video_restarts'] = sum(person.video_restarts for person in people)
    figures['reconnects'] = sum(person.reconnects for person in people)
    figures['episodes'] = sum(person.episodes for person in people)
    figures['tracebacks'] = printed.count('Traceback')
    return figures


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds --minutes and --operators."""
    parser.add_argument('--minutes', type=float, default=20.0, help='how long (20); --quick runs 40 s')
    parser.add_argument('--operators', type=int, default=8, help='how many (8)')


if __name__ == '__main__':
    sys.exit(harness.run('soak', __doc__.splitlines()[0], measure, add_arguments))
