"""The joint targets of one part: each step leaves a way to stop that keeps all limits.

Limits of joints and of the tool, of place, speed and acceleration, can contradict each other in a single tick: a joint
near its end must brake, and the tool may not brake that hard. So a step is taken only if the arm can still come to rest
after it without breaking any limit, and that way to stop is kept; where no step towards the target is found, the arm
goes the kept way. Thus no limit is ever broken, whatever is asked (braking trajectories as the way out: Kiemel and
Kröger, "Learning robot trajectories subject to kinematic joint constraints", 2021).
"""

import math
from collections.abc import Iterator

import numpy as np

from cobalt_teleop.core.command import Limit
from cobalt_teleop.core.kinematics import JointSolution, Kinematics
from cobalt_teleop.core.limits import PartLimits
from cobalt_teleop.core.pose import Vector
from cobalt_teleop.core.tool_motion import ToolMotion, broken_limits, length

_POSITION_RESIDUAL_M = 1e-3
_ROTATION_RESIDUAL_RAD = 5e-3

# Below these the tool's target is taken to be where the joints bring it.
_POSITION_EXACT_M = 1e-4
_ROTATION_EXACT_RAD = 5e-4

_ROUNDING = 1e-9

# Near a singular posture dexterity may fall by what is left of it above the first figure in each time constant, and by
# a little more, so that the arm is never stuck.
_SINGULAR_DEXTERITY = 0.05
_SINGULAR_CREEP = 0.01
_SINGULAR_TIME_S = 0.2

# Shares of a step towards the target that are tried, the rest being that of the way to stop.
_SHARES_TRIED = (1.0, 0.5, 0.25)

# A bend of the tool's path takes some of the acceleration that is allowed; how gently to brake is tried in this order.
_BRAKING_TRIED = (0.9, 0.45)


