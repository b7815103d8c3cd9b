"""`cobalt up`: starts a launch file, by `ros2 launch` where it is installed."""

import argparse
import os
import shutil
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from cobalt_bringup.launch_element import LaunchFileError
from cobalt_bringup.launch_file import Argument, arguments_of, plan_launch
from cobalt_bringup.packages import INSTALLED
from cobalt_bringup.parameter_check import check_parameters
from cobalt_bringup.shared_memory import remove_dead
from cobalt_bringup.supervisor import Supervisor
from cobalt_teleop.core.errors import CobaltError

DEFAULT_FILE = 'sim.launch.xml'


def add_parser(subparsers: 'argparse._SubParsersAction[argparse.ArgumentParser]') -> None:
    """Adds `cobalt up`."""
    parser = subparsers.add_parser(
        'up',
        help='start a launch file',
        description='Starts a launch file and all its nodes; Ctrl-C ends them. It calls ros2 launch where that exists.',
    )
    parser.add_argument('file', help=f'path, or name of a launch file of cobalt_bringup, such as {DEFAULT_FILE}')
    parser.add_argument('arguments', nargs='*', default=[], metavar='NAME:=VALUE', help='launch arguments')
    parser.add_argument(
        '-s', '--show-args', action='store_true', help='show the arguments of the file, and start nothing'
    )
    parser.set_defaults(func=up, hint=as_launch_arguments)


def find_launch_file(name: str) -> Path:
    """Returns the path of a launch file, given by path or by its name in cobalt_bringup.

    Raises:
        LaunchFileError: There is none; the message lists those that are there.
    """
    path = Path(name)
    if path.is_file():
        return path.resolve()
    folder = Path(INSTALLED.find_share('cobalt_bringup')) / 'launch'
    for candidate in (folder / name, folder / f'{name}.launch.xml'):
        if candidate.is_file():
            return candidate
    there = ', '.join(sorted(file.name for file in folder.glob('*.launch.xml'))) or 'none'
    raise LaunchFileError(f"there is no launch file '{name}', here or in cobalt_bringup, which has {there}")


def parse_arguments(pairs: list[str]) -> dict[str, str]:
    """Returns launch arguments by name.

    Raises:
        LaunchFileError: One is not written as NAME:=VALUE.
    """
    arguments = {}
    for pair in pairs:
        name, separator, value = pair.partition(':=')
        if not separator or not name:
            raise LaunchFileError(f"launch argument '{pair}' is not written as NAME:=VALUE, such as num_envs:=2")
        arguments[name] = value
    return arguments


def as_launch_arguments(words: Sequence[str]) -> str:
    """Returns how options that are none are written as launch arguments; empty if there is no saying."""
    pairs = []
    for index, word in enumerate(words):
        if word.startswith('--'):
            name, _, value = word[2:].partition('=')
            following = [other for other in words[index + 1 : index + 2] if not other.startswith('-')]
            pairs.append(f'{name.replace("-", "_")}:={value or "".join(following) or "VALUE"}')
    return f'launch arguments are written {" ".join(pairs)}' if pairs else ''


def describe_arguments(arguments: list[Argument]) -> str:
    """Returns what `--show-args` prints."""
    lines = []
    for argument in arguments:
        default = 'must be given' if argument.default is None else f'default: {argument.default or "empty"}'
        choices = f', one of {", ".join(argument.choices)}' if argument.choices else ''
        lines += [f'  {argument.name}  ({default}{choices})', f'      {argument.description}']
    return '\n'.join(lines)


def up(options: argparse.Namespace) -> int:
    """Runs `cobalt up`."""
    try:
        file = find_launch_file(options.file)
        arguments = parse_arguments(options.arguments)
        if options.show_args:
            known = arguments_of(file, arguments, environment=os.environ, packages=INSTALLED)
            print(f'{file.name}:\n{describe_arguments(known)}')
            return 0
        processes = plan_launch(file, arguments, environment=os.environ, packages=INSTALLED)
        check_parameters(processes)
    except CobaltError as error:
        print(f'cobalt up: {error}', file=sys.stderr)
        return 2
    ros2 = shutil.which('ros2')
    if ros2 is not None:
        os.execv(ros2, [ros2, 'launch', str(file), *options.arguments])
    remove_dead()
    code = Supervisor(processes).run()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What was killed could not clean up after itself.
    remove_dead(older_than_s=0.2)
    return code
