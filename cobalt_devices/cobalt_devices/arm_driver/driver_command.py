"""`cobalt driver`: lists drivers of real arms, checks one, and keeps who confirmed an arm's limits."""

import argparse
import json
import sys
import threading

import rclpy
from rclpy.executors import SingleThreadedExecutor

from cobalt_devices.arm_driver.confirmed_limits import confirm, confirmation_of, limits_table
from cobalt_devices.arm_driver.conformance import DriverCheck
from cobalt_devices.arm_driver.driver import DriverContext
from cobalt_devices.arm_driver.driver_options import given_options
from cobalt_devices.arm_driver.driver_registry import driver_names, load_driver
from cobalt_teleop.bridge.door.state_folder import StateFolder
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.finding import Finding
from cobalt_teleop.kinematics.robot_description import load_robot


def add_parser(subparsers: 'argparse._SubParsersAction[argparse.ArgumentParser]') -> None:
    """Adds `cobalt driver`."""
    parser = subparsers.add_parser('driver', help="list and check drivers of real arms, confirm an arm's limits")
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
    _add_check(commands)


def _add_check(commands: 'argparse._SubParsersAction[argparse.ArgumentParser]') -> None:
    check = commands.add_parser(
        'check',
        help='check whether a driver keeps its promises; moves the arm a little',
        description='Connects, measures, swings all joints slowly by 0.06 rad, stops, makes ready again, grips, '
        'closes. THE ARM MOVES: keep away from it, with the emergency stop at hand. '
        'Exits with 0 if all is well, 1 if a check fails, 2 if the driver cannot be made.',
    )
    check.add_argument('driver', help='name of the driver (cobalt driver list)')
    check.add_argument('--robot', default='franka_panda', help='name of an arm, or path of a robot.yaml (%(default)s)')
    check.add_argument('--option', action='append', default=[], metavar='NAME=VALUE', help='option of the driver')
    check.add_argument('--state-dir', default='', help='folder of what survives a restart, if not the usual one')
    check.add_argument('--json', action='store_true', help='print the findings as JSON')
    check.set_defaults(func=_check)


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


def _check(options: argparse.Namespace) -> int:
    rclpy.init(args=[])
    node = rclpy.create_node('driver_check')
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    spinner = threading.Thread(target=executor.spin, daemon=True)
    spinner.start()
    findings: list[Finding] = []
    try:
        robot = load_robot(options.robot)
        given = given_options(options.driver, robot.drivers, options.option)
        driver = load_driver(options.driver)(DriverContext(robot=robot, options=given, node=node))
        if driver.capabilities.real and not confirmation_of(robot, options.driver, StateFolder(options.state_dir)):
            raise CobaltError(
                'nobody has confirmed the limits of this arm: '
                f'cobalt driver confirm --robot {options.robot} --driver {options.driver}'
            )
        for finding in DriverCheck(driver, robot).run():
            findings.append(finding)
            if not options.json:
                print(finding.line, flush=True)
    except CobaltError as error:
        print(f'cobalt driver: {error}', file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    finally:
        executor.shutdown()
        spinner.join(timeout=2.0)
        node.destroy_node()
        rclpy.try_shutdown()
    ok = all(finding.ok for finding in findings)
    if options.json:
        checks = [{'name': finding.name, 'ok': finding.ok, 'text': finding.text} for finding in findings]
        print(json.dumps({'driver': options.driver, 'robot': robot.name, 'ok': ok, 'checks': checks}, indent=2))
    return 0 if ok else 1


def _asked() -> str:
    print('The arm will move within these. Read them at the arm, with the emergency stop at hand.')
    try:
        return input('Type your name to confirm, or Ctrl-C: ')
    except (EOFError, KeyboardInterrupt):
        raise CobaltError('nothing was confirmed') from None
