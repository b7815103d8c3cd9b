"""What the host says of an arm that a device drives, and whether its tool went the way that it should."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pytest
from ros_operator import Operator, until

from cobalt_interfaces.msg import ControlStep, PartStep
from cobalt_teleop.core import topics
from cobalt_teleop.core.pose import Pose, Vector, angle_between, inverse, multiply, rotation_vector
from cobalt_teleop.ros.poses import pose_of

PATH_M, PATH_RAD = 0.003, 0.01
"""How far the measured tool may lie beside the path that the hand has gone."""
STILL_M, STILL_RAD = 0.001, float(np.radians(0.1))
"""What no engage may move."""
SETTLED_TICKS = 8


class ArmLetGoError(Exception):
    """The arm holds though it should follow: a machine that stalls for long makes it do so."""


class MeasuredArm:
    """One arm of a workcell, by the host's steps.

    Args:
        operator: Listens to the workcell's control_step.
        workcell: Its name.
        part: The arm's name.
    """

    def __init__(self, operator: Operator, workcell: str, part: str) -> None:
        self.steps: list[ControlStep] = operator.heard[(topics.CONTROL_STEP.name, workcell)]
        self.name = part

    def part(self, step: ControlStep | None = None) -> PartStep:
        """Returns its row of a step; of the newest without one."""
        return next(part for part in (step or self.steps[-1]).parts if part.part == self.name)

    def pose(self) -> Pose:
        """Returns where its tool is now."""
        return pose_of(self.part().pose)

    def poses_since(self, count: int) -> list[Pose]:
        """Returns where its tool has been since a step, by that step's number in `steps`."""
        return [pose_of(self.part(step).pose) for step in self.steps[count:]]

    def until_it_follows(self) -> None:
        """Waits until nothing holds it."""
        until(lambda: self.part().hold_reason == PartStep.HOLD_NONE, f'{self.name} to follow')

    def until_it_holds(self, reason: int) -> None:
        """Waits until it holds for a reason."""
        until(lambda: self.part().hold_reason == reason, f'{self.name} to hold for reason {reason}')

    def until_it_is(self, condition: Callable[[Pose], bool], what: str) -> None:
        """Waits until its tool's pose is as told.

        Raises:
            ArmLetGoError: It holds meanwhile.
        """

        def done() -> bool:
            if condition(self.pose()):
                return True
            if self.part().hold_reason != PartStep.HOLD_NONE:
                raise ArmLetGoError(f'{self.name} holds for reason {self.part().hold_reason}')
            return False

        until(done, what)

    def until_it_comes_to(self, place: Vector) -> None:
        """Waits until its tool is at a place, to a millimetre; raises ArmLetGoError if it holds."""
        self.until_it_is(lambda pose: bool(np.linalg.norm(pose.position - place) < 1e-3), f'{self.name} at {place}')

    def settle(self, within_m: float = 1e-6, within_rad: float = 1e-6) -> None:
        """Waits until it stands where the hand has led it, but for a tremor of physics."""
        count = len(self.steps) + SETTLED_TICKS

        def stands() -> bool:
            last = self.poses_since(-SETTLED_TICKS)
            places, turns = [pose.position for pose in last], [pose.quat_xyzw for pose in last]
            still = np.ptp(places, axis=0).max() < within_m and np.ptp(turns, axis=0).max() < within_rad
            return len(self.steps) >= count and bool(still)

        until(stands, f'{self.name} to stand')

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """Whatever happens meanwhile, the arm does not move."""
        count, before = len(self.steps), self.pose()
        yield
        for pose in self.poses_since(count):
            assert np.linalg.norm(pose.position - before.position) < STILL_M
            assert angle_between(pose.quat_xyzw, before.quat_xyzw) < STILL_RAD


def check_path(arm: MeasuredArm, count: int, start: Vector, sides: Sequence[Vector]) -> float:
    """Checks that the tool has gone along sides, corner by corner, and nowhere else.

    Args:
        arm: Whose tool.
        count: Number of the first step.
        start: (3,) [m], in the base frame.
        sides: Each (3,) [m].

    Returns:
        How far it lay beside the path at most [m].
    """
    path = np.cumsum([start, *sides], axis=0)
    places = np.array([pose.position for pose in arm.poses_since(count)])
    error = max(distance_to_path(path, place) for place in places)
    assert error < PATH_M
    at = 0
    for corner in path[1:]:
        reached = np.flatnonzero(np.linalg.norm(places[at:] - corner, axis=1) < PATH_M)
        assert reached.size, f'the tool did not come to {corner}'
        at += int(reached[0])
    assert np.linalg.norm(places[-1] - path[-1]) < PATH_M
    return float(error)


def check_turn(arm: MeasuredArm, before: Pose, axis: Sequence[float], angle: float) -> float:
    """Checks that the tool has turned about an axis of the base by an angle [rad], and stands where it stood.

    Returns:
        How far the rotation vector is off [rad].
    """
    after = arm.pose()
    turn = rotation_vector(multiply(after.quat_xyzw, inverse(before.quat_xyzw)))
    assert turn == pytest.approx(np.multiply(axis, angle), abs=PATH_RAD), turn
    assert np.linalg.norm(after.position - before.position) < PATH_M
    return float(np.abs(turn - np.multiply(axis, angle)).max())


def distance_to_path(path: Sequence[Vector] | Vector, point: Vector) -> float:
    """Returns how far a point (3,) lies from a path of straight pieces (n, 3) [m]."""
    distances = []
    for a, b in itertools.pairwise(path):
        length2 = np.dot(b - a, b - a)
        along = np.clip(np.dot(point - a, b - a) / length2, 0.0, 1.0) if length2 > 0 else 0.0
        distances.append(float(np.linalg.norm(a + along * (b - a) - point)))
    return min(distances)
