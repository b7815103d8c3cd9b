"""The guard of one part: from the newest commands and the measured state to joint targets, once a tick."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from cobalt_teleop.core.clutch import MAX_FRAME_AGE_S, Clutch, ClutchState
from cobalt_teleop.core.command import Authority, HoldReason, Limit, MotionCommand, Press
from cobalt_teleop.core.foresight import Foresight
from cobalt_teleop.core.homing import HomingPath
from cobalt_teleop.core.joint_motion import JointMotion
from cobalt_teleop.core.kinematics import Kinematics
from cobalt_teleop.core.limits import PartLimits
from cobalt_teleop.core.pose import Pose, Vector
from cobalt_teleop.core.target_limiter import TargetLimiter
from cobalt_teleop.core.tool_motion import ToolMotion


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Measured state of a part that the guard needs.

    Attributes:
        pose: Tool in the base frame.
        joints: (n,) [rad].
        gripper: 0 closed to 1 open.
    """

    pose: Pose
    joints: Vector
    gripper: float


@dataclass(frozen=True, kw_only=True)
class PartDecision:
    """What a part does in a tick.

    Attributes:
        authority: Who drives it: HOLD while it holds.
        source: Of the command that was followed.
        anchor: Measured pose at engage.
        target: Accepted target of the tool in the base frame.
        joint_targets: (n,) [rad].
        joint_velocities: (n,) at which the targets are expected to go on in the coming tick [rad/s].
        gripper_target: 0 closed to 1 open.
        limits: What shortened the command.
        hold_reason: Why it holds.
    """

    authority: Authority
    source: str
    anchor: Pose
    target: Pose
    joint_targets: Vector
    joint_velocities: Vector
    gripper_target: float
    limits: Limit
    hold_reason: HoldReason


