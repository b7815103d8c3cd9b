"""Paths of a hand that drives an arm: made ones, for no recording of a person is shipped.

A made path is what studies of movement say a reaching hand does, in six degrees of freedom:
- overlapping submovements, each with the speed profile of least jerk (Flash and Hogan, "The coordination of arm
  movements", 1985), of random length, duration and direction, with rests between some of them;
- the tremor of a hand that is held up: 8 to 12 Hz, a tenth of a millimetre.
More than 95 % of its speed's power lies below 2 Hz, as that of a person's hand does.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cobalt_teleop.core.pose import Pose, Vector, multiply, quaternion

HandPath = Callable[[float], Pose]
"""From a time [s] to the hand's motion since the time 0, axes of the base frame."""

_TREMOR_HZ = (8.3, 9.6, 11.2)
_TREMOR_M = 0.0001
_TREMOR_RAD = 0.001


@dataclass(frozen=True, kw_only=True)
class HandHabits:
    """How a made hand moves.

    Attributes:
        reach: (3,) half lengths of the box that it stays in [m].
        turn: (3,) largest rotation vector [rad].
        speed: Of a submovement at most [m/s].
        turning: Likewise [rad/s].
        shortest_s: Of a submovement [s].
        longest_s: Likewise.
        rest_share: Of the submovements that end in a rest.
    """

    reach: tuple[float, float, float] = (0.11, 0.16, 0.10)
    turn: tuple[float, float, float] = (0.35, 0.35, 0.6)
    speed: float = 0.20
    turning: float = 0.9
    shortest_s: float = 0.45
    longest_s: float = 1.2
    rest_share: float = 0.2


def made_hand_path(seed: int, duration_s: float, habits: HandHabits | None = None) -> HandPath:
    """Returns a path of a seed that begins at rest."""
    habits = habits or HandHabits()
    rng = np.random.default_rng(seed)
    box = np.array([*habits.reach, *habits.turn])
    starts, lengths, ways = [], [], []
    at, begins_s = np.zeros(6), 0.3
    while begins_s < duration_s:
        way = rng.uniform(-box, box) - at
        lasts_s = rng.uniform(habits.shortest_s, habits.longest_s)
        # The fastest moment of a movement of least jerk is 15/8 of its mean speed.
        for part, fastest in ((slice(0, 3), habits.speed), (slice(3, 6), habits.turning)):
            peak = 15.0 / 8.0 * float(np.linalg.norm(way[part])) / lasts_s
            way[part] *= min(1.0, fastest / peak)
        starts.append(begins_s)
        lengths.append(lasts_s)
        ways.append(way)
        at = at + way
        # The next one begins before this one ends: corners are rounded, as a hand rounds them.
        begins_s += lasts_s * rng.uniform(0.75, 0.95) + (
            rng.uniform(0.2, 0.6) if rng.random() < habits.rest_share else 0
        )
    phases = rng.uniform(0.0, 2.0 * np.pi, (len(_TREMOR_HZ), 6))
    sizes = np.array([_TREMOR_M] * 3 + [_TREMOR_RAD] * 3) / len(_TREMOR_HZ)
    begin, length, way = np.array(starts), np.array(lengths), np.array(ways)

    def tremor(time_s: float) -> Vector:
        angles = 2.0 * np.pi * np.array(_TREMOR_HZ)[:, None] * time_s + phases
        return np.asarray((np.sin(angles) - np.sin(phases)).sum(axis=0) * sizes)

    def path(time_s: float) -> Pose:
        share = np.clip((time_s - begin) / length, 0.0, 1.0)
        motion = (share**3 * (10.0 - 15.0 * share + 6.0 * share**2)) @ way + tremor(time_s)
        return Pose(motion[:3], quaternion(motion[3:]))

    return path


def circle_path(frequency_hz: float, radius_m: float, turn_rad: float) -> HandPath:
    """Returns a level circle, with the hand turning to and fro about the vertical meanwhile, that begins gently."""

    def path(time_s: float) -> Pose:
        gently = min(1.0, time_s)
        angle = 2.0 * np.pi * frequency_hz * time_s
        place = radius_m * gently * np.array([np.sin(angle), 1.0 - np.cos(angle), 0.0])
        return Pose(place, quaternion([0.0, 0.0, turn_rad * gently * np.sin(angle)]))

    return path


def step_path(way: Vector, turn: Vector, at_s: float) -> HandPath:
    """Returns a jump by (3,) [m] and a rotation vector (3,) [rad] at a time."""
    jumped = Pose(np.asarray(way, float), quaternion(turn))
    return lambda time_s: jumped if time_s >= at_s else Pose()


def moved(start: Pose, motion: Pose) -> Pose:
    """Returns a start pose moved by a hand's motion, axes of the base frame."""
    return Pose(start.position + motion.position, multiply(motion.quat_xyzw, start.quat_xyzw))