class JointMotion:
    """The joint targets of one part.

    Args:
        limits: Of the part.
        kinematics: Of the arm.
        joints: (n,) to begin with, at rest [rad].
        period_s: Tick [s].
    """

    def __init__(self, limits: PartLimits, kinematics: Kinematics, joints: Vector, period_s: float) -> None:
        self._limits = limits
        self._kinematics = kinematics
        self._period_s = period_s
        self._largest_step = limits.joint_speed * period_s
        self._largest_change = limits.joint_acceleration * period_s**2
        # From its largest speed no joint needs more room to brake.
        self._braking_room = self._largest_step * (1.0 + self._largest_step / self._largest_change)
        self.start_from(joints)

    def start_from(self, joints: Vector) -> None:
        """Puts the targets on (n,) joints [rad], at rest."""
        self.joints = np.array(joints, dtype=float)
        """(n,) targets [rad]."""
        self._step = np.zeros_like(self.joints)
        self._way_to_stop: list[tuple[Vector, ToolMotion]] = []

    @property
    def must_brake(self) -> bool:
        """Whether the targets move so fast that they cannot be at rest in the next tick."""
        return bool(self._way_to_stop)

    @property
    def at_rest(self) -> bool:
        """Whether the targets stood still in the last tick."""
        return not self._step.any()

    def expected_velocities(self, share: float) -> Vector:
        """Returns (n,) [rad/s] of the next tick if it goes on by a share of this one's step, within the range."""
        lower, upper = self._limits.joint_bounds(self.joints)
        expected = np.minimum(np.maximum(self.joints + share * self._step, lower), upper)
        return np.asarray((expected - self.joints) / self._period_s)

    def braking_velocities(self) -> Vector:
        """Returns (n,) [rad/s] of the next tick if the arm goes on braking."""
        if not self._way_to_stop:
            return np.zeros_like(self.joints)
        return np.asarray((self._way_to_stop[0][0] - self.joints) / self._period_s)

    def follow(self, before: ToolMotion, wanted: ToolMotion) -> tuple[ToolMotion, Limit]:
        """Moves the targets one tick towards where the tool is wanted.

        Args:
            before: The tool's target before this tick.
            wanted: That of this tick, within the tool's own limits.

        Returns:
            How the tool's target moves with the joints, and what shortened the way.
        """
        solution = self._kinematics.solve(wanted.pose, self.joints)
        lower, upper = self._limits.joint_bounds(self.joints)
        joints = np.minimum(np.maximum(solution.joints, lower), upper)
        way = joints - self.joints
        limits = _limits_of(solution)
        if np.any(joints != solution.joints):
            limits |= Limit.JOINT_POSITION
        if not (way.any() or self._step.any()):
            return (wanted if limits is Limit.NONE else ToolMotion(before.pose)), limits
        share, shortened = self._share_of(way, lower, upper, solution)
        limits |= shortened
        largest, changed_too_fast = self._gently(way * share)
        if changed_too_fast:
            limits |= Limit.JOINT_ACCELERATION
        # Only where the joints could not follow is the tool's target where they get to.
        exact = limits is Limit.NONE and _is_exact(solution)
        braking = self._braking_step()
        for tried in _SHARES_TRIED:
            if tried == 1.0:
                step = largest
            else:
                step, exact = braking + tried * (largest - braking), False
            tool = wanted if exact else before.to(self._kinematics.forward(self.joints + step), self._period_s)
            broken, way_to_stop = self._check(before, tool, step, lower, upper)
            if broken is Limit.NONE:
                self.joints, self._step, self._way_to_stop = self.joints + step, step, way_to_stop
                return tool, limits
            limits |= broken
        return self.brake(before), limits

    def brake(self, before: ToolMotion) -> ToolMotion:
        """Moves the targets one tick on the way to stop; returns how the tool's target moves with them."""
        if not self._way_to_stop:
            self._step = np.zeros_like(self.joints)
            return ToolMotion(before.pose)
        joints, tool = self._way_to_stop.pop(0)
        self.joints, self._step = joints, joints - self.joints
        return tool

    def go_to(self, joints: Vector, before: ToolMotion) -> ToolMotion:
        """Puts the targets on (n,) joints [rad] of a path that keeps all limits.

        Returns:
            How the tool's target moves with them.
        """
        step = joints - self.joints
        tool = before.to(self._kinematics.forward(joints), self._period_s)
        self.joints, self._step = np.array(joints, dtype=float), step
        for way in self._ways_to_stop(tool, step, joints):
            self._way_to_stop = way
            if not self._broken_on(way, tool, self._limits.joint_lower, self._limits.joint_upper):
                break
        return tool

    def _braking_step(self) -> Vector:
        return self._way_to_stop[0][0] - self.joints if self._way_to_stop else np.zeros_like(self.joints)

    def _share_of(self, way: Vector, lower: Vector, upper: Vector, solution: JointSolution) -> tuple[float, Limit]:
        """Returns the share of a way that joint speeds, ranges and singular postures allow, and what cut it."""
        shares = {
            Limit.JOINT_SPEED: _share(self._largest_step, way),
            Limit.JOINT_POSITION: self._share_in_range(way, lower, upper),
            Limit.SINGULARITY: self._share_near_singularity(solution),
        }
        limits = Limit.NONE
        for limit, share in shares.items():
            if share < 1.0 - _ROUNDING:
                limits |= limit
        return min(1.0, *shares.values()), limits

    def _share_in_range(self, way: Vector, lower: Vector, upper: Vector) -> float:
        """Returns the share of a way after which the joints can stop within their range."""
        room = np.where(way > 0.0, upper - self.joints, self.joints - lower)
        near = (room < self._braking_room) & (way != 0.0)
        if not near.any():
            return math.inf
        return stoppable_share(_share(room[near], way[near]), _share(self._largest_change, way))

    def _share_near_singularity(self, solution: JointSolution) -> float:
        """Returns the share of a step that the posture's dexterity allows.

        A velocity damper: what approaches slows down in proportion to the distance that is left, and what leaves or
        passes by is free (Faverjon and Tournassoud, "A local based approach for path planning of manipulators with a
        high number of degrees of freedom", 1987; there of the distance to obstacles).
        """
        fall = solution.seed_dexterity - solution.dexterity
        if not (fall > 0.0 and math.isfinite(fall)):
            return 1.0
        left = max(0.0, solution.seed_dexterity - _SINGULAR_DEXTERITY) + _SINGULAR_CREEP
        return left * self._period_s / (_SINGULAR_TIME_S * fall)

    def _gently(self, step: Vector) -> tuple[Vector, bool]:
        """Returns a step that changes no faster than the joints may, and whether it had to be altered for that."""
        change = step - self._step
        share = _share(self._largest_change, change)
        if share >= 1.0 - _ROUNDING:
            return step, False
        return self._step + change * share, True

    def _check(
        self, before: ToolMotion, tool: ToolMotion, step: Vector, lower: Vector, upper: Vector
    ) -> tuple[Limit, list[tuple[Vector, ToolMotion]]]:
        """Returns what a step, or each way to stop after it, would break; if nothing, then also that way to stop."""
        broken = broken_limits(before, tool, self._limits, self._period_s)
        if _outside(self.joints + step, lower, upper):
            broken |= Limit.JOINT_POSITION
        if broken is not Limit.NONE:
            return broken, []
        for way in self._ways_to_stop(tool, step, self.joints + step):
            broken = self._broken_on(way, tool, lower, upper) if way else Limit.NONE
            if broken is Limit.NONE:
                return Limit.NONE, way
        return broken, []

    def _ways_to_stop(
        self, tool: ToolMotion, step: Vector, joints: Vector
    ) -> Iterator[list[tuple[Vector, ToolMotion]]]:
        """Yields ways to stop after a step that led to (n,) joints [rad], the shortest first; empty: at once."""
        of_joints = _share(self._largest_change, step)
        of_tool = min(
            _ratio(self._limits.linear_acceleration * self._period_s, length(tool.velocity)),
            _ratio(self._limits.angular_acceleration * self._period_s, length(tool.turning)),
        )
        if min(of_joints, of_tool) >= 1.0 - _ROUNDING:
            yield []
            return
        for gentleness in _BRAKING_TRIED:
            yield self._braked(tool, step, min(of_joints, gentleness * of_tool), joints)

    def _braked(
        self, tool: ToolMotion, step: Vector, slower_by: float, joints: Vector
    ) -> list[tuple[Vector, ToolMotion]]:
        """Returns the way from joints on, of a step that falls by a share of itself in each tick, until it is none."""
        at, way = joints, []
        share = 1.0 - slower_by
        while share > _ROUNDING:
            at = at + share * step
            tool = tool.to(self._kinematics.forward(at), self._period_s)
            way.append((at, tool))
            share -= slower_by
        return way

    def _broken_on(self, way: list[tuple[Vector, ToolMotion]], tool: ToolMotion, lower: Vector, upper: Vector) -> Limit:
        if way and _outside(way[-1][0], lower, upper):
            return Limit.JOINT_POSITION
        for _, after in way:
            broken = broken_limits(tool, after, self._limits, self._period_s)
            if broken is not Limit.NONE:
                return broken
            tool = after
        return broken_limits(tool, ToolMotion(tool.pose), self._limits, self._period_s)


