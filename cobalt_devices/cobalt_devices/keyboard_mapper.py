"""From held keys to the motion since engage: rate control with a leash, without ROS."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from cobalt_devices.device_command import DeviceCommand, Feedback
from cobalt_devices.operator_axes import Reference, base_from_operator
from cobalt_devices.rate_epoch import LONGEST_STEP_S, RESTART_NS, WATCHDOG_S, Leash, RateEpoch, within
from cobalt_teleop.core.keyboard_actions import ACTIONS, BITS, MOTION_BITS
from cobalt_teleop.core.pose import Pose, Vector

SOURCE = 'keyboard'
"""Name of the device in its commands."""

TAP_S = 0.05
"""A tap moves for as long as this [s], however short it was."""

FORGOTTEN_S = 1.0
"""After a gap as long as this [s] nothing that was pressed in it counts: it was meant for what the arm did then."""

_FIRST_STEP_S = 0.01
_CONFIRM_S = 0.2
_KEYS = MOTION_BITS | BITS['gripper']
_GRIPPER = next(index for index, action in enumerate(ACTIONS) if action.name == 'gripper')


@dataclass(frozen=True, kw_only=True)
class KeySample:
    """The state of an operator's keys at one moment.

    Attributes:
        stamp_ns: On the device's own clock [ns].
        buttons: Bits of the actions that are held.
        press_counts: Presses of each action since the page was loaded; may be shorter than the list of actions.
        engaged: The operator's keys may move the arm; false while the page is hidden, for example.
        tracked: The device works.
        reference: Along whose axes the keys move the tool.
        heading: Yaw of the operator's forward against those axes [rad].
    """

    stamp_ns: int
    buttons: int
    press_counts: tuple[int, ...] = ()
    engaged: bool = True
    tracked: bool = True
    reference: Reference = Reference.VIEW
    heading: float = 0.0


@dataclass(frozen=True, kw_only=True)
class KeyboardRates:
    """How fast keys move the arm.

    Attributes:
        linear_speed: [m/s].
        angular_speed: [rad/s].
        slow_factor: Share of both while the slow key is held.
        view_yaw_deg: Yaw of the operator's view in the base frame [deg].
        leash_m: How far the motion may lead the accepted target [m].
        leash_rad: Likewise its rotation [rad].
    """

    linear_speed: float = 0.15
    angular_speed: float = 0.8
    slow_factor: float = 0.25
    view_yaw_deg: float = 180.0
    leash_m: float = 0.04
    leash_rad: float = 0.3

    @property
    def leash(self) -> Leash:
        """How far the motion may lead the accepted target."""
        return Leash(length_m=self.leash_m, length_rad=self.leash_rad)


@dataclass(kw_only=True)
class _Epoch(RateEpoch):
    """Motion and state since the first key.

    Attributes:
        owed_s: For how long each tapped key still moves the arm [s].
    """

    owed_s: Vector = field(default_factory=lambda: np.zeros(len(ACTIONS)))


def _gap_s(sample: KeySample, previous: KeySample | None) -> float:
    return 0.0 if previous is None else (sample.stamp_ns - previous.stamp_ns) * 1e-9


class KeyboardMapper:
    """Turns the key samples of one operator into commands for one part.

    What stops the arm takes every key that is down out of play: the arm moves again only with a fresh press.

    Args:
        rates: Speeds, view and leash.
        next_epoch: Returns the number of a new epoch, one that the host has not seen yet.
    """

    def __init__(self, rates: KeyboardRates, next_epoch: Callable[[], int]) -> None:
        self._rates = rates
        self._next_epoch = next_epoch
        self._last_epoch = 0
        self._previous: KeySample | None = None
        self._ignored_bits = 0
        self._epoch: _Epoch | None = None
        self._gripper_target = 1.0

    def listens(self, sample: KeySample) -> bool:
        """Returns whether `update` has a use for feedback with this sample."""
        return (
            self._epoch is not None or bool(sample.buttons & _KEYS) or bool(self._presses(sample, self._previous).any())
        )

    def update(self, sample: KeySample, feedback: Feedback | None = None) -> DeviceCommand | None:
        """Takes one sample and returns the command that it makes.

        A repeated sample changes nothing, a lost one costs motion but never makes a jump.

        Args:
            sample: Newest state of the keys.
            feedback: Newest tick of the host, if there is one.

        Returns:
            None for a sample that is older than the one before.
        """
        previous = self._previous
        if previous is not None and self._restarted(sample, previous):
            self._epoch = previous = None
        if previous is not None and sample.stamp_ns < previous.stamp_ns:
            return None
        self._previous = sample
        stopped = self._stopped(sample, previous, feedback)
        before = None if _gap_s(sample, previous) > FORGOTTEN_S else previous
        presses = self._presses(sample, before)
        self._ignore_old_presses(sample, before, presses, stopped=stopped)
        if self._epoch is not None and stopped:
            self._epoch.over = True
        held = sample.buttons & _KEYS & ~self._ignored_bits
        if not (sample.engaged and sample.tracked):
            presses[:] = 0
        if feedback is not None:
            self._gripper_target = feedback.gripper_target
        self._open_or_close(sample, held, bool(presses.any()), feedback)
        epoch = self._epoch
        if epoch is None:
            return DeviceCommand(
                pose=Pose(), gripper=math.nan, engaged=False, tracked=sample.tracked, clutch_epoch=self._last_epoch
            )
        if epoch.over:
            return epoch.command()
        if presses[_GRIPPER] % 2:
            now = self._gripper_target if math.isnan(epoch.gripper) else epoch.gripper
            epoch.gripper = 0.0 if now > 0.5 else 1.0
        # The host takes the first command that it accepts for zero: it must not hold motion yet.
        is_first = sample.stamp_ns == epoch.started_ns
        dt_s = 0.0 if is_first or previous is None else min(_gap_s(sample, previous), LONGEST_STEP_S)
        self._integrate(epoch, sample, held, presses, dt_s, feedback)
        epoch.keep_on_leash(feedback, sample.stamp_ns)
        return epoch.command(tracked=sample.tracked)

    @staticmethod
    def _restarted(sample: KeySample, previous: KeySample) -> bool:
        """A page that was loaded again counts from zero; so may its clock."""
        if previous.stamp_ns - sample.stamp_ns > RESTART_NS:
            return True
        pairs = zip(sample.press_counts, previous.press_counts, strict=False)
        return sample.stamp_ns > previous.stamp_ns and any(new < old for new, old in pairs)

    @staticmethod
    def _presses(sample: KeySample, previous: KeySample | None) -> Vector:
        presses = np.zeros(len(ACTIONS))
        if previous is None or sample.press_counts == previous.press_counts:
            return presses
        if sample.stamp_ns >= previous.stamp_ns:
            for index, (new, old) in enumerate(zip(sample.press_counts, previous.press_counts, strict=False)):
                if index < len(ACTIONS) and BITS[ACTIONS[index].name] & _KEYS:
                    presses[index] = max(new - old, 0)
        return presses

    def _stopped(self, sample: KeySample, previous: KeySample | None, feedback: Feedback | None) -> bool:
        """Tells whether the host holds what was pressed before this sample, or must have held it for a moment."""
        return (self._epoch is not None and self._epoch.is_held(feedback)) or _gap_s(sample, previous) > WATCHDOG_S

    def _ignore_old_presses(
        self, sample: KeySample, previous: KeySample | None, presses: Vector, *, stopped: bool
    ) -> None:
        """Takes keys out of play until they are released or pressed again."""
        down = sample.buttons & _KEYS
        if previous is None or not (sample.engaged and sample.tracked):
            # At the first sample nobody knows since when a key is down.
            self._ignored_bits = down
            return
        pressed = sum(1 << index for index in np.flatnonzero(presses).tolist())
        if stopped:
            self._ignored_bits |= previous.buttons
        self._ignored_bits &= down & ~pressed

    def _open_or_close(self, sample: KeySample, held: int, pressed: bool, feedback: Feedback | None) -> None:
        epoch = self._epoch
        if held or pressed:
            if epoch is None or epoch.over:
                self._last_epoch = self._next_epoch()
                self._epoch = _Epoch(
                    number=self._last_epoch,
                    started_ns=sample.stamp_ns,
                    base_from_device=self._axes(sample, feedback),
                    leash=self._rates.leash,
                )
            else:
                epoch.active_ns = sample.stamp_ns
            return
        if epoch is None:
            return
        lasts = bool(self._ignored_bits) if epoch.over else epoch.lingers(sample.stamp_ns)
        if not lasts or not (sample.engaged and sample.tracked):
            self._epoch = None

    def _axes(self, sample: KeySample, feedback: Feedback | None) -> Vector:
        # Without a tick the tool's axes are not known: the view's are.
        reference = sample.reference if feedback is not None else Reference.VIEW
        tool = feedback.measured.quat_xyzw if feedback is not None else Pose().quat_xyzw
        return base_from_operator(reference, self._rates.view_yaw_deg, tool, sample.heading)

    def _integrate(
        self, epoch: _Epoch, sample: KeySample, held: int, presses: Vector, dt_s: float, feedback: Feedback | None
    ) -> None:
        confirmed = feedback is not None and feedback.clutch_epoch == epoch.number
        confirmed = confirmed or (sample.stamp_ns - epoch.started_ns) * 1e-9 > _CONFIRM_S
        in_view = np.zeros(6)
        for index, action in enumerate(ACTIONS):
            if action.axis is None:
                continue
            if presses[index]:
                epoch.owed_s[index] = TAP_S
            if held & BITS[action.name]:
                # A press is felt in the very next tick, however soon after the sample before it came.
                duration_s = max(dt_s, _FIRST_STEP_S) if presses[index] and dt_s > 0 else dt_s
                epoch.owed_s[index] = max(0.0, epoch.owed_s[index] - duration_s)
            elif confirmed:
                duration_s, epoch.owed_s[index] = epoch.owed_s[index], 0.0
            else:
                duration_s = 0.0
            in_view[action.axis] += action.direction * duration_s
        rates = self._rates
        factor = rates.slow_factor if sample.buttons & BITS['slow'] else 1.0
        # Two keys at once are no faster than one.
        linear_s, angular_s = (within(part, float(np.abs(part).max())) for part in (in_view[:3], in_view[3:]))
        epoch.move(linear_s * rates.linear_speed * factor, angular_s * rates.angular_speed * factor, sample.stamp_ns)
