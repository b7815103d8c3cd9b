"""All rows of an episode as arrays, with everything that training and learning from interventions need."""

import json
import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from cobalt_recorder import episode_facts
from cobalt_recorder.bag_reader import Bag, Decoder, read_messages
from cobalt_recorder.metrics.step_table import Array, is_of_episode, nanoseconds
from cobalt_recorder.plain_text import plain_text
from cobalt_teleop.core import pose, topics
from cobalt_teleop.core.errors import CobaltError

POSE_NAMES = ('x', 'y', 'z', 'qx', 'qy', 'qz', 'qw')
_CAMERA_INFO = topics.camera_info('any').type
_OBJECT_POSE = re.compile(f'/[^/]+/{topics.object_pose("([^/]+)").name}')
_NAME = re.compile(r'[A-Za-z0-9_-]{1,64}')
_NO_COMMAND = (math.nan,) * 8

_OLDEST_OBJECT_NS = 1_000_000_000
"""An object that was not told of for longer may be anywhere [ns]."""


@dataclass(frozen=True, kw_only=True)
class PartRows:
    """One part in n rows. Poses are [m] and xyzw in the part's base frame, quaternions continuous in sign.

    Attributes:
        joint_names: Of its j joints.
        pose: (n, 7) Measured, before the action.
        gripper: (n,) Measured, 0 closed to 1 open.
        joint_positions: (n, j) Measured.
        joint_velocities: (n, j) Measured.
        target: (n, 7) Executed.
        joint_targets: (n, j) Executed.
        gripper_target: (n,) Executed.
        human: (n, 8) The person's command as received, pose and gripper; NaN where there was none.
        policy: (n, 8) The policy's command as received; likewise.
        flags: (n, 7) Authority, limits, hold reason; of the person's command: mode, clutch epoch, engaged, tracked.
        stamps_ns: (n, 5) Of the person's command: sample on the host's clock, on the device's, newest frame shown; of
            the policy's command: sample, newest frame shown [ns]; 0 where there was none.
        ages_ms: (n, 2) Ages of both commands when they were taken [ms].
    """

    joint_names: tuple[str, ...]
    pose: Array
    gripper: Array
    joint_positions: Array
    joint_velocities: Array
    target: Array
    joint_targets: Array
    gripper_target: Array
    human: Array
    policy: Array
    flags: Array
    stamps_ns: Array
    ages_ms: Array


FLAGS = ('authority', 'limits', 'hold_reason', 'mode', 'clutch_epoch', 'engaged', 'tracked')
STAMPS = ('human_sample', 'human_device', 'human_shown_frame', 'policy_sample', 'policy_shown_frame')
TICK_FLAGS = ('step', 'phase', 'authority', 'authority_epoch', 'terminal')


@dataclass(frozen=True, kw_only=True)
class EpisodeRows:
    """n rows.

    Attributes:
        stamp_ns: (n,) When the state was taken [ns].
        applied_ns: (n,) When the action was applied [ns].
        sim_time: (n,) [s]
        ticks: (n, 5) As TICK_FLAGS.
        reward: (n,) After the action.
        stage: (n,) Progress of the task, 0 to 1.
        success: (n,)
        frames: For each camera (n,): stamp of the newest frame that shows the state or an earlier one [ns]; 0 if none.
        parts: By name.
        objects: By name (n, 7): pose in the first part's base frame; empty unless they were asked for.
        calibration: Latest CameraInfo by camera.
    """

    stamp_ns: Array
    applied_ns: Array
    sim_time: Array
    ticks: Array
    reward: Array
    stage: Array
    success: Array
    frames: dict[str, Array]
    parts: dict[str, PartRows]
    objects: dict[str, Array] = field(default_factory=dict)
    calibration: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.stamp_ns)

    def stretch(self, first: int, end: int) -> 'EpisodeRows':
        """Returns the rows from `first` to before `end`."""
        parts = {name: _cut(part, first, end) for name, part in self.parts.items()}
        frames = {name: stamps[first:end] for name, stamps in self.frames.items()}
        objects = {name: poses[first:end] for name, poses in self.objects.items()}
        cut: EpisodeRows = _cut(self, first, end)
        return replace(cut, parts=parts, frames=frames, objects=objects)

    @property
    def human_driven(self) -> Array:
        """(n,) Whether a person drives every part that somebody drives, and at least one."""
        authority = np.stack([part.flags[:, 0] for part in self.parts.values()], axis=1)
        return np.asarray(((authority == 1) | (authority == 0)).all(axis=1) & (authority == 1).any(axis=1))


