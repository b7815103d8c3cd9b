"""A real arm moves only after a person has confirmed its limits, by name; changed limits are to be confirmed anew."""

import hashlib
import json
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime

import numpy as np

from cobalt_teleop.bridge.door.state_folder import StateFolder
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.limits import PartLimits
from cobalt_teleop.kinematics.robot_description import RobotDescription

_FILE = 'confirmed_limits.json'


@dataclass(frozen=True)
class Confirmation:
    """Who confirmed the limits of an arm, and when.

    Attributes:
        person: Name.
        at: ISO 8601, UTC.
    """

    person: str
    at: str


def limits_digest(robot: RobotDescription, driver: str) -> str:
    """Returns a digest of what a person confirms: the limits, the arm they belong to, and what drives it."""
    values = {f.name: np.asarray(getattr(robot.limits, f.name)).tolist() for f in fields(PartLimits)}
    text = json.dumps([robot.name, robot.title, list(robot.joints), driver, values], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def confirmation_of(robot: RobotDescription, driver: str, folder: StateFolder) -> Confirmation | None:
    """Returns who confirmed these limits; None if nobody did.

    Raises:
        CobaltError: The file of confirmations cannot be read.
    """
    found = _read(folder).get(limits_digest(robot, driver))
    return Confirmation(**found) if found else None


def confirm(robot: RobotDescription, driver: str, person: str, folder: StateFolder) -> Confirmation:
    """Keeps that a person confirmed these limits.

    Raises:
        CobaltError: The name is empty, or the file cannot be written.
    """
    name = ' '.join(person.split())
    if not (name and name.isprintable()):
        raise CobaltError('say who confirms: a name that people there know')
    confirmation = Confirmation(name, datetime.now(UTC).isoformat(timespec='seconds'))
    with folder.locked(_FILE):
        kept = _read(folder)
        kept[limits_digest(robot, driver)] = asdict(confirmation)
        folder.write(_FILE, json.dumps(kept, indent=1).encode())
    return confirmation


def limits_table(robot: RobotDescription) -> str:
    """Returns what a person confirms, in lines."""
    limits = robot.limits
    rows = (
        ('tool stays within, from', _numbers(limits.workspace_min, 'm')),
        ('                      to', _numbers(limits.workspace_max, 'm')),
        ('tool speed, at most', f'{limits.linear_speed:g} m/s, {limits.angular_speed:g} rad/s'),
        ('tool acceleration', f'{limits.linear_acceleration:g} m/s2, {limits.angular_acceleration:g} rad/s2'),
        ('joint ranges, from', _numbers(limits.joint_lower, 'rad')),
        ('                to', _numbers(limits.joint_upper, 'rad')),
        ('joint speeds', _numbers(limits.joint_speed, 'rad/s')),
        ('joint accelerations', _numbers(limits.joint_acceleration, 'rad/s2')),
        ('holds after silence of', f'{limits.watchdog_s:g} s'),
        ('holds when a joint is off by', f'{limits.following_error:g} rad'),
    )
    return '\n'.join([robot.title, *(f'  {name:<30}{value}' for name, value in rows)])


def _numbers(values: object, unit: str) -> str:
    return ', '.join(f'{value:.3g}' for value in np.asarray(values)) + f' {unit}'


def _read(folder: StateFolder) -> dict[str, dict[str, str]]:
    content = folder.read(_FILE)
    if content is None:
        return {}
    try:
        kept = json.loads(content)
    except ValueError as error:
        raise CobaltError(f'{folder.file(_FILE)} cannot be read: {error}; remove it, and confirm anew') from error
    if not isinstance(kept, dict):
        raise CobaltError(f'{folder.file(_FILE)} holds no confirmations; remove it, and confirm anew')
    return kept
