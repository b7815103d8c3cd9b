"""The vectors of observation and action, and the names of their elements."""

import numpy as np

from cobalt_recorder.export.episode_rows import POSE_NAMES, EpisodeRows, PartRows
from cobalt_recorder.export.sampling import Sampling
from cobalt_recorder.metrics.step_table import Array
from cobalt_teleop.core.errors import CobaltError

_DELTA_NAMES = ('dx', 'dy', 'dz', 'rx', 'ry', 'rz')


def state_vector(rows: EpisodeRows, sampling: Sampling) -> tuple[Array, list[str]]:
    """Returns (n, d) float32 of each part: measured pose, gripper, joint positions; and the names of the d elements."""
    columns, names = [], []
    for name, part in rows.parts.items():
        columns += [part.pose, part.gripper[:, None], part.joint_positions]
        names += [f'{name}.{one}' for one in (*POSE_NAMES, 'gripper', *part.joint_names)]
    return np.concatenate(columns, axis=1)[sampling.observed].astype(np.float32), names


def object_vector(rows: EpisodeRows, sampling: Sampling) -> tuple[Array, list[str]]:
    """Returns (n, 7 k) float32: the poses of k objects; and the names of the elements."""
    names = [f'{name}.{one}' for name in rows.objects for one in POSE_NAMES]
    return np.concatenate(list(rows.objects.values()), axis=1)[sampling.observed].astype(np.float32), names


def action_vector(rows: EpisodeRows, sampling: Sampling, action: str) -> tuple[Array, list[str]]:
    """Returns (n, d) float32 of the executed action, and the names of the d elements.

    The last row of an episode has no action: there, the last one is repeated, or there is no way to go.

    Args:
        rows: Of the episode.
        sampling: Which of them.
        action: One of choice.ACTIONS.

    Raises:
        CobaltError: The robot has no such action.
    """
    columns, names = [], []
    acted = _with_action(rows, sampling.acted)
    for name, part in rows.parts.items():
        values, elements = _part_action(part, sampling.observed, acted, action)
        gripper = part.gripper_target[acted]
        # Before anybody asked the gripper for something, it stays where it is.
        gripper = np.where(np.isfinite(gripper), gripper, part.gripper[sampling.observed])
        columns += [values, gripper[:, None]]
        names += [f'{name}.{one}' for one in (*elements, 'gripper')]
    result = np.concatenate(columns, axis=1).astype(np.float32)
    if not np.isfinite(result).all():
        raise CobaltError(f'rows without an executed {action} action: choose another one with --action.')
    return result, names


def _with_action(rows: EpisodeRows, acted: Array) -> Array:
    """Returns rows that have an action: for a terminal one, the row before it."""
    terminal = rows.ticks[:, -1].astype(bool)
    return np.where(terminal[acted], np.maximum(acted - 1, 0), acted)


def _part_action(part: PartRows, observed: Array, acted: Array, action: str) -> tuple[Array, tuple[str, ...]]:
    if action == 'absolute':
        return part.target[acted], POSE_NAMES
    if action == 'joint':
        if not part.joint_targets.shape[1]:
            raise CobaltError('this robot was not driven by joint targets: choose another action with --action.')
        return part.joint_targets[acted], part.joint_names
    way = part.target[acted, :3] - part.pose[observed, :3]
    return np.concatenate(
        [way, rotation_between(part.pose[observed, 3:], part.target[acted, 3:])], axis=1
    ), _DELTA_NAMES


def rotation_between(start_xyzw: Array, end_xyzw: Array) -> Array:
    """Returns (n, 3) rotation vectors [rad] in the base frame that turn the first orientations into the second.

    Args:
        start_xyzw: (n, 4)
        end_xyzw: (n, 4)
    """
    a, b = end_xyzw, start_xyzw * np.array([-1.0, -1.0, -1.0, 1.0])
    vector = a[:, 3:] * b[:, :3] + b[:, 3:] * a[:, :3] + np.cross(a[:, :3], b[:, :3])
    scalar = a[:, 3] * b[:, 3] - (a[:, :3] * b[:, :3]).sum(axis=1)
    vector, scalar = np.where(scalar[:, None] < 0.0, -vector, vector), np.abs(scalar)
    length = np.linalg.norm(vector, axis=1)
    angle = 2.0 * np.arctan2(length, scalar)
    scale: Array = np.divide(angle, length, out=np.full_like(angle, 2.0), where=length > 1e-12)
    return np.asarray(vector * scale[:, None])
