"""Whether a driver keeps its promises: the checks of `cobalt driver check`. They move the arm, a little and slowly.

Everything goes the way that it goes later: a `ServoLoop` streams set points of a `ServoPath` to the driver.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from cobalt_devices.arm_driver.driver import Driver, DriverState
from cobalt_devices.arm_driver.servo_loop import ServoLoop
from cobalt_devices.arm_driver.servo_path import ServoPath
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.finding import Finding
from cobalt_teleop.core.limits import PartLimits
from cobalt_teleop.core.pose import Vector
from cobalt_teleop.kinematics.robot_description import RobotDescription

_TICK_S = 0.05
_SLOWLY = 0.2
"""Share of the joints' speeds and accelerations at which the checks move."""

_SWING_RAD = 0.06
_SWING_S = 3.0
_MEASURE_S = 1.0
_GRIP_S = 2.0
_STANDS_RAD = 0.003
_STANDS_S = 1.0
_STOP_S = 0.4
_WATCH_S = 0.5
_COMES_TO_REST_S = 1.0
_LARGEST_LAG_S = 0.25
_LARGEST_AGE_S = 0.1
_LEAST_STATES_HZ = 50.0


class DriverCheck:
    """One run of the checks.

    Args:
        driver: Not yet connected.
        robot: The arm.
    """

    def __init__(self, driver: Driver, robot: RobotDescription) -> None:
        self._driver = driver
        self._robot = robot
        limits = robot.limits
        self._limits: PartLimits = replace(
            limits, joint_speed=_SLOWLY * limits.joint_speed, joint_acceleration=_SLOWLY * limits.joint_acceleration
        )
        self._period_s = 1.0 / driver.capabilities.rate_hz
        self._loop = self._new_loop()

    def run(self) -> Iterator[Finding]:
        """Yields the findings, and stops at one after which the rest would mean nothing. The driver is closed after."""
        try:
            for check, needed in (
                (self._connects, True),
                (self._measures, True),
                (self._stands, False),
                (self._follows, False),
                (self._keeps_its_rate, False),
                (self._holds_on_silence, False),
                (self._stops, True),
                (self._gets_ready_again, False),
                (self._grips, False),
            ):
                finding = _found(check)
                yield finding
                if needed and not finding.ok:
                    return
        finally:
            closing = _found(self._closes)
        yield closing

    def _new_loop(self) -> ServoLoop:
        path = ServoPath(self._limits, period_s=self._period_s, tick_s=_TICK_S)
        return ServoLoop(self._driver, path, period_s=self._period_s)

    def _connects(self) -> Finding:
        began_s = time.monotonic()
        self._loop.start()
        return Finding('connects', True, f'in {time.monotonic() - began_s:.1f} s: {self._driver.capabilities.title}')

    def _measures(self) -> Finding:
        size, stamps, oldest_s = len(self._robot.joints), set(), 0.0
        first = self._loop.state
        for state in self._watched(_MEASURE_S):
            stamps.add(state.stamp_ns)
            oldest_s = max(oldest_s, (time.time_ns() - state.stamp_ns) * 1e-9)
        limits, rate_hz = self._robot.limits, len(stamps) / _MEASURE_S
        wrong = [
            (first.faults, f'the arm reports: {", ".join(first.faults)}'),
            (
                any(np.shape(values) != (size,) for values in (first.joints, first.velocities, first.efforts)),
                f'joints, velocities and efforts must have {size} numbers each',
            ),
            (rate_hz < _LEAST_STATES_HZ, f'{rate_hz:.0f} measurements a second, fewer than {_LEAST_STATES_HZ:g}'),
            (
                oldest_s > _LARGEST_AGE_S,
                f'measurements are up to {oldest_s * 1e3:.0f} ms old: are the clocks the same?',
            ),
            (
                np.any(first.joints < limits.joint_lower) or np.any(first.joints > limits.joint_upper),
                f'a joint is outside its range in robot.yaml: {np.round(first.joints, 2).tolist()}',
            ),
        ]
        text = next((text for is_so, text in wrong if is_so), '')
        return Finding('measures', not text, text or f'{rate_hz:.0f} a second, at most {oldest_s * 1e3:.0f} ms old')

    def _stands(self) -> Finding:
        moved = self._moved_in(_STANDS_S)
        return Finding('stands', moved < _STANDS_RAD, f'moved by {moved:.4f} rad while nothing was commanded')

    def _follows(self) -> Finding:
        start = self._loop.state.joints.copy()
        asked, got = self._swing(start, _SWING_S)
        lag_s = min(np.arange(0.0, 0.5, 0.005), key=lambda lag: _error(asked, got, lag))
        error = _error(asked, got, lag_s)
        ok = lag_s <= _LARGEST_LAG_S and error < 0.25 * _SWING_RAD
        text = f'{lag_s * 1e3:.0f} ms behind the targets, {error * 1e3:.1f} mrad beside them'
        return Finding('follows', bool(ok), text)

    def _keeps_its_rate(self) -> Finding:
        timing = self._loop.timing
        jitter_ms, period_ms = timing.period_jitter_p99_ms, self._period_s * 1e3
        ok = jitter_ms < 0.5 * period_ms and timing.late_share < 0.01
        uneven = f'periods of {period_ms:.1f} ms are uneven by {jitter_ms:.2f} ms (p99)'
        text = f'{uneven}, {100 * timing.late_share:.1f} % left out'
        return Finding('rate', ok, text if ok else f'{text}: the driver takes too long, or the machine is busy')

    def _holds_on_silence(self) -> Finding:
        self._swing(self._loop.state.joints.copy(), 0.25 * _SWING_S)
        rest_s = self._rest_after(_COMES_TO_REST_S)
        moved = self._moved_in(_WATCH_S)
        return Finding(
            'holds', rest_s is not None and moved < _STANDS_RAD, _rest_text('after the last target', rest_s, moved)
        )

    def _stops(self) -> Finding:
        self._swing(self._loop.state.joints.copy(), 0.25 * _SWING_S)
        self._loop.stop()
        rest_s = self._rest_after(_STOP_S)
        moved = self._moved_in(_WATCH_S)
        return Finding('stops', rest_s is not None and moved < _STANDS_RAD, _rest_text('after stop', rest_s, moved))

    def _gets_ready_again(self) -> Finding:
        start = self._loop.state.joints.copy()
        _, got = self._swing(start, _SWING_S)
        # Over some measurements each: a single one may be told late.
        times, joints = np.array([at for at, _ in got[::6]]), np.array([joints for _, joints in got[::6]])
        fastest = float((np.abs(np.diff(joints, axis=0)).max(axis=1) / np.diff(times)).max())
        swung = float(np.abs(joints - start).max())
        if self._loop.faults:
            return Finding('recovers', False, f'after stop and recover: {", ".join(self._loop.faults)}')
        if fastest > 1.5 * float(self._limits.joint_speed.max()):
            return Finding('recovers', False, f'it jumped, at {fastest:.1f} rad/s, when it was made ready')
        return Finding('recovers', swung > 0.5 * _SWING_RAD, f'moves again, without a jump, by {swung:.3f} rad')

    def _grips(self) -> Finding:
        if self._robot.gripper is None:
            return Finding('grips', True, 'there is no gripper')
        here = self._loop.state.joints.copy()
        told = []
        for opening in (0.0, 1.0):
            end_s = time.monotonic() + _GRIP_S
            while time.monotonic() < end_s:
                self._loop.aim(here, None, opening)
                time.sleep(_TICK_S)
            told.append(self._loop.state.gripper)
        ok = told[1] - told[0] > 0.5
        text = f'closed {told[0]:.2f}, open {told[1]:.2f}'
        return Finding(
            'grips', ok, text if ok else f'{text}: 0 must be closed, and 1 open; or the gripper is not measured'
        )

    def _closes(self) -> Finding:
        self._loop.close()
        self._driver.close()
        return Finding('closes', True, 'twice')

    def _swing(self, start: Vector, lasts_s: float) -> tuple[list[tuple[float, Vector]], list[tuple[float, Vector]]]:
        """Swings all joints gently to one side and back; returns targets and measurements with their times [s]."""
        towards = np.where(start > 0.5 * (self._robot.limits.joint_lower + self._robot.limits.joint_upper), -1.0, 1.0)
        towards[~np.isfinite(towards)] = 1.0
        asked, got = [], []
        began_s = time.monotonic()
        while (now_s := time.monotonic() - began_s) < lasts_s:
            share = 0.5 * (1.0 - np.cos(2.0 * np.pi * now_s / _SWING_S))
            speed = np.pi / _SWING_S * np.sin(2.0 * np.pi * now_s / _SWING_S)
            target = start + towards * (_SWING_RAD * share)
            self._loop.aim(target, towards * (_SWING_RAD * speed), self._loop.state.gripper)
            asked.append((now_s, target))
            for _ in range(5):
                got.append((time.monotonic() - began_s, self._loop.state.joints.copy()))
                time.sleep(0.2 * _TICK_S)
        return asked, got

    def _watched(self, seconds: float) -> Iterator[DriverState]:
        end_s = time.monotonic() + seconds
        while time.monotonic() < end_s:
            yield self._loop.state
            time.sleep(0.5 * self._period_s)

    def _moved_in(self, seconds: float) -> float:
        start = self._loop.state.joints.copy()
        return max(float(np.abs(state.joints - start).max()) for state in self._watched(seconds))

    def _rest_after(self, limit_s: float) -> float | None:
        """Returns after how long the joints stand [s]; None if they do not within a limit."""
        began_s, before = time.monotonic(), self._loop.state.joints
        while time.monotonic() - began_s < limit_s:
            time.sleep(0.02)
            here = self._loop.state.joints
            if np.abs(here - before).max() < 2e-4:
                return time.monotonic() - began_s
            before = here
        return None


def _error(asked: list[tuple[float, Vector]], got: list[tuple[float, Vector]], lag_s: float) -> float:
    """Returns the mean distance of what was got from what was asked a while before [rad]."""
    times, targets = np.array([at for at, _ in asked]), np.array([joints for _, joints in asked])
    at = np.array([when for when, _ in got]) - lag_s
    wanted = np.stack([np.interp(at, times, column) for column in targets.T], axis=1)
    return float(np.abs(np.array([joints for _, joints in got]) - wanted).mean())


def _rest_text(after: str, rest_s: float | None, moved: float) -> str:
    if rest_s is None:
        return f'{after} it went on moving'
    return f'{after} it stood within {rest_s * 1e3:.0f} ms, and moved by {moved:.4f} rad from then on'


def _found(check: Callable[[], Finding]) -> Finding:
    try:
        return check()
    except CobaltError as error:
        return Finding(check.__name__.strip('_').replace('_', ' '), False, str(error))
    except Exception as error:
        name = check.__name__.strip('_').replace('_', ' ')
        return Finding(name, False, f'the driver failed: {type(error).__name__}: {error}')
