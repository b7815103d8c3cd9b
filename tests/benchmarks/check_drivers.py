#!/usr/bin/env python3
"""The checks of `cobalt driver check` on each vendor's library, against the double of what it speaks to.

Each double runs in a process of its own. `franka` needs franky-sim: COBALT_FRANKY_SIM names its command
(docs/drivers.md).
"""

import argparse
import os
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import harness

harness.enter_workspace()
sys.path.insert(0, str(Path(__file__).parents[2] / 'cobalt_devices' / 'test'))

from feetech_double import FeetechDouble  # noqa: E402
from ur_double import UrDouble  # noqa: E402
from xarm_double import XArmDouble  # noqa: E402

from cobalt_devices.arm_driver.conformance import DriverCheck  # noqa: E402
from cobalt_devices.arm_driver.driver import DriverContext  # noqa: E402
from cobalt_devices.arm_driver.driver_registry import load_driver  # noqa: E402
from cobalt_teleop.kinematics.robot_description import load_robot  # noqa: E402

_ADDRESS = '127.0.33.1'
_SIM = os.environ.get('COBALT_FRANKY_SIM', '')
_ROBOTS = {'ur_rtde': 'ur5e', 'so101': 'ur5e', 'xarm': 'franka_panda', 'franka': 'franka_panda'}
_WITHOUT_GRIPPER = ('xarm',)


def _serve(name: str) -> None:
    """Runs a double until standard input ends, after a line that says where it is."""
    home = load_robot(_ROBOTS[name]).home
    where = _ADDRESS
    if name == 'ur_rtde':
        UrDouble(_ADDRESS, home)
    elif name == 'xarm':
        XArmDouble(_ADDRESS, home)
    else:
        where = FeetechDouble(dict.fromkeys(range(1, 8), 2048)).port
    print(where, flush=True)
    sys.stdin.read()


def _started(name: str) -> 'tuple[subprocess.Popen[str], dict[str, object]]':
    if name == 'franka':
        command = [*shlex.split(_SIM), '-s', 'mujoco', '--hostname', _ADDRESS]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        for line in process.stdout or ():
            if _ADDRESS in line:
                break
        return process, {'host': _ADDRESS, 'realtime': False, 'gripper': 'franka_hand'}
    process = subprocess.Popen(
        [sys.executable, __file__, '--serve', name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    where = process.stdout.readline().strip()
    options: dict[str, dict[str, object]] = {
        'ur_rtde': {'host': where, 'gripper': 'robotiq'},
        'xarm': {'host': where},
        'so101': {'port': where, 'gripper_id': 7},
    }
    return process, options[name]


def _checked(name: str) -> 'list[tuple[str, bool, str]]':
    process, options = _started(name)
    try:
        robot = load_robot(_ROBOTS[name])
        if name in _WITHOUT_GRIPPER:
            robot = replace(robot, gripper=None)
        driver = load_driver(name)(DriverContext(robot=robot, options=options, node=None))
        return [(finding.name, finding.ok, finding.text) for finding in DriverCheck(driver, robot).run()]
    finally:
        process.terminate()
        process.wait()


def main() -> int:
    """Prints what was found; returns 1 if a check failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('drivers', nargs='*', help='which; all that can be, if none is named')
    parser.add_argument('--serve', choices=sorted(_ROBOTS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        _serve(options.serve)
        return 0
    failed = 0
    for name in options.drivers or [name for name in _ROBOTS if name != 'franka' or _SIM]:
        for check, ok, text in _checked(name):
            failed += not ok
            print(f'{name:<9}{"OK" if ok else "FAILED":<8}{check:<10}{text}', flush=True)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