def stoppable_share(room: float, slower_by: float) -> float:
    """Returns the largest speed from which a stop within a room is possible in whole ticks.

    All are shares of one step: the speed falls by `slower_by` in each tick. Solves the sum of v - k·a over the ticks k
    in which it is positive for v.
    """
    ticks = math.floor(0.5 * (math.sqrt(1.0 + 8.0 * room / slower_by) - 1.0))
    return room / (ticks + 1) + 0.5 * ticks * slower_by


def _share(bounds: Vector, way: Vector) -> float:
    """Returns how often a (n,) way fits into (n,) bounds; infinite if it is none."""
    used = float(np.max(np.abs(way) / bounds))
    return 1.0 / used if used > 0.0 else math.inf


def _ratio(bound: float, size: float) -> float:
    return bound / size if size > 0.0 else math.inf


def _outside(joints: Vector, lower: Vector, upper: Vector) -> bool:
    return bool(np.any(joints < lower - _ROUNDING) or np.any(joints > upper + _ROUNDING))


def _is_exact(solution: JointSolution) -> bool:
    return solution.position_error <= _POSITION_EXACT_M and solution.rotation_error <= _ROTATION_EXACT_RAD


def _limits_of(solution: JointSolution) -> Limit:
    limits = Limit.NONE
    if solution.position_error > _POSITION_RESIDUAL_M or solution.rotation_error > _ROTATION_RESIDUAL_RAD:
        limits |= Limit.IK_RESIDUAL
    if solution.at_end:
        limits |= Limit.JOINT_POSITION
    if solution.near_singular:
        limits |= Limit.SINGULARITY
    return limits
