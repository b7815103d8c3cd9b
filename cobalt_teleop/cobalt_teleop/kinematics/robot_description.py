"""What robot.yaml says of an arm, read and checked."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import yaml

from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.limits import PartLimits
from cobalt_teleop.core.pose import Vector

ROBOTS = Path(__file__).resolve().parent.parent / 'robots'

_OPTIONAL_LIMITS = frozenset({'joint_margin', 'watchdog_s', 'jump_m', 'jump_rad', 'following_error'})


@dataclass(frozen=True, kw_only=True)
class GripperDescription:
    """A gripper with one degree of freedom.

    Attributes:
        joint: Its measured joint.
        actuator: What closes it.
        joint_closed: Position of the joint when closed on nothing [rad or m].
        joint_open: When fully open.
        actuator_closed: Control value that closes it.
        actuator_open: Control value that opens it.
        fingertips: Bodies that hold an object.
    """

    joint: str
    actuator: str
    joint_closed: float
    joint_open: float
    actuator_closed: float
    actuator_open: float
    fingertips: tuple[str, ...]

    def opening(self, joint_position: float) -> float:
        """Returns 0 closed to 1 open for a position of the joint."""
        share = (joint_position - self.joint_closed) / (self.joint_open - self.joint_closed)
        return min(1.0, max(0.0, share))

    def control(self, opening: float) -> float:
        """Returns the actuator's control value for 0 closed to 1 open."""
        return self.actuator_closed + (self.actuator_open - self.actuator_closed) * min(1.0, max(0.0, opening))


@dataclass(frozen=True, kw_only=True)
class WristCamera:
    """A camera on the arm.

    Attributes:
        body: That carries it.
        position: (3,) [m], in the body's frame.
        x_axis: (3,) to the right in the picture, in the body's frame.
        y_axis: (3,) up in the picture.
        field_of_view_deg: From top to bottom of the picture [deg].
    """

    body: str
    position: tuple[float, ...]
    x_axis: tuple[float, ...]
    y_axis: tuple[float, ...]
    field_of_view_deg: float


@dataclass(frozen=True, kw_only=True)
class RobotDescription:
    """One kind of arm.

    Attributes:
        name: Of its folder in robots/.
        title: For people.
        model_path: MJCF file.
        base_body: Whose frame is the base frame.
        tool_site: Site whose frame is the tool.
        joints: n names.
        actuators: n names of position servos, in the order of the joints.
        home: (n,) [rad].
        gripper: None if it has none.
        wrist_camera: None if it has none.
        limits: What the guard keeps it within.
        drivers: Options of drivers of real arms, by the driver's name.
    """

    name: str
    title: str
    model_path: Path
    base_body: str
    tool_site: str
    joints: tuple[str, ...]
    actuators: tuple[str, ...]
    home: Vector
    gripper: GripperDescription | None
    wrist_camera: WristCamera | None
    limits: PartLimits
    drivers: Mapping[str, Any] = field(default_factory=dict)


def robot_names() -> tuple[str, ...]:
    """Returns the robots that come with Cobalt."""
    return tuple(sorted(path.parent.name for path in ROBOTS.glob('*/robot.yaml')))


def load_robot(name_or_path: str | Path) -> RobotDescription:
    """Reads a robot by its name in robots/, or from the path of a folder or of a robot.yaml.

    Raises:
        CobaltError: There is no such robot, or its description is wrong.
    """
    text = str(name_or_path)
    path = ROBOTS / text / 'robot.yaml' if '/' not in text and not text.endswith('.yaml') else Path(text)
    if path.is_dir():
        path = path / 'robot.yaml'
    if not path.is_file():
        raise CobaltError(
            f"there is no robot '{text}'; known are {', '.join(robot_names())}, or give the path of a robot.yaml"
        )
    return _read(path.resolve())


@cache
def _read(path: Path) -> RobotDescription:
    try:
        data = yaml.safe_load(path.read_text())
    except (OSError, yaml.YAMLError) as error:
        raise CobaltError(f'{path} cannot be read: {error}') from error
    keys = {f.name for f in fields(RobotDescription)} - {'name', 'model_path'} | {'model'}
    values = _checked(path, '', data, keys, optional=frozenset({'gripper', 'wrist_camera', 'drivers'}))
    gripper = values.get('gripper')
    camera = values.get('wrist_camera')
    model_path = path.parent / str(values['model'])
    ranges = _checked_model(path, model_path, values)
    try:
        return RobotDescription(
            name=path.parent.name,
            title=str(values['title']),
            model_path=model_path,
            base_body=values['base_body'],
            tool_site=values['tool_site'],
            joints=tuple(values['joints']),
            actuators=tuple(values['actuators']),
            home=_vector(path, 'home', values['home'], len(values['joints'])),
            gripper=None if gripper is None else _section(path, 'gripper', gripper, GripperDescription),
            wrist_camera=None if camera is None else _section(path, 'wrist_camera', camera, WristCamera),
            limits=_limits(path, values['limits'], ranges),
            drivers=dict(values.get('drivers') or {}),
        )
    except (TypeError, ValueError) as error:
        raise CobaltError(f'{path} has a value of the wrong kind: {error}') from error


