"""The guard of one part: from the newest commands and the measured state to joint targets, once a tick."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from cobalt_teleop.core.clutch import MAX_FRAME_AGE_S, Clutch, ClutchState
from cobalt_teleop.core.command import Authority, HoldReason, Limit, MotionCommand, Press
from cobalt_teleop.core.foresight import Foresight
from cobalt_teleop.core.homing import HomingPath
from cobalt_teleop.core.kinematics import Kinematics
from cobalt_teleop.core.limits import PartLimits
from cobalt_teleop.core.pose import Pose, Vector
from cobalt_teleop.core.target_limiter import TargetLimiter

_IK_POSITION_TOLERANCE_M = 1e-3
_IK_ROTATION_TOLERANCE_RAD = 5e-3


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
        self._kinematics = kinematics
        self._home = home
        self._period_s = period_s
        self._clutches = {
            authority: Clutch(limits, max_frame_age_s=max_frame_age_s)
            for authority in (Authority.HUMAN, Authority.POLICY)
        }
        self._limiter = TargetLimiter(limits, period_s)
        self._joint_targets = home.copy()
        self._joint_velocities = np.zeros(len(home))
        self._foresight = Foresight()
        self._gripper_target = 1.0
        self._homing: HomingPath | None = None

    def start_from(self, measured: Measured) -> None:
        """Holds the measured state, gripper included, until a fresh press: after a start, a reset, a reconnection."""
        self.rest_at(measured)
        self._gripper_target = measured.gripper

    def rest_at(self, measured: Measured) -> None:
        """Holds the measured posture until a fresh press, and grips as before, so that nothing is dropped."""
        self.require_fresh_press()
        self._homing = None
        self._limiter.start_from(measured.pose)
        self._joint_targets = measured.joints.copy()

    def require_fresh_press(self, of_people: Collection[Press] = (), of_policies: Collection[Press] = ()) -> None:
        """Ends the running epochs: after a hand-over, a stop or a fault, nothing moves before a fresh press.

        Args:
            of_people: Presses of a person's devices that are going on.
            of_policies: Likewise of policies.
        """
        self._clutches[Authority.HUMAN].require_fresh_press(of_people)
        self._clutches[Authority.POLICY].require_fresh_press(of_policies)

    def hand_to_policy(self) -> None:
        """Lets the policy's running stream drive: a person has just chosen it."""
        self._clutches[Authority.POLICY].restart()

    def start_homing(self, measured: Measured, speed_scale: float) -> None:
        """Begins the way home in joint space, from the measured joints, at a share of the joint speeds."""
        self.rest_at(measured)
        self._homing = HomingPath(measured.joints, self._home, self._limits.joint_speed * speed_scale, self._period_s)

    @property
    def homing(self) -> bool:
        """Whether the way home is not yet done."""
        return self._homing is not None

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
        self._joint_velocities = np.zeros_like(self._joint_targets)
        if must_hold is not HoldReason.NONE:
            self.require_fresh_press(_presses(human), _presses(policy))
            self._homing = None
            return self._hold(must_hold)
        if self._homing is not None and authority is Authority.HOMING:
            return self._follow_homing()
        if authority not in self._clutches:
            return self._hold(HoldReason.AUTHORITY)
        command = human if authority is Authority.HUMAN else policy
        state = self._clutches[authority].update(command, measured.pose)
        if state.hold_reason is not HoldReason.NONE or command is None:
            return self._hold(state.hold_reason)
        return self._follow(state, command, authority, measured)

    def _follow(
        self, state: ClutchState, command: MotionCommand, authority: Authority, measured: Measured
    ) -> PartDecision:
        if state.engaged_now:
            self._limiter.start_from(measured.pose)
            self._joint_targets = measured.joints.copy()
            self._foresight.start_from(measured.pose)
        before = self._joint_targets
        if state.twist is not None:
            limits = self._limiter.along(state.twist)
            limits |= self._joints_to_target()
            share = self._limiter.share_along(state.twist)
        else:
            assert state.wanted is not None
            limits = self._limiter.towards(state.wanted)
            limits |= self._joints_to_target()
            share = self._limiter.share_towards(self._foresight.after(state.wanted))
        self._joint_velocities = (self._joint_targets - before) * (share / self._period_s)
        if np.isfinite(command.gripper):
            self._gripper_target = float(np.clip(command.gripper, 0.0, 1.0))
            if self._gripper_target != command.gripper:
                limits |= Limit.GRIPPER_RANGE
        anchor = self._clutches[authority].anchor
        return self._decision(authority, command.source, limits, HoldReason.NONE, anchor)

    def _hold(self, reason: HoldReason) -> PartDecision:
        before = self._joint_targets
        if self._limiter.slow_down():
            self._joints_to_target()
            share = self._limiter.share_of_braking()
            self._joint_velocities = (self._joint_targets - before) * (share / self._period_s)
        return self._decision(Authority.HOLD, '', Limit.NONE, reason, self._clutches[Authority.HUMAN].anchor)

    def _follow_homing(self) -> PartDecision:
        assert self._homing is not None
        self._joint_targets = self._homing.advance()
        self._limiter.start_from(self._kinematics.forward(self._joint_targets))
        if self._homing.done:
            self._homing = None
        anchor = self._clutches[Authority.HUMAN].anchor
        return self._decision(Authority.HOMING, 'home', Limit.NONE, HoldReason.NONE, anchor)

    def _joints_to_target(self) -> Limit:
        """Solves for the target; where joints cannot follow, puts the target where they get to."""
        limits = Limit.NONE
        solution = self._kinematics.solve(self._limiter.target, self._joint_targets)
        way = solution.joints - self._joint_targets
        # The range is kept, but a joint that is outside already is not thrown back.
        lower = np.minimum(self._limits.joint_lower, self._joint_targets)
        upper = np.maximum(self._limits.joint_upper, self._joint_targets)
        joints = np.clip(solution.joints, lower, upper)
        if np.any(joints != solution.joints):
            limits |= Limit.JOINT_POSITION
            way = joints - self._joint_targets
        share = float(np.max(np.abs(way) / (self._limits.joint_speed * self._period_s), initial=0.0))
        if share > 1.0 + 1e-9:
            limits |= Limit.JOINT_SPEED
            joints = self._joint_targets + way / share
        elif solution.position_error > _IK_POSITION_TOLERANCE_M or solution.rotation_error > _IK_ROTATION_TOLERANCE_RAD:
            limits |= Limit.IK_RESIDUAL
        self._joint_targets = joints
        if limits is not Limit.NONE:
            self._limiter.accept(self._kinematics.forward(joints))
        return limits

    def _decision(
        self, authority: Authority, source: str, limits: Limit, reason: HoldReason, anchor: Pose
    ) -> PartDecision:
        return PartDecision(
            authority=authority,
            source=source,
            anchor=anchor,
            target=self._limiter.target,
            joint_targets=self._joint_targets,
            joint_velocities=self._joint_velocities,
            gripper_target=self._gripper_target,
            limits=limits,
            hold_reason=reason,
        )


def _presses(command: MotionCommand | None) -> Collection[Press]:
    return (command.press,) if command is not None and command.engaged else ()
