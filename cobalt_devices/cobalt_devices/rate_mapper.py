"""From the deflections of a SpaceMouse or a gamepad to the motion since engage: rate control, without ROS.

The longer and the further an axis is pushed, the further the tool goes. An axis at rest stops it dead.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from cobalt_devices.axis_map import AxisUse
from cobalt_devices.device_command import DeviceCommand, Feedback
from cobalt_devices.operator_axes import Reference, base_from_operator
from cobalt_devices.rate_epoch import LONGEST_STEP_S, RESTART_NS, WATCHDOG_S, Leash, RateEpoch
from cobalt_teleop.core.pose import Pose, Vector


@dataclass(frozen=True, kw_only=True)
class RateSample:
    """The state of a device at one moment.

    Attributes:
        stamp_ns: On the device's own clock [ns].
        axes: Deflections, -1 to 1, in the device's own order.
        buttons: Bits of the buttons that are held.
        press_counts: Presses of each button so far.
        engaged: The device may move the arm: its clutch is pressed, where it has one.
        tracked: The device works.
        clutch_epoch: The device's count of presses of its clutch, or of first deflections.
        reference: Along whose axes it moves the tool.
        heading: Yaw of the operator's forward in the device's frame [rad].
        scale: Share of the speeds.
    """

    stamp_ns: int
    axes: tuple[float, ...]
    buttons: int = 0
    press_counts: tuple[int, ...] = ()
    engaged: bool = True
    tracked: bool = True
    clutch_epoch: int = 0
    reference: Reference = Reference.VIEW
    heading: float = 0.0
    scale: float = 1.0


@dataclass(frozen=True, kw_only=True)
class RateSettings:
    """How a device's axes and buttons drive the arm.

    Attributes:
        directions: For each of DIRECTIONS, the axis that moves the tool along it, or None.
        dead_zone: Share of an axis around its middle that moves nothing.
        curve: Exponent of what lies beyond it: 1 is straight, 2 is finer near the middle.
        linear_speed: At full deflection [m/s].
        angular_speed: Likewise [rad/s].
        close_button: Index of the button that closes the gripper, or None.
        open_button: Likewise for opening it.
        view_yaw_deg: Yaw of the operator's view in the base frame [deg].
        leash: How far the motion may lead the accepted target.
    """

    directions: Sequence[AxisUse | None]
    dead_zone: float = 0.1
    curve: float = 1.5
    linear_speed: float = 0.15
    angular_speed: float = 0.8
    close_button: int | None = None
    open_button: int | None = None
    view_yaw_deg: float = 180.0
    leash: Leash

    def shares(self, axes: Sequence[float]) -> Vector:
        """Returns the (6,) shares of full speed along DIRECTIONS that deflections ask for.

        Two axes at once are no faster than one at its end.
        """
        asked = [self._asked(use, axes) for use in self.directions]
        return np.array(_at_most_full(asked[:3]) + _at_most_full(asked[3:]))

    def _asked(self, use: AxisUse | None, axes: Sequence[float]) -> float:
        return use.gain * self._shaped(axes[use.index]) if use is not None and use.index < len(axes) else 0.0

    def _shaped(self, value: float) -> float:
        size = min(abs(value), 1.0) if math.isfinite(value) else 0.0
        beyond = (size - self.dead_zone) / (1.0 - self.dead_zone)
        return 0.0 if beyond <= 0.0 else math.copysign(beyond**self.curve, value)

    @property
    def gripper_buttons(self) -> tuple[tuple[int, float], ...]:
        """Index of each button of the gripper, and where it leads."""
        pairs = ((self.close_button, 0.0), (self.open_button, 1.0))
        return tuple((index, target) for index, target in pairs if index is not None)


def _at_most_full(shares: list[float]) -> list[float]:
    """Returns shares of full speed, together no more than one."""
    together = math.hypot(*shares)
    return shares if together <= 1.0 else [share / together for share in shares]


class RateMapper:
    """Turns the samples of one operator's device into commands for one part.

    What stops the arm takes a deflection that goes on out of play: the arm moves again only once the device has been
    at rest, or with a fresh press of its clutch.

    Args:
        settings: Axes, speeds and buttons.
        next_epoch: Returns the number of a new epoch, one that the host has not seen yet.
    """

    def __init__(self, settings: RateSettings, next_epoch: Callable[[], int]) -> None:
        self._settings = settings
        self._next_epoch = next_epoch
        self._last_number = 0
        self._previous: RateSample | None = None
        self._barred = False
        self._press = 0
        self._epoch: RateEpoch | None = None
        self._shares: tuple[tuple[float, ...], Vector] = (), np.zeros(6)

    def listens(self, sample: RateSample) -> bool:
        """Returns whether `update` has a use for feedback with this sample."""
        return self._epoch is not None or (sample.engaged and self._is_active(sample, self._previous))

    def update(self, sample: RateSample, feedback: Feedback | None = None) -> DeviceCommand | None:
        """Takes one sample and returns the command that it makes.

        A repeated sample changes nothing, a lost one costs motion but never makes a jump.

        Args:
            sample: Newest state of the device.
            feedback: Newest tick of the host, if there is one.

        Returns:
            None for a sample that is older than the one before, or for the first deflection along the axes of a tool
            whose pose is not known yet.
        """
        previous = self._previous
        if previous is not None and previous.stamp_ns - sample.stamp_ns > RESTART_NS:
            previous = self._epoch = None
        if previous is not None and sample.stamp_ns < previous.stamp_ns:
            return None
        active = self._is_active(sample, previous)
        if sample.engaged and active and sample.reference is Reference.TOOL and feedback is None and not self._epoch:
            return None
        self._previous = sample
        gap_s = 0.0 if previous is None else (sample.stamp_ns - previous.stamp_ns) * 1e-9
        self._bar(sample, previous, feedback, active=active, gap_s=gap_s)
        self._begin_or_end(sample, feedback, active=active)
        epoch = self._epoch
        if epoch is None:
            return DeviceCommand(
                pose=Pose(),
                gripper=math.nan,
                engaged=False,
                tracked=sample.tracked,
                clutch_epoch=self._last_number,
            )
        if not epoch.over:
            self._grip(epoch, sample, previous)
            # The host takes the first command that it accepts for zero: it must not hold motion yet.
            if sample.stamp_ns != epoch.started_ns:
                self._move(epoch, sample, min(gap_s, LONGEST_STEP_S))
            epoch.keep_on_leash(feedback, sample.stamp_ns)
        return epoch.command()

    def _is_active(self, sample: RateSample, previous: RateSample | None) -> bool:
        return bool(self._shares_of(sample).any()) or any(
            sample.buttons >> index & 1 or _was_pressed(index, sample, previous)
            for index, _ in self._settings.gripper_buttons
        )

    def _bar(
        self, sample: RateSample, previous: RateSample | None, feedback: Feedback | None, *, active: bool, gap_s: float
    ) -> None:
        """Takes a deflection out of play that has outlasted a stop, and puts it back with a rest or a fresh press."""
        same_press = previous is not None and previous.engaged and previous.clutch_epoch == sample.clutch_epoch
        fresh = sample.engaged and not same_press
        held = self._epoch is not None and self._epoch.is_held(feedback)
        if not sample.tracked or ((held or gap_s > WATCHDOG_S) and not fresh):
            self._barred = True
            if self._epoch is not None:
                self._epoch.over = True
        if fresh or not active:
            self._barred = False

    def _begin_or_end(self, sample: RateSample, feedback: Feedback | None, *, active: bool) -> None:
        epoch = self._epoch
        if not (sample.engaged and sample.tracked):
            self._epoch = None
        elif active and not self._barred:
            if epoch is None or epoch.over or self._press != sample.clutch_epoch:
                self._begin(sample, feedback)
            else:
                epoch.active_ns = sample.stamp_ns
        elif epoch is not None and not (active if epoch.over else epoch.lingers(sample.stamp_ns)):
            self._epoch = None

    def _begin(self, sample: RateSample, feedback: Feedback | None) -> None:
        tool = feedback.measured.quat_xyzw if feedback is not None else Pose().quat_xyzw
        self._last_number = self._next_epoch()
        self._press = sample.clutch_epoch
        self._epoch = RateEpoch(
            number=self._last_number,
            started_ns=sample.stamp_ns,
            base_from_device=base_from_operator(sample.reference, self._settings.view_yaw_deg, tool, sample.heading),
            leash=self._settings.leash,
        )

    def _grip(self, epoch: RateEpoch, sample: RateSample, previous: RateSample | None) -> None:
        for index, target in self._settings.gripper_buttons:
            if sample.buttons >> index & 1 or _was_pressed(index, sample, previous):
                epoch.gripper = target

    def _shares_of(self, sample: RateSample) -> Vector:
        """Returns the shares of full speed that a sample asks for; they are asked for several times."""
        if self._shares[0] is not sample.axes:
            self._shares = sample.axes, self._settings.shares(sample.axes)
        return self._shares[1]

    def _move(self, epoch: RateEpoch, sample: RateSample, duration_s: float) -> None:
        shares = self._shares_of(sample) * sample.scale * duration_s
        epoch.move(shares[:3] * self._settings.linear_speed, shares[3:] * self._settings.angular_speed, sample.stamp_ns)


def _was_pressed(index: int, sample: RateSample, previous: RateSample | None) -> bool:
    """Tells whether a button was pressed since the sample before, however shortly."""
    if previous is None or index >= min(len(sample.press_counts), len(previous.press_counts)):
        return False
    return sample.press_counts[index] > previous.press_counts[index]