class PartController:
    """The guard of one part.

    Args:
        limits: What the part is kept within.
        kinematics: Of the arm.
        home: (n,) [rad], where homing leads.
        period_s: Tick [s].
        max_frame_age_s: Age of the picture that a person or a policy acts on above which the part holds [s].
    """

    def __init__(
        self,
        *,
        limits: PartLimits,
        kinematics: Kinematics,
        home: Vector,
        period_s: float,
        max_frame_age_s: float = MAX_FRAME_AGE_S,
    ) -> None:
        self._limits = limits
        self._home = home
        self._kinematics = kinematics
        self._period_s = period_s
        self._clutches = {
            authority: Clutch(limits, max_frame_age_s=max_frame_age_s)
            for authority in (Authority.HUMAN, Authority.POLICY)
        }
        self._limiter = TargetLimiter(limits, period_s)
        self._joints = JointMotion(limits, kinematics, home, period_s)
        self._foresight = Foresight()
        self._gripper_target = 1.0
        self._homing: HomingPath | None = None
        self._homing_scale = 0.0
        self._followed: tuple[Authority, Press] | None = None
        self._held_for = HoldReason.NOT_ENGAGED

    def start_from(self, measured: Measured) -> None:
        """Holds the measured state, gripper included, until a fresh press: after a start, a reset, a reconnection."""
        self.rest_at(measured)
        self._gripper_target = measured.gripper

    def rest_at(self, measured: Measured) -> None:
        """Holds the measured posture until a fresh press, and grips as before, so that nothing is dropped."""
        self.require_fresh_press()
        self._end_homing()
        self._start_at(measured)

    def require_fresh_press(
        self,
        of_people: Collection[Press] = (),
        of_policies: Collection[Press] = (),
        reason: HoldReason = HoldReason.REENGAGE,
    ) -> None:
        """Ends the running epochs: after a hand-over, a stop or a fault, nothing moves before a fresh press.

        Args:
            of_people: Presses of a person's devices that are going on.
            of_policies: Likewise of policies.
            reason: Told until they end.
        """
        self._clutches[Authority.HUMAN].require_fresh_press(of_people, reason)
        self._clutches[Authority.POLICY].require_fresh_press(of_policies, reason)

    def hand_to_policy(self) -> None:
        """Lets the policy's running stream drive: a person has just chosen it."""
        self._clutches[Authority.POLICY].restart()

    def homing_objection(self, measured: Measured, speed_scale: float) -> str:
        """Returns why it may not go home from where it is, in words; empty if it may."""
        out_m = self._way_home(measured, speed_scale).leaves_box_by_m
        return f'the way home would lead {out_m * 1e3:.0f} mm out of the workspace' if out_m > 0.0 else ''

    def start_homing(self, measured: Measured, speed_scale: float) -> None:
        """Begins the way home in joint space, at a share of the joint speeds, once the arm is at rest."""
        self.require_fresh_press()
        self._homing, self._homing_scale = None, speed_scale
        if self._joints.at_rest:
            self._depart_for_home(measured)

    @property
    def homing(self) -> bool:
        """Whether the way home is not yet done."""
        return self._homing_scale > 0.0

    def step(
        self,
        *,
        measured: Measured,
        authority: Authority,
        human: MotionCommand | None,
        policy: MotionCommand | None,
        must_hold: HoldReason = HoldReason.NONE,
    ) -> PartDecision:
        """Decides one tick.

        Args:
            measured: State before the action.
            authority: Who may drive.
            human: Newest admitted command of the holder of control.
            policy: Newest command of the policy.
            must_hold: A reason to hold whatever the commands say.
        """
        blocked = self._is_blocked(measured)
        if blocked or must_hold is not HoldReason.NONE:
            told = HoldReason.BLOCKED if blocked else HoldReason.REENGAGE
            self.require_fresh_press(_presses(human), _presses(policy), told)
            self._end_homing()
            # A blocked arm stops at once, presses against what blocks it no longer, and does not leap when that gives
            # way (De Luca et al., "Collision detection and safe reaction with the DLR-III lightweight manipulator arm",
            # 2006). Nobody knows what a faulty one does: when it is well again, it stays where it then is.
            if blocked or must_hold is HoldReason.FAULT:
                self._start_at(measured)
            return self._hold(HoldReason.BLOCKED if must_hold is HoldReason.NONE else must_hold)
        if self.homing and authority is Authority.HOMING:
            return self._go_home(measured)
        self._end_homing()
        if authority not in self._clutches:
            return self._hold(HoldReason.AUTHORITY)
        command = human if authority is Authority.HUMAN else policy
        if self._joints.must_brake and command is not None and command.engaged:
            followed = authority, command.press
            # A press starts from rest: the arm brakes first, and is anchored where it then is.
            if followed != self._followed:
                return self._hold(self._held_for)
        state = self._clutches[authority].update(command, measured.pose)
        if state.hold_reason is not HoldReason.NONE or command is None:
            return self._hold(state.hold_reason)
        return self._follow(state, command, authority, measured)

    def _follow(
        self, state: ClutchState, command: MotionCommand, authority: Authority, measured: Measured
    ) -> PartDecision:
        if state.engaged_now:
            self._start_at(measured)
            self._foresight.start_from(measured.pose)
        self._followed, self._held_for = (authority, command.press), HoldReason.NOT_ENGAGED
        before = self._limiter.motion
        if state.twist is not None:
            limits = self._limiter.along(state.twist)
            limits |= self._joints_follow(before)
            share = self._limiter.share_along(state.twist)
        else:
            assert state.wanted is not None
            limits = self._limiter.towards(state.wanted)
            limits |= self._joints_follow(before)
            share = self._limiter.share_towards(self._foresight.after(state.wanted))
        velocities = self._joints.expected_velocities(share)
        if np.isfinite(command.gripper):
            self._gripper_target = float(np.clip(command.gripper, 0.0, 1.0))
            if self._gripper_target != command.gripper:
                limits |= Limit.GRIPPER_RANGE
        anchor = self._clutches[authority].anchor
        return self._decision(authority, command.source, limits, HoldReason.NONE, anchor, velocities)

    def _hold(self, reason: HoldReason) -> PartDecision:
        self._followed, self._held_for = None, reason
        velocities = self._brake()
        anchor = self._clutches[Authority.HUMAN].anchor
        return self._decision(Authority.HOLD, '', Limit.NONE, reason, anchor, velocities)

    def _brake(self) -> Vector:
        """Brakes for a tick; returns the joint velocities that are expected of the next."""
        self._limiter.accept(self._joints.brake(self._limiter.motion))
        return self._joints.braking_velocities()

    def _way_home(self, measured: Measured, speed_scale: float) -> HomingPath:
        return HomingPath(
            measured.joints,
            self._home,
            limits=self._limits,
            kinematics=self._kinematics,
            scale=speed_scale,
            period_s=self._period_s,
        )

    def _depart_for_home(self, measured: Measured) -> None:
        """Sets off, unless the way would lead out of the workspace: then there is none."""
        way = self._way_home(measured, self._homing_scale)
        if way.leaves_box_by_m > 0.0:
            self._end_homing()
            return
        self._start_at(measured)
        self._homing = way

    def _go_home(self, measured: Measured) -> PartDecision:
        if self._homing is None and self._joints.at_rest:
            self._depart_for_home(measured)
        velocities = np.zeros_like(self._home)
        if self._homing is None:
            velocities = self._brake()
        else:
            self._limiter.accept(self._joints.go_to(self._homing.advance(), self._limiter.motion))
            if self._homing.done:
                self._end_homing()
        anchor = self._clutches[Authority.HUMAN].anchor
        return self._decision(Authority.HOMING, 'home', Limit.NONE, HoldReason.NONE, anchor, velocities)

    def _end_homing(self) -> None:
        self._homing, self._homing_scale = None, 0.0

    def _is_blocked(self, measured: Measured) -> bool:
        return bool(np.any(np.abs(self._joints.joints - measured.joints) > self._limits.following_error))

    def _start_at(self, measured: Measured) -> None:
        self._limiter.start_from(measured.pose)
        self._joints.start_from(measured.joints)

    def _joints_follow(self, before: ToolMotion) -> Limit:
        """Lets the joints follow the target; where they cannot, puts the target where they get to."""
        reached, limits = self._joints.follow(before, self._limiter.motion)
        self._limiter.accept(reached, joints_were_slow=Limit.JOINT_ACCELERATION in limits)
        return limits

    def _decision(
        self,
        authority: Authority,
        source: str,
        limits: Limit,
        reason: HoldReason,
        anchor: Pose,
        velocities: Vector,
    ) -> PartDecision:
        return PartDecision(
            authority=authority,
            source=source,
            anchor=anchor,
            target=self._limiter.target,
            joint_targets=self._joints.joints,
            joint_velocities=velocities,
            gripper_target=self._gripper_target,
            limits=limits,
            hold_reason=reason,
        )


def _presses(command: MotionCommand | None) -> Collection[Press]:
    return (command.press,) if command is not None and command.engaged else ()
