"""What all benchmarks share: arguments, the table, JSON, saving and comparing.

A benchmark is a script that calls `run` with a function from arguments to figures. It prints a table on stderr;
`--json -` prints one object on stdout and nothing else.
"""

import argparse
import json
import os
import platform
import shlex
import sys
from collections.abc import Callable, Sequence
from importlib import util
from pathlib import Path

Figures = dict[str, float]

_ROOT = Path(__file__).resolve().parents[2]


def enter_workspace() -> None:
    """Starts this script again inside the workspace's environment, unless it is there already.

    Call it before importing anything of ROS or Cobalt.
    """
    sys.path.insert(0, str(_ROOT / 'tests'))
    if util.find_spec('cobalt_interfaces') is not None and util.find_spec('psutil') is not None:
        return
    environment = _ROOT / 'tools' / 'env.sh'
    if os.environ.get('COBALT_REENTERED') or not (_ROOT / 'install').exists():
        sys.exit('Benchmarks need what the tests need. Type `make setup-tests` first.')
    os.environ['COBALT_REENTERED'] = '1'
    command = f'. {shlex.quote(str(environment))} && exec python {shlex.join(sys.argv)}'
    os.execvp('bash', ['bash', '-c', command])


def machine() -> dict[str, str | int | float]:
    """Describes the machine, without naming it, and how busy it was at the start."""
    model = ''
    try:
        for line in Path('/proc/cpuinfo').read_text().splitlines():
            if line.startswith('model name'):
                model = line.partition(':')[2].strip()
                break
    except OSError:
        pass
    return {
        'cores': os.cpu_count() or 1,
        'cpu': model,
        'python': platform.python_version(),
        'os': platform.system(),
        'load_before': round(os.getloadavg()[0], 2),
    }


def say(text: str) -> None:
    """Tells the person about progress, on stderr."""
    print(text, file=sys.stderr, flush=True)


def percentiles(name: str, values: Sequence[float], shares: Sequence[int] = (50, 95, 99)) -> Figures:
    """Returns `<name>_p50_ms` and so on, of values in ms; nothing of no values."""
    ordered = sorted(values)
    if not ordered:
        return {}
    return {f'{name}_p{share}_ms': ordered[min(len(ordered) - 1, int(len(ordered) * share / 100))] for share in shares}


def _table(figures: Figures, reference: Figures) -> str:
    width = max((len(name) for name in figures), default=0)
    lines = []
    for name, value in figures.items():
        line = f'{name:<{width}}  {value:12.4g}'
        if reference.get(name):
            line += f'  {value / reference[name]:8.2f} times'
        elif reference:
            line += '   not compared'
        lines.append(line)
    return '\n'.join(lines)


def run(
    name: str,
    summary: str,
    measure: Callable[[argparse.Namespace], Figures],
    add_arguments: Callable[[argparse.ArgumentParser], None] = lambda parser: None,
) -> int:
    """Runs a benchmark from the command line.

    Args:
        name: Of the benchmark.
        summary: One sentence, for `--help`.
        measure: Returns figures by name. `quick` in its arguments asks for a run within 45 s.
        add_arguments: Adds the benchmark's own arguments.

    Returns:
        The exit code.
    """
    parser = argparse.ArgumentParser(prog=Path(sys.argv[0]).name, description=summary)
    parser.add_argument('--quick', action='store_true', help='end within 45 s')
    parser.add_argument('--json', metavar='FILE', help='write one JSON object; - for stdout')
    parser.add_argument('--save', metavar='FILE', type=Path, help='keep the figures for --compare')
    parser.add_argument('--compare', metavar='FILE', type=Path, help='print ratios to saved figures')
    add_arguments(parser)
    arguments = parser.parse_args()
    reference: Figures = {}
    if arguments.compare:
        try:
            reference = json.loads(arguments.compare.read_text())['figures']
        except (OSError, ValueError, KeyError) as error:
            parser.error(f'{arguments.compare} holds no saved figures: {error}')
    described = machine()
    if float(described['load_before']) > 0.5:
        say(f'This machine is busy (load {described["load_before"]}): the figures will be worse than it can do.')
    try:
        figures = measure(arguments)
    except KeyboardInterrupt:
        return 130
    result = json.dumps({'bench': name, 'machine': described, 'figures': figures}, indent=2)
    say(f'\n{_table(figures, reference)}')
    say('\n_ms: milliseconds; cpu_percent: 100 is one core; _share: 0 to 1; p95: 95 of 100 are below.')
    if arguments.json == '-':
        print(result)
    elif arguments.json:
        Path(arguments.json).write_text(result + '\n')
    if arguments.save:
        arguments.save.write_text(result + '\n')
    return 0
