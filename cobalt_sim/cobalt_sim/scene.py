"""The scene of a workcell: a room with a table, the arm or arms on it, the task's objects, lights and cameras.

The world frame is the table's: x points away from the arms over the workspace, z up. It is the base frame of a single
arm; several stand to both sides of its origin.
"""

import math
from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np

from cobalt_sim import blob_shadows
from cobalt_sim.arm_drive import make_servos_run
from cobalt_sim.render_profile import RenderProfile
from cobalt_sim.tasks.task import Task
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.pose import wxyz
from cobalt_teleop.kinematics.arm_set import ARM, ArmSet, StandingArm
from cobalt_teleop.kinematics.robot_description import RobotDescription
from cobalt_teleop.workcell_host.plant import CameraModel

TIMESTEP_S = 0.002
FRONT = 'front'
WRIST = 'wrist'

_TABLE_TOP = 0.04
_TABLE_HEIGHT = 0.74
_TABLE_CENTRE = np.array([0.36, 0.0])
_TABLE_HALF = np.array([0.58, 0.70])
TABLE_MIN, TABLE_MAX = _TABLE_CENTRE - _TABLE_HALF, _TABLE_CENTRE + _TABLE_HALF
"""(2,) corners of the table's top [m]."""

# From above and a little from the side, so that the hand never hangs before the base; its yaw stays near 180 deg, which
# is what makes keys and picture agree.
_FRONT_EYE = np.array([1.38, 0.25, 1.14])
_FRONT_AIM = np.array([0.28, 0.06, 0.18])
_FRONT_FIELD_DEG = 42.0

_OAK = (0.76, 0.60, 0.42)
_BOX = mujoco.mjtGeom.mjGEOM_BOX


def camera_models(
    arms: ArmSet, names: Sequence[str], *, width: int, height: int, rate_hz: float
) -> tuple[CameraModel, ...]:
    """Returns cameras of a scene with these arms.

    Args:
        arms: One or several.
        names: Such as front; `wrist` is that of every arm.
        width: [px].
        height: [px].
        rate_hz: Pictures a second at most [Hz].

    Raises:
        CobaltError: There is no such camera.
    """
    wrists = _wrists(arms)
    models = {}
    for asked in names:
        for name in wrists if asked == WRIST and wrists else (asked,):
            if name not in (FRONT, *wrists):
                raise CobaltError(f"there is no camera '{name}'; this scene has {', '.join((FRONT, *wrists))}")
            arm = wrists.get(name, arms.arms[0])
            models[name] = camera_model(arm.robot, arm.part, name, width=width, height=height, rate_hz=rate_hz)
    return tuple(models.values())


def _wrists(arms: ArmSet) -> dict[str, StandingArm]:
    return {arm.prefix + WRIST: arm for arm in arms.arms if arm.robot.wrist_camera}


def build_model(arms: ArmSet, task: Task, profile: RenderProfile, cameras: Sequence[CameraModel]) -> Any:
    """Compiles the scene into a mujoco.MjModel.

    Raises:
        CobaltError: A camera does not exist, or the arm has an actuator that is no position servo.
    """
    known = (FRONT, *_wrists(arms))
    for camera in cameras:
        if camera.name not in known:
            raise CobaltError(f"there is no camera '{camera.name}'; the scene has {', '.join(known)}")
    spec = _standing(arms)
    spec.modelname = f'{arms.name}_{task.info.name}'
    spec.option.timestep = TIMESTEP_S
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    # What is held shall not creep out of the hand: with 10 a nut held by its handle was lost within a minute, with 200
    # it moves by 2 mm.
    spec.option.impratio = 200.0
    # An unstable workcell is reset by its plant, which tells so; MuJoCo would do it silently.
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
    spec.visual.global_.offwidth = max((camera.width for camera in cameras), default=320)
    spec.visual.global_.offheight = max((camera.height for camera in cameras), default=240)
    spec.visual.quality.offsamples = profile.samples
    # Lights are directional: a face needs no vertices within it.
    spec.visual.quality.numquads = 1
    spec.visual.quality.shadowsize = 2048
    spec.visual.map.shadowclip = 2.0
    spec.visual.map.znear = 0.02
    spec.visual.map.zfar = 8.0
    _add_materials(spec)
    blob_shadows.add_materials(spec)
    _add_room(spec)
    _add_table(spec, arms)
    _add_lights(spec, profile)
    _add_front_camera(spec)
    for arm in arms.arms:
        _add_wrist_camera(spec, arm)
        make_servos_run(spec, [arm.prefix + name for name in arm.robot.actuators])
    task.add_to_scene(spec)
    model = spec.compile()
    model.stat.extent, model.stat.center = 1.0, (0.3, 0.0, 0.2)
    return model


