"""One part of an episode as the metrics look at it: its command and its motion, cut into runs."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cobalt_recorder.metrics.motion import Motion, Vector, angles_between, cut, summed
from cobalt_recorder.metrics.step_table import Array
from cobalt_teleop.core.command import Authority, Mode

_DRIVEN = (Authority.HUMAN, Authority.POLICY)
_NO_RATE_HZ = 20.0
_HIGHEST_RATE_HZ = 1000.0


class PartRecord:
    """The rows of one part.

    Args:
        ticks: (n,) of step_table.TICK.
        rows: (n,) of step_table.PART.
        rate_hz: Declared control rate [Hz]; if it is unknown, that of the stamps counts.
    """

    def __init__(self, ticks: Array, rows: Array, rate_hz: float) -> None:
        present = rows['present']
        self.ticks = ticks[present]
        self.rows = rows[present]
        self._declared_rate_hz = rate_hz

    @cached_property
    def times_s(self) -> Vector:
        """(n,) time of each row's state since the first row [s]."""
        stamps = self.ticks['stamp_ns']
        return np.asarray((stamps - stamps[0]) * 1e-9) if len(stamps) else np.zeros(0)

    @cached_property
    def rate_hz(self) -> float:
        """At which motion is sampled evenly [Hz]."""
        if 0 < self._declared_rate_hz <= _HIGHEST_RATE_HZ:
            return self._declared_rate_hz
        steps_s = np.diff(self.times_s)
        rising = steps_s[steps_s > 0]
        return min(float(1.0 / np.median(rising)), _HIGHEST_RATE_HZ) if rising.size else _NO_RATE_HZ

    @cached_property
    def driven(self) -> NDArray[np.bool_]:
        """(n,) a person or a policy drives the part in this row."""
        return np.isin(self.rows['authority'], _DRIVEN)

    @cached_property
    def engaged(self) -> NDArray[np.bool_]:
        """(n,) the operator's clutch is pressed and the device is tracked."""
        return np.asarray(self.rows['has_human'] & self.rows['human_engaged'] & self.rows['human_tracked'])

    @cached_property
    def fresh(self) -> NDArray[np.intp]:
        """Indices of the rows in which a command was new: the first row that holds it."""
        has, numbers = self.rows['has_human'], self.rows['human_sequence']
        new = np.ones(len(has), bool)
        new[1:] = (numbers[1:] != numbers[:-1]) | ~has[:-1]
        return np.flatnonzero(has & new)

    @cached_property
    def whole_motion(self) -> Motion:
        """The measured motion of the whole episode, without cuts; rows with numbers or stamps of no use left out."""
        usable = self._finite_pose.copy()
        usable[1:] &= np.diff(np.maximum.accumulate(self.times_s)) > 0
        return self._measured(np.flatnonzero(usable))

    @cached_property
    def robot_runs(self) -> list[Motion]:
        """The measured motion while the part is driven, cut at clutch gaps, hand-overs and gaps in time."""
        rows = self.rows
        if len(rows) < 2:
            return []
        # A row's action shows in the state of the next one, which so belongs to its run.
        part_of_run = self.driven.copy()
        part_of_run[1:] |= self.driven[:-1]
        epoch = np.where(rows['authority'] == Authority.HUMAN, rows['human_epoch'].astype(np.int64), -1)
        epoch[1:] = np.where(self.driven[1:], epoch[1:], epoch[:-1])
        runs = cut(self.times_s, part_of_run & self._finite_pose, epoch)
        return [self._measured(run) for run in runs]

    @cached_property
    def command_runs(self) -> list[Motion]:
        """The motion that the operator asked for, by the stamps of his samples, cut at clutch gaps and gaps in time."""
        if len(self.fresh) < 2:
            return []
        # Columns one by one: copies of whole rows would take most of the time.
        modes, epochs, stamps_ns, positions, quats, linear, angular = (
            self.rows[f'human_{name}'][self.fresh]
            for name in ('mode', 'epoch', 'stamp_ns', 'position', 'quat_xyzw', 'linear', 'angular')
        )
        times_s = (stamps_ns - self.ticks['stamp_ns'][0]) * 1e-9
        is_twist = modes == Mode.TWIST
        finite_pose = np.isfinite(positions).all(axis=1) & np.isfinite(quats).all(axis=1)
        finite_twist = np.isfinite(linear).all(axis=1) & np.isfinite(angular).all(axis=1)
        usable = self.engaged[self.fresh] & (modes != Mode.JOINT) & np.where(is_twist, finite_twist, finite_pose)
        # The lowest bit keeps samples of different modes apart.
        key = epochs.astype(np.int64) * 2 + is_twist
        return [
            _twisted(times_s[run], linear[run], angular[run])
            if is_twist[run.start]
            else _posed(times_s[run], positions[run], quats[run])
            for run in cut(times_s, usable, key)
        ]

    @cached_property
    def _finite_pose(self) -> NDArray[np.bool_]:
        finite = np.isfinite(self.rows['position']).all(axis=1) & np.isfinite(self.rows['quat_xyzw']).all(axis=1)
        return np.asarray(finite)

    def _measured(self, indices: NDArray[np.intp] | slice) -> Motion:
        return _posed(self.times_s[indices], self.rows['position'][indices], self.rows['quat_xyzw'][indices])


def _posed(times_s: Vector, positions: Vector, quats_xyzw: Vector) -> Motion:
    return Motion(times_s, positions, summed(angles_between(quats_xyzw)) if len(times_s) else np.zeros(0))


def _twisted(times_s: Vector, linear: Vector, angular: Vector) -> Motion:
    steps_s = np.diff(times_s)[:, None]
    moved = np.concatenate([np.zeros((1, 3)), np.cumsum(linear[:-1] * steps_s, axis=0)])
    return Motion(times_s, moved, summed(np.linalg.norm(angular[:-1] * steps_s, axis=1)))
