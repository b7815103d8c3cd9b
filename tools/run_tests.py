"""Runs all checks: style, types, the tests of each package by colcon, and the tests that cross packages."""

import argparse
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ('cobalt_teleop', 'cobalt_devices', 'cobalt_sim', 'cobalt_recorder', 'cobalt_bringup')
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


def lint_steps() -> list[Step]:
    """Returns the checks of style and types."""
    return [
        Step('ruff check', ('ruff', 'check', '.')),
        Step('ruff format', ('ruff', 'format', '--check', '.')),
        Step('mypy', ('mypy', *(f'{name}/{name}' for name in PACKAGES), *TOOLS)),
    ]


def test_steps() -> list[Step]:
    """Returns the tests: of each package, then of all together."""
    colcon = ('colcon', '--log-level', 'error', 'test', '--executor', 'sequential', '--return-code-on-test-failure')
    output = ('--event-handlers', 'console_direct+', 'console_stderr-')
    # Real processes, browsers and clocks on a machine that others use too: what fails is tried once more, and told.
    colcon_again, pytest_again = ('--retest-until-pass', '1'), ('--reruns', '1')
    steps = [Step('colcon test', (*colcon, *colcon_again, '--packages-select', *PACKAGES, *output))]
    if any((ROOT / 'tests').rglob('test_*.py')):
        steps.append(Step('pytest tests', (sys.executable, '-m', 'pytest', *pytest_again, 'tests')))
    return steps


def run(step: Step, env: dict[str, str]) -> tuple[int, float, str]:
    """Runs a step and shows its output.

    Returns:
        Exit code, duration [s], and pytest's closing lines.
    """
    print(f'\n==== {step.name}', flush=True)
    started = time.monotonic()
    closing = []
    with subprocess.Popen(
        step.command, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace'
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end='', flush=True)
            if re.search(r'=+ .*(passed|failed|error).* in [0-9.]+s', line):
                closing.append(line.strip(' =\n'))
    return process.returncode, time.monotonic() - started, '; '.join(closing)


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--lint', action='store_true', help='style and types alone')
    options = parser.parse_args()
    env = {**os.environ, 'PYTHONUNBUFFERED': '1'}
    # Tests must neither hear nor disturb what runs on this machine. Ports of domains up to 101 are free on Linux.
    env.setdefault('ROS_DOMAIN_ID', str(90 + os.getpid() % 12))
    env.setdefault('FASTDDS_DEFAULT_PROFILES_FILE', str(ROOT / 'cobalt_bringup' / 'config' / 'fastdds_local.xml'))
    # Python 3.11 before 3.11.8 can't parse a module while the garbage collector tells of an exception, and pytest ended in
    # a SystemError (python/cpython#106905): such an exception is printed without its source, and hypothesis, which its
    # plugin imports after the last test, is imported before the first.
    env['PYTEST_ADDOPTS'] = f'-p no:unraisableexception -p hypothesis {env.get("PYTEST_ADDOPTS", "")}'.rstrip()
    results = [(step, *run(step, env)) for step in lint_steps() + ([] if options.lint else test_steps())]
    print('\n==== summary')
    for step, code, duration_s, closing in results:
        print(f'{"ok    " if code == 0 else "FAILED"} {step.name:<20} {duration_s:6.1f} s  {closing}')
    failed = [step.name for step, code, *_ in results if code != 0]
    print(f'failed: {", ".join(failed)}' if failed else 'all checks passed')
    return 1 if failed else 0


if __name__ == '__main__':
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