def _checked(
    path: Path, section: str, data: Any, keys: set[str], optional: frozenset[str] = frozenset()
) -> dict[str, Any]:
    where = f"{path}, section '{section}'," if section else f'{path}'
    if not isinstance(data, Mapping):
        raise CobaltError(f'{where} must be a table with {", ".join(sorted(keys))}')
    for key in data:
        if key not in keys:
            raise CobaltError(f"{where} has an unknown key '{key}'; valid are {', '.join(sorted(keys))}")
    for key in sorted(keys - optional):
        if key not in data:
            raise CobaltError(f"{where} lacks the key '{key}'; it needs {', '.join(sorted(keys - optional))}")
    return dict(data)


def _section(path: Path, name: str, data: Any, table: type[Any]) -> Any:
    values = _checked(path, name, data, {f.name for f in fields(table)})
    return table(**{key: tuple(value) if isinstance(value, list) else value for key, value in values.items()})


def _vector(path: Path, name: str, value: Any, size: int) -> Vector:
    vector = np.asarray(value, dtype=float)
    if vector.shape != (size,):
        raise CobaltError(f"{path}: '{name}' must have {size} numbers, not {value}")
    vector.setflags(write=False)
    return vector


def _limits(path: Path, data: Any, ranges: Vector) -> PartLimits:
    keys = {f.name for f in fields(PartLimits)} - {'joint_lower', 'joint_upper'}
    values = _checked(path, 'limits', data, keys, optional=_OPTIONAL_LIMITS)
    sizes = {'workspace_min': 3, 'workspace_max': 3, 'joint_speed': len(ranges), 'joint_acceleration': len(ranges)}
    limits: dict[str, Any] = {
        key: _vector(path, key, value, sizes[key]) if key in sizes else float(value) for key, value in values.items()
    }
    try:
        return PartLimits(joint_lower=ranges[:, 0].copy(), joint_upper=ranges[:, 1].copy(), **limits)
    except CobaltError as error:
        raise CobaltError(f'{path}: {error}') from error


def _checked_model(path: Path, model_path: Path, values: Mapping[str, Any]) -> Vector:
    """Checks that the model has what the description names; returns (n, 2) joint ranges [rad]."""
    if not model_path.is_file():
        raise CobaltError(f"{path} names the model '{values['model']}', but {model_path} does not exist")
    try:
        spec = mujoco.MjSpec.from_file(str(model_path))
    except ValueError as error:
        raise CobaltError(f'{model_path} is not a MuJoCo model: {error}') from error
    joints = {joint.name: joint for joint in spec.joints}
    gripper = values.get('gripper') or {}
    camera = values.get('wrist_camera') or {}
    wanted = (
        (
            'body',
            [values['base_body'], *gripper.get('fingertips', ()), *filter(None, [camera.get('body')])],
            spec.bodies,
        ),
        ('site', [values['tool_site']], spec.sites),
        ('joint', [*values['joints'], *filter(None, [gripper.get('joint')])], spec.joints),
        ('actuator', [*values['actuators'], *filter(None, [gripper.get('actuator')])], spec.actuators),
    )
    for kind, names, elements in wanted:
        known = [element.name for element in elements]
        for name in names:
            if name not in known:
                raise CobaltError(f"{path} names the {kind} '{name}', but {model_path.name} has {', '.join(known)}")
    if len(values['actuators']) != len(values['joints']):
        raise CobaltError(f'{path} has {len(values["joints"])} joints, but {len(values["actuators"])} actuators')
    return np.array([_joint_range(spec, joints[name]) for name in values['joints']])


def _joint_range(spec: Any, joint: Any) -> tuple[float, float]:
    lower, upper = (float(bound) for bound in joint.range)
    if lower == upper == 0.0:
        return -np.inf, np.inf
    return (lower, upper) if not spec.compiler.degree else (float(np.deg2rad(lower)), float(np.deg2rad(upper)))
