"""`cobalt invite`: makes links that let others in, lists them, and takes them back."""

import argparse
import sys
import time
from collections.abc import Sequence

from cobalt_teleop.bridge.door.door import owner_token
from cobalt_teleop.bridge.door.guest import Role
from cobalt_teleop.bridge.door.invitations import Invitation, Invitations
from cobalt_teleop.bridge.door.last_tasks import kept_tasks
from cobalt_teleop.bridge.door.state_folder import StateFolder
from cobalt_teleop.bridge.door.welcome import kept_origins, qr_code
from cobalt_teleop.core.errors import CobaltError

_EPILOG = """examples:
  cobalt invite --role operator --task lift --hours 8 --name Ada
  cobalt invite --role spectator --once
  cobalt invite --list
  cobalt invite --revoke 3f9c2a11d0"""


def add_parser(subparsers: 'argparse._SubParsersAction[argparse.ArgumentParser]') -> None:
    """Adds `cobalt invite`."""
    parser = subparsers.add_parser(
        'invite',
        help='make links that let others in',
        description='Makes a link that lets somebody in, in one role and for some time.',
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument('--list', action='store_true', help='show the invitations that are out')
    what.add_argument('--revoke', metavar='ID', help='take an invitation back; whoever is in by it is sent away')
    what.add_argument('--owner', action='store_true', help="show the owner's own links, which do not expire")
    parser.add_argument('--role', choices=[str(role) for role in Role], default='operator', help='(default: operator)')
    parser.add_argument('--task', default='', help='task that the guest is invited for (default: any)')
    parser.add_argument('--hours', type=float, default=8.0, help='how long the link lets in (default: 8)')
    parser.add_argument('--name', default='', help='name of the guest (default: he chooses one)')
    parser.add_argument('--once', action='store_true', help='the link works in the first browser that opens it alone')
    parser.add_argument('--origin', default='', help='where the page is, such as https://robot.example.org')
    parser.add_argument('--workcell', default='', help='workcell that the link opens (default: a free one)')
    parser.add_argument('--state-dir', default='', help="the bridge's parameter state_dir, if it was given one")
    parser.add_argument('--qr', action='store_true', help='draw the first link as a QR code')
    parser.set_defaults(func=invite)


def invite(options: argparse.Namespace) -> int:
    """Runs `cobalt invite`."""
    try:
        return _invite(options)
    except CobaltError as error:
        print(f'cobalt invite: {error}', file=sys.stderr)
        return 2


def _invite(options: argparse.Namespace) -> int:
    folder = StateFolder(options.state_dir)
    invitations = Invitations(folder)
    if options.list:
        return _show(invitations.issued())
    if options.revoke:
        whose = invitations.revoke(options.revoke)
        print(f'{whose.id} lets nobody in any more ({whose.role}{f", {whose.name}" if whose.name else ""})')
        return 0
    places = [options.origin.rstrip('/')] if options.origin else kept_origins(folder)
    if not places:
        raise CobaltError(
            f'no bridge has started with the state folder {str(folder.path)!r} yet: start one, or name its address '
            'by --origin https://ADDRESS:PORT'
        )
    if not options.owner and not options.origin and all(place.startswith('http://') for place in places):
        raise CobaltError(
            f'the bridge that started last with the state folder {str(folder.path)!r} serves this machine alone, where '
            'no link lets others in: start it with host:=0.0.0.0, name the folder of another by --state-dir, or its '
            'address by --origin'
        )
    if options.owner:
        query = f'token={owner_token(folder)}'
    else:
        token = invitations.issue(
            Role(options.role), options.task, options.hours * 3600.0, options.name, single_use=options.once
        )
        query = f'invite={token}'
    workcell = f'&workcell={options.workcell}' if options.workcell else ''
    links = [f'{place}/?{query}{workcell}' for place in places]
    print('\n'.join(links))
    tasks = kept_tasks(folder)
    if options.task and tasks and options.task not in tasks and not options.owner:
        print(
            f'No workcell had the task {options.task!r} when the bridge saw some last; they had {", ".join(tasks)}. '
            'Whoever comes by this link watches until one has it.',
            file=sys.stderr,
        )
    if options.qr:
        print(qr_code(links[0]))
    return 0


def _show(issued: Sequence[Invitation]) -> int:
    if not issued:
        print('No invitation is out.')
        return 0
    print(f'{"id":<12}{"role":<12}{"name":<16}{"task":<12}{"expires":<18}state')
    for one in issued:
        until = time.strftime('%Y-%m-%d %H:%M', time.localtime(one.expires_s))
        state = 'revoked' if one.revoked else 'used' if one.used_by else 'for one browser' if one.single_use else 'open'
        print(f'{one.id:<12}{one.role:<12}{one.name or "-":<16}{one.task or "any":<12}{until:<18}{state}')
    return 0
