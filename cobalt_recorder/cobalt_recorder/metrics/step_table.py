"""The rows of an episode as columns: what the metrics need of each ControlStep, ready for numpy."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobalt_teleop.core.episode import Phase

Array = NDArray[Any]

TICK = np.dtype(
    [
        ('step', 'u8'),
        ('stamp_ns', 'i8'),
        ('applied_ns', 'i8'),
        ('sim_time', 'f8'),
        ('authority', 'u1'),
        ('success', '?'),
        ('terminal', '?'),
        ('ticks_missed', 'u4'),
    ]
)
"""What a row says of the tick as a whole: fields as in ControlStep, stamps in nanoseconds."""

PART = np.dtype(
    [
        ('present', '?'),
        ('authority', 'u1'),
        ('limits', 'u4'),
        ('position', 'f8', 3),
        ('quat_xyzw', 'f8', 4),
        ('target_position', 'f8', 3),
        ('target_quat_xyzw', 'f8', 4),
        ('gripper_target', 'f8'),
        ('has_human', '?'),
        ('human_stamp_ns', 'i8'),
        ('human_shown_ns', 'i8'),
        ('human_mode', 'u1'),
        ('human_position', 'f8', 3),
        ('human_quat_xyzw', 'f8', 4),
        ('human_linear', 'f8', 3),
        ('human_angular', 'f8', 3),
        ('human_gripper', 'f8'),
        ('human_engaged', '?'),
        ('human_tracked', '?'),
        ('human_epoch', 'u4'),
        ('human_sequence', 'u8'),
    ]
)
"""What a row says of one part: fields as in PartStep and its human TeleopCommand."""

_FIRST_CAPACITY = 256
_PHASES = (Phase.RUNNING, Phase.PAUSED, Phase.ENDING)


def is_of_episode(step: Any, episode_id: str) -> bool:
    """Tells whether a ControlStep is a row of an episode."""
    return bool(step.episode_id == episode_id and step.phase in _PHASES)


def nanoseconds(stamp: Any) -> int:
    """Returns the nanoseconds of a builtin_interfaces/Time."""
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)


def _xyz(vector: Any) -> tuple[float, float, float]:
    return vector.x, vector.y, vector.z


def _xyzw(quaternion: Any) -> tuple[float, float, float, float]:
    return quaternion.x, quaternion.y, quaternion.z, quaternion.w


def _tick(step: Any) -> tuple[Any, ...]:
    return (
        step.step,
        nanoseconds(step.header.stamp),
        nanoseconds(step.applied_stamp),
        step.sim_time,
        step.authority,
        step.success,
        step.terminal,
        step.ticks_missed,
    )


def _part(part: Any) -> tuple[Any, ...]:
    human = part.human
    return (
        True,
        part.authority,
        part.limits,
        _xyz(part.pose.position),
        _xyzw(part.pose.orientation),
        _xyz(part.target.position),
        _xyzw(part.target.orientation),
        part.gripper_target,
        part.has_human,
        nanoseconds(human.header.stamp),
        nanoseconds(human.shown_frame_stamp),
        human.mode,
        _xyz(human.pose.position),
        _xyzw(human.pose.orientation),
        _xyz(human.twist.linear),
        _xyz(human.twist.angular),
        human.gripper,
        human.engaged,
        human.tracked,
        human.clutch_epoch,
        human.sequence,
    )


class StepTable:
    """Rows of one episode, in the order of their arrival.

    Args:
        newest: How many rows are kept; 0 for all of them.
    """

    def __init__(self, newest: int = 0) -> None:
        self._newest = newest
        self._size = 0
        self._capacity = 2 * newest or _FIRST_CAPACITY
        self._ticks = np.zeros(self._capacity, TICK)
        self._parts: dict[str, Array] = {}
        self._frames: list[Mapping[str, int]] = []

    def __len__(self) -> int:
        return self._size

    @property
    def ticks(self) -> Array:
        """(n,) of TICK."""
        return self._ticks[: self._size]

    @property
    def parts(self) -> dict[str, Array]:
        """(n,) of PART for each part; `present` is false in rows that lack it."""
        return {name: rows[: self._size] for name, rows in self._parts.items()}

    @property
    def frames(self) -> Sequence[Mapping[str, int]]:
        """In each row, the stamp of the newest frame of each camera [ns]."""
        return self._frames

    def append(self, step: Any) -> None:
        """Adds a row.

        Args:
            step: A ControlStep, as any decoder makes it.
        """
        if self._size == self._capacity:
            self._make_room()
        row = self._size
        self._ticks[row] = _tick(step)
        for part in step.parts:
            if part.part not in self._parts:
                self._parts[part.part] = np.zeros(self._capacity, PART)
            self._parts[part.part][row] = _part(part)
        self._frames.append({frame.camera: nanoseconds(frame.stamp) for frame in step.frames})
        self._size += 1

    def _make_room(self) -> None:
        if self._newest:
            self._ticks = _moved(self._ticks, self._newest)
            self._parts = {name: _moved(rows, self._newest) for name, rows in self._parts.items()}
            del self._frames[: -self._newest]
            self._size = self._newest
            return
        self._capacity *= 2
        self._ticks = _grown(self._ticks, self._capacity)
        self._parts = {name: _grown(rows, self._capacity) for name, rows in self._parts.items()}


def _moved(rows: Array, count: int) -> Array:
    moved = np.zeros_like(rows)
    moved[:count] = rows[-count:]
    return moved


def _grown(rows: Array, capacity: int) -> Array:
    grown = np.zeros(capacity, rows.dtype)
    grown[: len(rows)] = rows
    return grown
