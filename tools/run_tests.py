"""Runs all checks: style, types, the tests of each package by colcon, and the tests that cross packages."""

import argparse
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ('cobalt_teleop', 'cobalt_devices', 'cobalt_sim', 'cobalt_recorder', 'cobalt_bringup')
LONG_PAGES = (
    'tests/test_phone_page.py',
    'tests/test_rate_pages.py',
    'tests/test_vr_page.py',
    'tests/test_panda_by_pages.py',
)
"""Nine minutes of browsers: with them all tests would take longer than twenty minutes on two cores."""

NEED_THE_MACHINE = (
    'tests/test_adaptive_video.py',
    'tests/test_bad_networks.py',
    'tests/test_door_in_browser.py',
    'tests/test_driver_faults.py',
    'tests/test_end_to_end.py',
    'tests/test_firefox.py',
    'tests/test_two_phones.py',
)
"""Tests of browsers and of times, which a busy machine would fail."""

TOOLS = ('tools/set_up.py', 'tools/run_tests.py')


@dataclass(frozen=True)
class Step:
    """One check.

    Attributes:
        name: For people.
        command: What runs it.
    """

    name: str
    command: tuple[str, ...]


Lanes = list[list[Step]]
"""Steps that follow each other, in lanes that run beside each other."""


def lint_steps() -> list[Step]:
    """Returns the checks of style and types."""
    return [
        Step('ruff check', ('ruff', 'check', '.')),
        Step('ruff format', ('ruff', 'format', '--check', '.')),
        Step('mypy', ('mypy', *(f'{name}/{name}' for name in PACKAGES), *TOOLS)),
    ]


def colcon_step(name: str, packages: Sequence[str]) -> Step:
    """Returns the tests of packages."""
    output = ('--event-handlers', 'console_direct+', 'console_stderr-')
    # Real processes, browsers and clocks on a machine that others use too: what fails is tried once more, and told.
    test = ('test', '--executor', 'sequential', '--return-code-on-test-failure', '--retest-until-pass', '1', *output)
    log = f'log/{name.replace(" ", "_")}'
    return Step(name, ('colcon', '--log-level', 'error', '--log-base', log, *test, '--packages-select', *packages))


def pytest_step(name: str, *arguments: str) -> Step:
    """Returns tests that cross packages."""
    return Step(name, (sys.executable, '-m', 'pytest', '--reruns', '1', '--rerun-show-tracebacks', *arguments))


def lanes() -> Lanes:
    """Returns the tests that wait more than they work, beside each other."""
    ignored = (f'--ignore={path}' for path in (*LONG_PAGES, *NEED_THE_MACHINE))
    return [
        [colcon_step('cobalt_teleop', ['cobalt_teleop'])],
        [colcon_step('other packages', ['cobalt_devices', 'cobalt_recorder', 'cobalt_bringup'])],
        [colcon_step('cobalt_sim', ['cobalt_sim']), pytest_step('tests of stacks', 'tests', *ignored)],
    ]


def last_steps() -> list[Step]:
    """Returns the tests that need the machine for themselves."""
    return [pytest_step('tests of pages', *NEED_THE_MACHINE)]


@dataclass(frozen=True)
class Result:
    """What came of a step.

    Attributes:
        step: That ran.
        code: Its exit code.
        duration_s: [s].
        closing: Pytest's closing lines.
        output: Of a lane that was not shown while it ran.
    """

    step: Step
    code: int
    duration_s: float
    closing: str
    output: str = ''


def run(step: Step, env: dict[str, str], *, shown: bool = True) -> Result:
    """Runs a step.

    Args:
        step: To run.
        env: Environment.
        shown: Its output is shown at once, and not kept.
    """
    if shown:
        print(f'\n==== {step.name}', flush=True)
    started = time.monotonic()
    closing, kept = [], []
    with subprocess.Popen(
        step.command, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace'
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if shown:
                print(line, end='', flush=True)
            else:
                kept.append(line)
            if re.search(r'=+ .*(passed|failed|error).* in [0-9.]+s', line):
                closing.append(line.strip(' =\n'))
    return Result(step, process.returncode, time.monotonic() - started, '; '.join(closing), ''.join(kept))


def run_lanes(lanes: Lanes, env: dict[str, str]) -> list[Result]:
    """Runs lanes beside each other, each in a ROS domain of its own; the first is shown, the others when it is done."""
    domain = int(env['ROS_DOMAIN_ID'])
    results: list[list[Result]] = [[] for _ in lanes]

    def work(number: int) -> None:
        own = env | {'ROS_DOMAIN_ID': str(domain + number)}
        results[number] += [run(step, own, shown=number == 0) for step in lanes[number]]

    others = [threading.Thread(target=work, args=(number,)) for number in range(1, len(lanes))]
    for thread in others:
        thread.start()
    work(0)
    for thread in others:
        thread.join()
    for result in (result for lane in results[1:] for result in lane):
        print(f'\n==== {result.step.name}\n{result.output}', end='', flush=True)
    return [result for lane in results for result in lane]


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--lint', action='store_true', help='style and types alone')
    parser.add_argument('--long-pages', action='store_true', help='the long tests of pages alone')
    options = parser.parse_args()
    env = {**os.environ, 'PYTHONUNBUFFERED': '1'}
    # Tests must neither hear nor disturb what runs on this machine. Ports of domains up to 101 are free on Linux; some
    # tests take one below 99.
    env.setdefault('ROS_DOMAIN_ID', '99')
    env.setdefault('FASTDDS_DEFAULT_PROFILES_FILE', str(ROOT / 'cobalt_bringup' / 'config' / 'fastdds_local.xml'))
    # Python 3.11 before 3.11.8 can't parse a module while the garbage collector tells of an exception, and pytest then
    # ends in a SystemError (python/cpython#106905): such an exception is printed without its source, and hypothesis,
    # which its plugin imports after the last test, is imported before the first.
    env['PYTEST_ADDOPTS'] = f'-p no:unraisableexception -p hypothesis {env.get("PYTEST_ADDOPTS", "")}'.rstrip()
    if options.long_pages:
        results = [run(pytest_step('long pages', *LONG_PAGES), env)]
    else:
        results = [run(step, env) for step in lint_steps()]
        if not options.lint:
            results += run_lanes(lanes(), env)
            results += [run(step, env) for step in last_steps()]
    print('\n==== summary')
    for result in results:
        word = 'ok    ' if result.code == 0 else 'FAILED'
        print(f'{word} {result.step.name:<20} {result.duration_s:6.1f} s  {result.closing}')
    failed = [result.step.name for result in results if result.code != 0]
    print(f'failed: {", ".join(failed)}' if failed else 'all checks passed')
    return 1 if failed else 0


if __name__ == '__main__':
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