def _cut(rows: Any, first: int, end: int) -> Any:
    arrays = {one.name: getattr(rows, one.name) for one in fields(rows)}
    return replace(rows, **{name: value[first:end] for name, value in arrays.items() if isinstance(value, np.ndarray)})


def _pose(pose: Any) -> tuple[float, ...]:
    where, turned = pose.position, pose.orientation
    return where.x, where.y, where.z, turned.x, turned.y, turned.z, turned.w


def _command(present: bool, command: Any) -> tuple[float, ...]:
    return (*_pose(command.pose), command.gripper) if present else _NO_COMMAND


def continuous(poses: Array) -> Array:
    """Returns poses whose quaternions keep their hemisphere from row to row; rows of NaN are passed over.

    Args:
        poses: (n, 7 or more) Position, then xyzw.
    """
    result = np.array(poses, dtype=np.float64)
    last = None
    for row in result:
        if not np.isfinite(row[3:7]).all():
            continue
        if last is not None:
            row[3:7] = pose.continuous(row[3:7], last)
        last = row[3:7]
    return result


def read_rows(bag: Bag, *, objects: bool = False) -> EpisodeRows:
    """Reads the rows of the bag's episode, and fills in `bag`.

    Args:
        bag: To be read.
        objects: Reads the poses of the task's objects as well.

    Raises:
        CobaltError: It has none, or they cannot be understood.
    """
    decoder, steps, calibration = Decoder(), [], {}
    told: dict[str, list[Any]] = defaultdict(list)
    try:
        for summary, schema, message in read_messages(bag):
            if schema is not None and schema.name == topics.CONTROL_STEP.type:
                steps.append(decoder.decode(schema, message))
            elif schema is not None and schema.name == _CAMERA_INFO:
                calibration[summary.name.split('/')[-2]] = _calibration(decoder.decode(schema, message))
            elif objects and schema is not None and (found := _OBJECT_POSE.fullmatch(summary.name)):
                told[found[1]].append(decoder.decode(schema, message))
        rows = [step for step in steps if is_of_episode(step, bag.episode_id)]
        if not rows:
            raise CobaltError(f'{bag.file} holds no row of the episode.')
        arrays = _arrays(bag, sorted(rows, key=lambda row: int(row.step)), calibration)
        return replace(arrays, objects=_object_poses(bag, arrays.stamp_ns, told)) if objects else arrays
    except CobaltError:
        raise
    except Exception as error:
        # What somebody else wrote into the file may be anything, and so may be what it does to a decoder.
        raise CobaltError(f'{bag.file} cannot be understood: {type(error).__name__}: {error}') from error


def _object_poses(bag: Bag, stamp_ns: Array, told: dict[str, list[Any]]) -> dict[str, Array]:
    """Returns for each object (n, 7): its newest pose at each row's stamp, or the first one just after."""
    if not told:
        raise CobaltError(f'{bag.file} holds no poses of objects: export it without --objects.')
    found = {}
    for name, messages in sorted(told.items()):
        if not _NAME.fullmatch(name):
            raise CobaltError(f'{bag.file} names an object {plain_text(name)!r}: such a name makes no column.')
        messages.sort(key=lambda message: nanoseconds(message.header.stamp))
        stamps = np.array([nanoseconds(message.header.stamp) for message in messages], dtype=np.int64)
        newest = np.searchsorted(stamps, stamp_ns, side='right') - 1
        late_ns = np.abs(stamp_ns - stamps[np.maximum(newest, 0)])
        if late_ns.max() > _OLDEST_OBJECT_NS:
            raise CobaltError(f'{bag.file}: for {late_ns.max() * 1e-9:.1f} s nobody told where {name} is.')
        poses = np.array([_pose(message.pose) for message in messages])
        found[name] = continuous(poses[np.maximum(newest, 0)])
    return found


