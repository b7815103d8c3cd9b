"""`cobalt machines`: writes the network profile of several machines."""

import argparse
import sys
from pathlib import Path

from cobalt_bringup.machines_profile import PORTS_OF_DOMAIN, first_port, machines_profile
from cobalt_teleop.core.errors import CobaltError


def add_parser(subparsers: 'argparse._SubParsersAction[argparse.ArgumentParser]') -> None:
    """Adds `cobalt machines`."""
    parser = subparsers.add_parser(
        'machines',
        help='let ROS 2 run over several machines',
        description='Writes a network profile: the listed machines find each other, and nobody else is asked. '
        'Use the same file on each of them.',
    )
    parser.add_argument('addresses', nargs='+', metavar='ADDRESS', help='IPv4 address of each machine, of this one too')
    parser.add_argument('-o', '--output', type=Path, required=True, metavar='FILE', help='file to write')
    parser.set_defaults(func=machines)


def machines(options: argparse.Namespace) -> int:
    """Runs `cobalt machines`."""
    try:
        options.output.write_text(machines_profile(options.addresses), encoding='utf-8')
    except OSError as error:
        print(f'cobalt machines: {options.output} cannot be written: {error.strerror}', file=sys.stderr)
        return 2
    except CobaltError as error:
        print(f'cobalt machines: {error}', file=sys.stderr)
        return 2
    last = first_port(0) + PORTS_OF_DOMAIN - 1
    print(
        f'Copy {options.output} to each of these machines, and use it there, in each shell:\n'
        f'  export FASTDDS_DEFAULT_PROFILES_FILE={options.output.absolute()}\n'
        'Start Cobalt, then see whether they find each other:\n'
        '  cobalt doctor\n'
        f'Firewalls must let UDP through between them, ports {first_port(0)} to {last} (ROS_DOMAIN_ID=0).\n'
        'ROS 2 asks for no password: use a network, or a VPN, that you trust. See docs/sros2.md for more.'
    )
    return 0
