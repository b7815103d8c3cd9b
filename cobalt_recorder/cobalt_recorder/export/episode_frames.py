"""One exported episode: its frames as columns, ready for any writer."""

from dataclasses import dataclass

import numpy as np

from cobalt_recorder.export.episode_rows import FLAGS, POSE_NAMES, STAMPS, TICK_FLAGS, EpisodeRows
from cobalt_recorder.export.sampling import Sampling
from cobalt_recorder.export.vectors import action_vector, object_vector, state_vector
from cobalt_recorder.metrics.step_table import Array

_COMMAND_NAMES = [*POSE_NAMES, 'gripper']


@dataclass(frozen=True, kw_only=True)
class Column:
    """One feature of each frame.

    Attributes:
        values: (n, d)
        names: Of the d elements.
    """

    values: Array
    names: list[str]


@dataclass(frozen=True, kw_only=True)
class EpisodeFrames:
    """n frames.

    Attributes:
        columns: By name: observation.state, observation.environment_state (objects), action, next.*, and what is true
            of each step under cobalt.*.
        shown_ns: For each camera (n,): stamp of the picture that shows the state or an earlier one [ns].
        observation: Single observations by name, (n, d): for formats that keep them apart.
    """

    columns: dict[str, Column]
    shown_ns: dict[str, Array]
    observation: dict[str, Array]

    def __len__(self) -> int:
        return len(self.columns['action'].values)


def episode_frames(
    rows: EpisodeRows, sampling: Sampling, *, action: str, cameras: tuple[str, ...], rate_hz: float
) -> EpisodeFrames:
    """Returns the frames of an episode.

    Args:
        rows: Of the episode, or of a stretch of it.
        sampling: Which of them.
        action: One of choice.ACTIONS.
        cameras: Whose pictures are wanted.
        rate_hz: Of the export [Hz].

    Raises:
        CobaltError: The robot has no such action.
    """
    seen, acted = sampling.observed, sampling.acted
    count = len(seen)
    state, state_names = state_vector(rows, sampling)
    actions, action_names = action_vector(rows, sampling, action)
    success = np.maximum.accumulate(rows.success)[acted]
    done = np.zeros(count, dtype=bool)
    done[-1] = True
    columns = {
        'observation.state': Column(values=state, names=state_names),
        'action': Column(values=actions, names=action_names),
        'next.reward': _one(rows.reward[acted].astype(np.float32), 'reward'),
        'next.success': _one(success, 'success'),
        'next.done': _one(done, 'done'),
        'cobalt.stamp_ns': _one(rows.stamp_ns[seen], 'stamp'),
        'cobalt.applied_ns': _one(rows.applied_ns[acted], 'applied'),
        'cobalt.grid_offset_ms': _one(_grid_offset_ms(rows.stamp_ns, seen, rate_hz), 'ms'),
        'cobalt.sim_time': _one(rows.sim_time[seen].astype(np.float64), 's'),
        'cobalt.stage': _one(rows.stage[acted].astype(np.float32), 'stage'),
        'cobalt.tick': Column(values=rows.ticks[seen], names=list(TICK_FLAGS)),
        'cobalt.action_step': _one(rows.ticks[acted, 0], 'step'),
    }
    observation: dict[str, Array] = {}
    if rows.objects:
        poses, pose_names = object_vector(rows, sampling)
        columns['observation.environment_state'] = Column(values=poses, names=pose_names)
        observation['object'] = poses
    for name, part in rows.parts.items():
        columns |= {
            f'cobalt.{name}.human_command': Column(values=part.human[acted].astype(np.float32), names=_COMMAND_NAMES),
            f'cobalt.{name}.policy_command': Column(values=part.policy[acted].astype(np.float32), names=_COMMAND_NAMES),
            f'cobalt.{name}.target': Column(
                values=np.concatenate([part.target, part.gripper_target[:, None]], axis=1)[acted].astype(np.float32),
                names=_COMMAND_NAMES,
            ),
            f'cobalt.{name}.flags': Column(values=part.flags[acted], names=list(FLAGS)),
            f'cobalt.{name}.stamps_ns': Column(values=part.stamps_ns[acted], names=list(STAMPS)),
            f'cobalt.{name}.ages_ms': Column(values=part.ages_ms[acted], names=['human', 'policy']),
        }
        if part.joint_targets.shape[1]:
            columns[f'cobalt.{name}.joint_targets'] = Column(
                values=part.joint_targets[acted].astype(np.float32), names=list(part.joint_names)
            )
        observation |= {
            f'{name}_eef_pos': part.pose[seen, :3],
            f'{name}_eef_quat': part.pose[seen, 3:],
            f'{name}_gripper': part.gripper[seen, None],
            f'{name}_joint_pos': part.joint_positions[seen],
            f'{name}_joint_vel': part.joint_velocities[seen],
        }
    shown = {camera: rows.frames[camera][seen] for camera in cameras}
    for camera, stamps in shown.items():
        columns[f'cobalt.{camera}.frame_ns'] = _one(stamps, 'stamp')
    observation = {name: values.astype(np.float32) for name, values in observation.items() if values.shape[1]}
    return EpisodeFrames(columns=columns, shown_ns=shown, observation=observation)


def _one(values: Array, name: str) -> Column:
    return Column(values=np.asarray(values).reshape(-1, 1), names=[name])


def _grid_offset_ms(stamp_ns: Array, seen: Array, rate_hz: float) -> Array:
    """Returns (n,) how far each row's stamp lies behind the nominal time of its frame [ms]."""
    nominal_ns = np.arange(len(seen)) * (1e9 / rate_hz)
    return np.asarray((stamp_ns[seen] - stamp_ns[seen[0]] - nominal_ns) / 1e6, dtype=np.float32)
