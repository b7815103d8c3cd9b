"""The clutch: turns an operator's commands into poses wanted of the tool, anchored where the robot really is.

Rule 1 of the contract: at each new epoch the offset that maps the first accepted command onto the *measured* pose is
fixed, position and rotation, and applied for the whole epoch. What breaks an epoch (silence, lost tracking, a jump, an
invalid number) blocks it: motion resumes only with a fresh press.
"""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from cobalt_teleop.core.command import HoldReason, Mode, MotionCommand, Press, Reference
from cobalt_teleop.core.limits import PartLimits
from cobalt_teleop.core.pose import Pose, Vector, angle_between, inverse, multiply

MAX_FRAME_AGE_S = 1.0
"""A picture older than this is none to drive by [s]."""


@dataclass(frozen=True)
class ClutchState:
    """What the clutch says in one tick.

    Attributes:
        hold_reason: NONE if the tool shall move.
        wanted: Pose wanted of the tool in the base frame; None while holding or when a twist is wanted.
        twist: (6,) wanted instead of a pose, or None.
        engaged_now: This tick is the first of an epoch: the target starts anew from the measured pose.
    """

    hold_reason: HoldReason
    wanted: Pose | None = None
    twist: Vector | None = None
    engaged_now: bool = False


class Clutch:
    """The clutch of one source for one part.

    Args:
        limits: Watchdog and jump gate.
        max_frame_age_s: Age of the operator's picture above which the part holds [s].
    """

    def __init__(self, limits: PartLimits, *, max_frame_age_s: float = MAX_FRAME_AGE_S) -> None:
        self._limits = limits
        self._max_frame_age_s = max_frame_age_s
        self._press: Press | None = None
        self._kind: tuple[Mode | None, Reference | None] = (None, None)
        self._blocked: dict[str, tuple[Press, HoldReason]] = {}
        self._first = Pose()
        self._last = Pose()
        self._last_sample = 0
        self._ticks_since_sample = 0
        self.anchor = Pose()
        """Measured pose at engage, in the base frame."""

    def require_fresh_press(self, presses: Collection[Press] = (), reason: HoldReason = HoldReason.REENGAGE) -> None:
        """Ends the epoch: a press that is going on moves nothing any more. For hand-overs, stops and resets.

        Args:
            presses: That are going on, though they were perhaps never followed.
            reason: Told until they end.
        """
        for press in presses if self._press is None else (self._press, *presses):
            self._blocked[press[0]] = (press, reason)
        self._press = None

    def restart(self) -> None:
        """Begins anew with whatever comes: a person has just chosen this source."""
        self._press = None
        self._blocked.clear()

    def update(self, command: MotionCommand | None, measured: Pose) -> ClutchState:
        """Takes the newest command of a tick.

        Args:
            command: Newest of this source, however old; None if none ever came.
            measured: The tool's pose in the base frame.
        """
        if command is None:
            return ClutchState(HoldReason.NO_COMMAND)
        if not command.engaged:
            self._press = None
            self._blocked.pop(command.source, None)
            return ClutchState(HoldReason.NOT_ENGAGED)
        blocked, reason = self._blocked.get(command.source, (None, HoldReason.NONE))
        if command.press == blocked:
            return ClutchState(reason)
        problem = self._problem(command)
        if problem is not HoldReason.NONE:
            return self._block(command, problem)
        self._blocked.pop(command.source, None)
        if command.press != self._press:
            self._engage(command, measured)
            # No source moves anything in the tick in which it takes over.
            return ClutchState(HoldReason.NONE, wanted=measured, engaged_now=True)
        self._ticks_since_sample += 1
        if command.sample != self._last_sample:
            problem = self._problem_of_step(command)
            if problem is not HoldReason.NONE:
                return self._block(command, problem)
            self._last, self._last_sample = command.pose or Pose(), command.sample
            self._ticks_since_sample = 0
        if command.mode is Mode.TWIST:
            return ClutchState(HoldReason.NONE, twist=command.twist)
        if command.reference is Reference.ABSOLUTE:
            return ClutchState(HoldReason.NONE, wanted=self._last)
        turned = multiply(self._last.quat_xyzw, inverse(self._first.quat_xyzw))
        wanted = Pose(
            self.anchor.position + (self._last.position - self._first.position),
            multiply(turned, self.anchor.quat_xyzw),
        )
        return ClutchState(HoldReason.NONE, wanted=wanted)

    def _problem(self, command: MotionCommand) -> HoldReason:
        if command.age_s > self._limits.watchdog_s:
            return HoldReason.STALE
        if not command.tracked:
            return HoldReason.NOT_TRACKED
        if command.frame_age_s > self._max_frame_age_s:
            return HoldReason.FRAME_STALE
        if command.mode is None or command.reference is None or command.mode is Mode.JOINT:
            return HoldReason.UNSUPPORTED
        if (command.pose if command.mode is Mode.POSE else command.twist) is None:
            return HoldReason.INVALID
        return HoldReason.NONE

    def _block(self, command: MotionCommand, reason: HoldReason) -> ClutchState:
        self._press = None
        self._blocked[command.source] = (command.press, reason)
        return ClutchState(reason)

    def _engage(self, command: MotionCommand, measured: Pose) -> None:
        self._press = command.press
        self._kind = (command.mode, command.reference)
        self.anchor = measured
        self._first = self._last = command.pose or Pose()
        self._last_sample = command.sample
        self._ticks_since_sample = 0

    def _problem_of_step(self, command: MotionCommand) -> HoldReason:
        if (command.mode, command.reference) != self._kind:
            return HoldReason.INVALID
        if command.mode is Mode.TWIST or command.pose is None:
            return HoldReason.NONE
        # Samples that a network held back arrive as one larger step: the gate opens with the ticks in which none came,
        # up to the watchdog, after which the epoch is blocked anyway.
        ticks = min(self._ticks_since_sample, 4)
        step = float(np.linalg.norm(command.pose.position - self._last.position))
        turn = angle_between(command.pose.quat_xyzw, self._last.quat_xyzw)
        jumped = step > self._limits.jump_m * ticks or turn > self._limits.jump_rad * ticks
        return HoldReason.JUMP if jumped else HoldReason.NONE