def _standing(arms: ArmSet) -> Any:
    """Returns a mujoco.MjSpec with the arms and nothing else."""
    if arms.parts == (ARM,) and not arms.arms[0].base.position.any():
        return mujoco.MjSpec.from_file(str(arms.arms[0].robot.model_path))
    spec = mujoco.MjSpec()
    for arm in arms.arms:
        frame = spec.worldbody.add_frame(pos=arm.base.position, quat=wxyz(arm.base.quat_xyzw))
        spec.attach(mujoco.MjSpec.from_file(str(arm.robot.model_path)), prefix=arm.prefix, frame=frame)
    return spec


def focal_px(robot: RobotDescription, camera: str, height: int) -> float:
    """Returns the focal length of a camera [px] for a picture's height [px]."""
    wrist = robot.wrist_camera if camera.endswith(WRIST) else None
    field = wrist.field_of_view_deg if wrist else _FRONT_FIELD_DEG
    return height / 2.0 / float(np.tan(np.deg2rad(field) / 2.0))


def camera_model(
    robot: RobotDescription, part: str, name: str, *, width: int, height: int, rate_hz: float
) -> CameraModel:
    """Returns a camera of a scene with this arm.

    Args:
        robot: The arm.
        part: Its name in the workcell.
        name: FRONT, or one that ends with WRIST.
        width: [px].
        height: [px].
        rate_hz: Pictures a second at most [Hz].
    """
    way = _FRONT_AIM - _FRONT_EYE
    return CameraModel(
        name=name,
        width=width,
        height=height,
        rate_hz=rate_hz,
        focal_px=focal_px(robot, name, height),
        carried_by=part if name.endswith(WRIST) else '',
        yaw=math.nan if name.endswith(WRIST) else math.atan2(way[1], way[0]),
    )


def _add_wrist_camera(spec: Any, arm: StandingArm) -> None:
    camera = arm.robot.wrist_camera
    if camera is not None:
        x, y = (np.asarray(axis) / np.linalg.norm(axis) for axis in (camera.x_axis, camera.y_axis))
        spec.body(arm.prefix + camera.body).add_camera(
            name=arm.prefix + WRIST, pos=camera.position, quat=_quat_of_axes(x, y), fovy=camera.field_of_view_deg
        )


def _quat_of_axes(x: Any, y: Any) -> Any:
    quat = np.zeros(4)
    mujoco.mju_mat2Quat(quat, np.column_stack([x, y, np.cross(x, y)]).ravel())
    return quat


def _add_front_camera(spec: Any) -> None:
    back = (_FRONT_EYE - _FRONT_AIM) / np.linalg.norm(_FRONT_EYE - _FRONT_AIM)
    right = np.cross([0.0, 0.0, 1.0], back)
    right /= np.linalg.norm(right)
    spec.worldbody.add_camera(
        name=FRONT, pos=_FRONT_EYE, quat=_quat_of_axes(right, np.cross(back, right)), fovy=_FRONT_FIELD_DEG
    )


def _add_lights(spec: Any, profile: RenderProfile) -> None:
    spec.visual.headlight.ambient = (0.34, 0.34, 0.36)
    spec.visual.headlight.diffuse = (0.16, 0.16, 0.16)
    spec.visual.headlight.specular = (0.05, 0.05, 0.05)
    spec.worldbody.add_light(
        name='key',
        type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
        pos=(0.9, -1.2, 2.2),
        dir=(-0.18, 0.27, -0.94),
        diffuse=(0.58, 0.56, 0.53),
        specular=(0.35, 0.35, 0.35),
        castshadow=profile.shadows == 'cast',
    )
    spec.worldbody.add_light(
        name='fill',
        type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
        pos=(1.0, 1.5, 1.8),
        dir=(-0.5, -0.7, -0.5),
        diffuse=(0.17, 0.19, 0.23),
        specular=(0.0, 0.0, 0.0),
        castshadow=False,
    )


def _add_materials(spec: Any) -> None:
    colours = {
        'wall': (0.60, 0.66, 0.69),
        'panel': (0.47, 0.54, 0.58),
        'skirting': (0.70, 0.73, 0.74),
        'floor': (0.50, 0.48, 0.46),
        'oak': _OAK,
        'oak_edge': (0.56, 0.41, 0.26),
        'steel': (0.20, 0.21, 0.23),
        'mat': (0.74, 0.77, 0.79),
        'mat_line': (0.42, 0.46, 0.50),
    }
    for name, colour in colours.items():
        spec.add_material(name=name, rgba=(*colour, 1.0), specular=0.1, shininess=0.1)
    spec.material('steel').specular = 0.5
    _add_texture(spec, 'oak', _wood(512))


def _add_texture(spec: Any, material: str, picture: Any) -> None:
    texture = spec.add_texture(
        name=material,
        type=mujoco.mjtTexture.mjTEXTURE_2D,
        width=picture.shape[1],
        height=picture.shape[0],
        nchannel=3,
    )
    texture.data = picture.tobytes()
    textures = ['' for _ in range(mujoco.mjtTextureRole.mjNTEXROLE)]
    textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = material
    spec.material(material).textures = textures
    spec.material(material).rgba = (1.0, 1.0, 1.0, 1.0)


