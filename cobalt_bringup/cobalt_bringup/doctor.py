"""`cobalt doctor`: checks this machine and says what to do."""

import argparse
import json
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict

from cobalt_bringup import doctor_checks, door_checks
from cobalt_bringup.doctor_checks import Finding, Status


def add_parser(subparsers: 'argparse._SubParsersAction[argparse.ArgumentParser]') -> None:
    """Adds `cobalt doctor`."""
    parser = subparsers.add_parser(
        'doctor',
        help='check this machine',
        description='Checks this machine and says what to do. Ends with 1 if something fails.',
    )
    parser.add_argument('--port', type=int, default=8080, help="port of the operator's page (default: 8080)")
    parser.add_argument('--dataset', default='datasets', help='folder for recorded episodes (default: datasets)')
    parser.add_argument(
        '--bridge',
        metavar='ADDRESS',
        help='follow the way to a bridge, such as https://192.0.2.7:8080, instead: is a port blocked, or a certificate '
        'not trusted?',
    )
    parser.add_argument('--tls-certificate', default='', help='certificate that the bridge shall serve')
    parser.add_argument('--tls-key', default='', help='its key')
    parser.add_argument('--state-dir', default='', help="the bridge's parameter state_dir, if it is given one")
    parser.add_argument('--json', action='store_true', help='print one JSON object and nothing else')
    parser.set_defaults(func=doctor)


def examine(options: argparse.Namespace) -> list[Finding]:
    """Runs all checks, those that wait for child processes at the same time."""
    checks: list[Callable[[], Finding]] = [
        doctor_checks.processors,
        doctor_checks.ros,
        doctor_checks.workspace,
        doctor_checks.transport,
        doctor_checks.machines,
        doctor_checks.workcells,
        doctor_checks.graphics,
        doctor_checks.encoder,
        doctor_checks.browser,
        doctor_checks.spacemouse,
        lambda: doctor_checks.tcp_port(options.port),
        lambda: door_checks.planned_certificate(options.state_dir, options.tls_certificate, options.tls_key),
        lambda: doctor_checks.disk(options.dataset),
    ]
    with ThreadPoolExecutor(max_workers=2) as pool:
        return list(pool.map(_guarded, checks))


def _guarded(check: Callable[[], Finding]) -> Finding:
    try:
        return check()
    except Exception as error:
        name = getattr(check, '__name__', 'check')
        return Finding(name, Status.FAIL, f'could not be checked: {type(error).__name__}: {error}', 'Report this.')


def doctor(options: argparse.Namespace) -> int:
    """Runs `cobalt doctor`."""
    if options.bridge is not None:
        try:
            findings = door_checks.way_to(door_checks.place_of(options.bridge, options.port))
        except door_checks.PlaceError as error:
            print(f'cobalt doctor: {error}', file=sys.stderr)
            return 2
    else:
        if not options.json:
            print('Looking at this machine; this takes some seconds ...', file=sys.stderr)
        findings = examine(options)
    failed = any(finding.status is Status.FAIL for finding in findings)
    if options.json:
        print(json.dumps({'ok': not failed, 'findings': [asdict(finding) for finding in findings]}))
        return int(failed)
    width = max(len(finding.name) for finding in findings)
    for finding in findings:
        print(f'{finding.status.value:<4}  {finding.name:<{width}}  {finding.detail}')
        if finding.advice and finding.status is not Status.OK:
            print(f'      {"":<{width}}  -> {finding.advice}')
    return int(failed)
