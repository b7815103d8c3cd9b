"""Random places on the table for things that stand apart."""

from collections.abc import Mapping

import numpy as np

from cobalt_teleop.core.pose import Pose, Vector, quaternion


def stand_apart(
    rng: np.random.Generator, half_heights: Mapping[str, float], lower: Vector, upper: Vector, apart_m: float
) -> dict[str, Pose]:
    """Returns two things that stand on the table, turned any way, with room for a hand between them.

    Args:
        rng: Draws the places.
        half_heights: Of each thing, by name [m].
        lower: (2,) corner of where they may stand, in the base frame [m].
        upper: (2,) the other corner [m].
        apart_m: Least distance between them [m].
    """
    while True:
        places = rng.uniform(lower, upper, (2, 2))
        if np.linalg.norm(places[0] - places[1]) > apart_m:
            break
    yaws = rng.uniform(-np.pi, np.pi, 2)
    return {
        name: Pose(np.array([*place, half]), quaternion([0.0, 0.0, yaw]))
        for (name, half), place, yaw in zip(half_heights.items(), places, yaws, strict=True)
    }
