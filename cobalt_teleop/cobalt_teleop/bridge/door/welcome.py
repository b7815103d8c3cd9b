"""What the bridge prints at its start: where to go, and how to know that one has come to the right place."""

import io
import ipaddress
import json
import os
import shlex
import sys
from collections.abc import Sequence

import segno

from cobalt_teleop.bridge.door.certificate import Certificate
from cobalt_teleop.bridge.door.listening import is_every_address, is_loopback
from cobalt_teleop.bridge.door.own_names import machine_addresses
from cobalt_teleop.bridge.door.state_folder import StateFolder

TERMINAL_VARIABLE = 'COBALT_TERMINAL'
"""Set to 1 by whoever shows this process's output on a terminal."""

_ENVIRONMENT_VARIABLE = 'COBALT_ENV'

_ORIGINS_FILE = 'origins.json'


def origins(
    host: str, port: int, *, secure: bool, public_names: Sequence[str] = (), addresses: Sequence[str] | None = None
) -> list[str]:
    """Returns where the page is found, such as `https://192.0.2.7:8080`, the likeliest first.

    Args:
        host: On which the bridge listens.
        port: On which it listens.
        secure: It speaks TLS.
        public_names: Names, perhaps with a port, that a proxy or a port forward has.
        addresses: Of this machine, in the order of their use; looked up by default.
    """
    found = [f'https://{name}' for name in public_names]
    if is_every_address(host):
        own = [address for address in addresses or machine_addresses() if _is_of_use(address)]
        if ':' not in host:
            own = [address for address in own if ':' not in address]
    else:
        own = [host.strip('[]')]
    scheme = 'https' if secure else 'http'
    return found + [f'{scheme}://{f"[{address}]" if ":" in address else address}:{port}' for address in own]


def _is_of_use(address: str) -> bool:
    parsed = ipaddress.ip_address(address)
    return not parsed.is_loopback and not parsed.is_link_local


def shows_on_terminal() -> bool:
    """Returns whether a person at a terminal reads what this process prints, and no file keeps it."""
    return sys.stdout.isatty() or os.environ.get(TERMINAL_VARIABLE) == '1'


def welcome(
    places: Sequence[str],
    token: str,
    certificate: Certificate | None,
    *,
    own: bool,
    terminal: bool,
    state_dir: str = '',
) -> str:
    """Returns what is printed at the start.

    Args:
        places: From `origins`.
        token: Of the owner; empty if none is needed.
        certificate: That is served, if any.
        own: It is this installation's, and no browser knows it yet.
        terminal: A person reads it; otherwise it may be kept in a file, and no token is in it.
        state_dir: Where invitations are kept; empty for the default.
    """
    if not token:
        return f'Open {places[0]}/ in a browser'
    lines = ['Open in a browser:']
    invite = in_new_shell(f'cobalt invite --state-dir {shlex.quote(state_dir)}' if state_dir else 'cobalt invite')
    if terminal:
        lines += [f'  {place}/?token={token}' for place in places]
        lines += [f'Who has such a link owns the robot. Links for others are made by: {invite}']
    else:
        lines += [f'  {place}/' for place in places]
        lines += [f'A link with a token is needed, and is not kept in a log. Get one by: {invite} --owner']
    if certificate is not None and own:
        lines += [
            'The certificate was made on this machine: a browser warns at the first visit. It is the right one if its',
            f'SHA-256 is {certificate.fingerprint}',
        ]
    if terminal:
        near = next((place for place in places if not is_loopback(_host_of(place))), '')
        if near:
            lines += [f'{near}/ for a phone:', qr_code(f'{near}/?token={token}')]
    return '\n'.join(lines)


def in_new_shell(command: str) -> str:
    """Returns what to type for a command in a shell that was just opened."""
    environment = os.environ.get(_ENVIRONMENT_VARIABLE, '')
    return f'. {shlex.quote(environment)} && {command}' if environment else command


def qr_code(text: str) -> str:
    """Returns a QR code to be printed in a terminal."""
    drawn = io.StringIO()
    segno.make(text, error='l', micro=False).terminal(out=drawn, compact=True, border=2)
    return drawn.getvalue().rstrip('\n')


def keep_origins(folder: StateFolder, places: Sequence[str]) -> None:
    """Notes where the bridge is found, for `cobalt invite`."""
    folder.write(_ORIGINS_FILE, json.dumps(list(places)).encode())


def kept_origins(folder: StateFolder) -> list[str]:
    """Returns where the bridge was found when it started last; empty if it never did."""
    try:
        return [str(place) for place in json.loads(folder.read(_ORIGINS_FILE) or b'[]')]
    except (ValueError, TypeError, RecursionError):
        return []


def _host_of(place: str) -> str:
    return place.partition('://')[2].rpartition(':')[0]