def _wood(size: int) -> Any:
    """Returns a (size, size, 3) picture of oak boards: grain along the rows, a joint between boards."""
    rng = np.random.default_rng(7)
    along, across = np.meshgrid(np.linspace(0, 1, size), np.linspace(0, 1, size))
    board = np.floor(across * 5).astype(int)
    shade = rng.uniform(-0.05, 0.05, 5)[np.clip(board, 0, 4)]
    phase = rng.uniform(0, 6.28, 5)[np.clip(board, 0, 4)]
    bend = 0.012 * np.sin(along * 5 + phase) + 0.006 * np.sin(along * 17 + 2 * phase)
    grain = 0.030 * np.sin((across + bend) * 260 + phase) + 0.022 * np.sin((across + bend) * 610 + 2 * phase)
    noise = np.repeat(rng.normal(0, 0.012, (size, size // 16)), 16, axis=1)
    joint = np.where(np.abs((across * 5) % 1.0 - 0.5) > 0.492, -0.16, 0.0)
    value = 1.0 + shade + grain + noise + joint
    return np.clip(value[..., None] * np.array(_OAK) * 255, 0, 255).astype(np.uint8)


def _add_room(spec: Any) -> None:
    floor = -_TABLE_HEIGHT
    _box(spec, 'floor', (0.4, 0.0, floor - 0.02), (2.6, 3.0, 0.02), 'floor')
    _box(spec, 'wall', (-1.32, 0.0, floor + 1.5), (0.02, 3.0, 1.5), 'wall', visual=True)
    for side in (-1, 1):
        place = (0.4, side * 2.4, floor + 0.65)
        _box(spec, f'side_wall_{side}', place, (1.74, 0.02, 0.65), 'panel', visual=True)
    # Panelling: a darker lower half under a rail, so that the room has a height.
    _box(spec, 'panel', (-1.29, 0.0, floor + 0.50), (0.006, 3.0, 0.50), 'panel', visual=True)
    _box(spec, 'rail', (-1.28, 0.0, floor + 1.01), (0.012, 3.0, 0.014), 'skirting', visual=True)
    _box(spec, 'skirting', (-1.29, 0.0, floor + 0.05), (0.006, 3.0, 0.05), 'skirting', visual=True)


def _add_table(spec: Any, arms: ArmSet) -> None:
    x, y = _TABLE_CENTRE
    half_x, half_y = _TABLE_HALF
    _box(spec, 'table', (x, y, -_TABLE_TOP / 2), (half_x, half_y, _TABLE_TOP / 2), 'oak')
    for side in (-1, 1):
        place, half = (x + side * half_x, y, -_TABLE_TOP / 2), (0.012, half_y + 0.012, 0.0205)
        _box(spec, f'edge_x{side}', place, half, 'oak_edge', visual=True)
        place, half = (x, y + side * half_y, -_TABLE_TOP / 2), (half_x, 0.012, 0.0205)
        _box(spec, f'edge_y{side}', place, half, 'oak_edge', visual=True)
        for end in (-1, 1):
            height = (_TABLE_HEIGHT - _TABLE_TOP) / 2
            place = (x + end * (half_x - 0.06), y + side * (half_y - 0.06), -_TABLE_TOP - height)
            _box(spec, f'leg_{end}_{side}', place, (0.025, 0.025, height), 'steel', visual=True)
        rail = (x, y + side * (half_y - 0.06), -_TABLE_TOP - 0.03)
        _box(spec, f'rail_{side}', rail, (half_x - 0.06, 0.02, 0.03), 'steel', visual=True)
    _box(spec, 'apron', (x + half_x - 0.06, y, -_TABLE_TOP - 0.03), (0.02, half_y - 0.06, 0.03), 'steel', visual=True)
    for arm in arms.arms:
        foot = np.add(arm.base.position, (-0.04, 0.0, 0.0015))
        _box(spec, f'{arm.prefix}base_plate', foot, (0.13, 0.11, 0.0015), 'steel', visual=True)
    # The mat marks where the arm works; it has no thickness that a cube could feel.
    _box(spec, 'mat', (0.51, 0.0, 0.0), (0.17, 0.27, 0.0008), 'mat', visual=True)
    for side in (-1, 1):
        _box(spec, f'mat_x{side}', (0.51 + side * 0.155, 0.0, 0.0), (0.003, 0.258, 0.0012), 'mat_line', visual=True)
        _box(spec, f'mat_y{side}', (0.51, side * 0.255, 0.0), (0.158, 0.003, 0.0012), 'mat_line', visual=True)


def _box(spec: Any, name: str, pos: Any, half: Any, material: str, *, visual: bool = False) -> None:
    spec.worldbody.add_geom(
        name=name,
        type=_BOX,
        pos=pos,
        size=half,
        material=material,
        contype=0 if visual else 1,
        conaffinity=0 if visual else 1,
        friction=(1.0, 0.01, 0.0005),
        group=2 if visual else 0,
    )
