"""The arms of a workcell: one, or several that arms.yaml names and places."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.pose import Pose, quaternion
from cobalt_teleop.kinematics.robot_description import ROBOTS, RobotDescription, load_robot, robot_names

ARM = 'arm'
"""Part of a workcell with one arm."""

_FILE = 'arms.yaml'
_KEYS = ('robot', 'position', 'yaw')


@dataclass(frozen=True, kw_only=True)
class StandingArm:
    """One arm of a workcell.

    Attributes:
        part: Its name in the workcell: arm, or left and right.
        robot: What it is.
        base: Where its base stands, in the table's frame.
    """

    part: str
    robot: RobotDescription
    base: Pose = field(default_factory=Pose)

    @property
    def prefix(self) -> str:
        """What its names in a scene of several arms begin with."""
        return '' if self.part == ARM else f'{self.part}_'


@dataclass(frozen=True, kw_only=True)
class ArmSet:
    """The arms of a workcell.

    Attributes:
        name: Of the folder in robots/.
        title: For people.
        arms: In the order of the workcell's parts.
    """

    name: str
    title: str
    arms: tuple[StandingArm, ...]

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the arms in the workcell."""
        return tuple(arm.part for arm in self.arms)


def arm_set_names() -> tuple[str, ...]:
    """Returns the sets of several arms that come with Cobalt."""
    return tuple(sorted(path.parent.name for path in ROBOTS.glob(f'*/{_FILE}')))


def single(robot: RobotDescription) -> ArmSet:
    """Returns one arm, whose base frame is the table's."""
    return ArmSet(name=robot.name, title=robot.title, arms=(StandingArm(part=ARM, robot=robot),))


def load_arms(name_or_path: str | Path) -> ArmSet:
    """Reads one arm or several by name in robots/, or from the path of a folder, a robot.yaml, or an arms.yaml.

    Raises:
        CobaltError: There is no such robot, or its description is wrong.
    """
    text = str(name_or_path)
    if text in arm_set_names():
        return _read(ROBOTS / text / _FILE)
    path = Path(text)
    if path.name == _FILE and path.is_file():
        return _read(path.resolve())
    if (path / _FILE).is_file() and '/' in text:
        return _read((path / _FILE).resolve())
    if '/' not in text and not text.endswith('.yaml') and text not in robot_names():
        known = ', '.join((*robot_names(), *arm_set_names()))
        raise CobaltError(f"there is no robot '{text}'; known are {known}, or give the path of a robot.yaml or {_FILE}")
    return single(load_robot(name_or_path))


def arms_of(parts: Sequence[tuple[str, str]]) -> ArmSet:
    """Returns those of the arms that come with Cobalt that a workcell tells of.

    Args:
        parts: Name of each part, and of its robot, in order.

    Raises:
        CobaltError: There are none such.
    """
    if len(parts) == 1:
        return load_arms(parts[0][1])
    for name in arm_set_names():
        arms = load_arms(name)
        if [(arm.part, arm.robot.name) for arm in arms.arms] == list(parts):
            return arms
    told = ', '.join(f'{part}: {robot}' for part, robot in parts)
    raise CobaltError(f'no arms that come along are these: {told}')


def _read(path: Path) -> ArmSet:
    try:
        data = yaml.safe_load(path.read_text())
    except (OSError, yaml.YAMLError) as error:
        raise CobaltError(f'{path} cannot be read: {error}') from error
    parts = data.get('parts') if isinstance(data, Mapping) else None
    if not isinstance(parts, Mapping) or not parts or set(data) != {'title', 'parts'}:
        raise CobaltError(f'{path} must be a table with title and parts')
    arms = tuple(_arm(path, str(part), values) for part, values in parts.items())
    return ArmSet(name=path.parent.name, title=str(data['title']), arms=arms)


def _arm(path: Path, part: str, values: Any) -> StandingArm:
    if not isinstance(values, Mapping) or set(values) != set(_KEYS):
        raise CobaltError(f"{path}: part '{part}' must be a table with {', '.join(_KEYS)}")
    robot = str(values['robot'])
    place = np.asarray(values['position'], dtype=float)
    if place.shape != (3,):
        raise CobaltError(f"{path}: the position of part '{part}' must have 3 numbers, not {values['position']}")
    return StandingArm(
        part=part,
        robot=load_robot(path.parent / robot if robot.startswith('.') else robot),
        base=Pose(place, quaternion([0.0, 0.0, float(values['yaw'])])),
    )