def _calibration(info: Any) -> dict[str, Any]:
    return {
        'width': int(info.width),
        'height': int(info.height),
        'distortion_model': str(info.distortion_model),
        'd': [float(one) for one in info.d],
        'k': [float(one) for one in info.k],
        'r': [float(one) for one in info.r],
        'p': [float(one) for one in info.p],
    }


def _arrays(bag: Bag, rows: Sequence[Any], calibration: dict[str, Any]) -> EpisodeRows:
    facts = json.loads(bag.fact(episode_facts.WORKCELL, 'parts', '[]'))
    joint_names = {str(part['name']): tuple(str(one) for one in part.get('joint_names', ())) for part in facts}
    cameras = sorted({frame.camera for row in rows for frame in row.frames})
    shown = [{frame.camera: nanoseconds(frame.stamp) for frame in row.frames} for row in rows]
    names = [part.part for part in rows[0].parts]
    if not names or any([part.part for part in row.parts] != names for row in rows):
        raise CobaltError(f'{bag.file}: the parts of the robot change from row to row, or there are none.')
    for name in (*names, *cameras):
        if not _NAME.fullmatch(name):
            raise CobaltError(
                f'{bag.file} names a part or camera {plain_text(name)!r}: such a name makes no file name.'
            )
    return EpisodeRows(
        stamp_ns=np.array([nanoseconds(row.header.stamp) for row in rows], dtype=np.int64),
        applied_ns=np.array([nanoseconds(row.applied_stamp) for row in rows], dtype=np.int64),
        sim_time=np.array([row.sim_time for row in rows]),
        ticks=np.array([[getattr(row, name) for name in TICK_FLAGS] for row in rows], dtype=np.int64),
        reward=np.array([row.reward for row in rows], dtype=np.float32),
        stage=np.array([row.stage for row in rows], dtype=np.float32),
        success=np.array([row.success for row in rows], dtype=bool),
        frames={name: np.array([one.get(name, 0) for one in shown], dtype=np.int64) for name in cameras},
        parts={
            name: _part([row.parts[place] for row in rows], joint_names.get(name, ()), bag)
            for place, name in enumerate(names)
        },
        calibration=calibration,
    )


def _part(parts: Sequence[Any], joint_names: tuple[str, ...], bag: Bag) -> PartRows:
    def joints(name: str) -> Array:
        values = [list(getattr(part, name)) for part in parts]
        # The last row of an episode has no action.
        width = max(len(one) for one in values)
        values = [one if one else [math.nan] * width for one in values]
        if any(len(one) != width for one in values):
            raise CobaltError(f'{bag.file}: the number of {name} changes from row to row.')
        return np.array(values, dtype=np.float64).reshape(len(parts), width)

    positions = joints('joint_positions')
    return PartRows(
        joint_names=joint_names
        if len(joint_names) == positions.shape[1]
        else tuple(f'joint_{place}' for place in range(positions.shape[1])),
        pose=continuous(np.array([_pose(part.pose) for part in parts])),
        gripper=np.array([part.gripper for part in parts], dtype=np.float64),
        joint_positions=positions,
        joint_velocities=joints('joint_velocities'),
        target=continuous(np.array([_pose(part.target) for part in parts])),
        joint_targets=joints('joint_targets'),
        gripper_target=np.array([part.gripper_target for part in parts], dtype=np.float64),
        human=continuous(np.array([_command(part.has_human, part.human) for part in parts])),
        policy=continuous(np.array([_command(part.has_policy, part.policy) for part in parts])),
        flags=np.array(
            [
                (
                    part.authority,
                    part.limits,
                    part.hold_reason,
                    part.human.mode,
                    part.human.clutch_epoch,
                    part.human.engaged,
                    part.human.tracked,
                )
                for part in parts
            ],
            dtype=np.int64,
        ),
        stamps_ns=np.array(
            [
                (
                    nanoseconds(part.human.header.stamp),
                    nanoseconds(part.human.device_stamp),
                    nanoseconds(part.human.shown_frame_stamp),
                    nanoseconds(part.policy.header.stamp),
                    nanoseconds(part.policy.shown_frame_stamp),
                )
                for part in parts
            ],
            dtype=np.int64,
        ),
        ages_ms=np.array([(part.human_age_ms, part.policy_age_ms) for part in parts], dtype=np.float32),
    )
