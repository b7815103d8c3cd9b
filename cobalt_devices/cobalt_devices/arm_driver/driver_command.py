"""`cobalt driver`: lists drivers of real arms, and keeps who confirmed an arm's limits."""

import argparse
import sys

from cobalt_devices.arm_driver.confirmed_limits import confirm, limits_table
from cobalt_devices.arm_driver.driver_registry import driver_names, load_driver
from cobalt_teleop.bridge.door.state_folder import StateFolder
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.kinematics.robot_description import load_robot


def add_parser(subparsers: 'argparse._SubParsersAction[argparse.ArgumentParser]') -> None:
    """Adds `cobalt driver`."""
    parser = subparsers.add_parser('driver', help="list drivers of real arms, and confirm an arm's limits")
    commands = parser.add_subparsers(title='commands', metavar='COMMAND', required=True)
    commands.add_parser('list', help='list the drivers that are installed').set_defaults(func=_list)
    confirmed = commands.add_parser(
        'confirm',
        help="confirm an arm's limits",
        description="Shows the limits of a robot.yaml, and keeps who confirmed them. Without it a real arm doesn't "
        'move; after a change of the limits it is to be done again.',
    )
    confirmed.add_argument('--robot', required=True, help='name of an arm, or path of a robot.yaml')
    confirmed.add_argument('--driver', required=True, help='what drives it')
    confirmed.add_argument('--person', default='', help='who confirms; asked for if it is not given')
    confirmed.add_argument('--state-dir', default='', help='folder of what survives a restart, if not the usual one')
    confirmed.set_defaults(func=_confirm)


def _list(options: argparse.Namespace) -> int:
    for name in driver_names():
        try:
            described = (load_driver(name).__doc__ or '').strip().splitlines()[0]
        except CobaltError as error:
            described = str(error)
        print(f'{name:<20} {described}')
    return 0


def _confirm(options: argparse.Namespace) -> int:
    try:
        robot = load_robot(options.robot)
        load_driver(options.driver)
        print(limits_table(robot))
        person = options.person or _asked()
        made = confirm(robot, options.driver, person, StateFolder(options.state_dir))
    except CobaltError as error:
        print(f'cobalt driver: {error}', file=sys.stderr)
        return 2
    print(f'{made.person} confirmed these limits for {options.driver} at {made.at}')
    return 0


def _asked() -> str:
    print('The arm will move within these. Read them at the arm, with the emergency stop at hand.')
    try:
        return input('Type your name to confirm, or Ctrl-C: ')
    except (EOFError, KeyboardInterrupt):
        raise CobaltError('nothing was confirmed') from None
