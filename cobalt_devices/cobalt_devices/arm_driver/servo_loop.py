"""The thread that talks to a driver, at the driver's rate, between the ticks of its host."""

import contextlib
import threading
import time
from collections import deque
from dataclasses import dataclass

import numpy as np

from cobalt_devices.arm_driver.driver import Driver, DriverError, DriverState
from cobalt_devices.arm_driver.servo_path import ServoPath
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.pose import Vector

_CONNECT_AGAIN_S = 1.0
_KEPT_PERIODS = 5000

_STALE_S = 0.2
"""A measurement older than this is none to move by [s]."""

_JUMP_SPEEDS, _JUMP_RAD = 3.0, 0.05
"""A joint that goes further than this many times its largest speed, and by this more [rad], was measured wrongly."""


@dataclass(frozen=True)
class ServoTiming:
    """How evenly the loop ran lately.

    Attributes:
        period_jitter_p99_ms: Distance of its periods from the even one [ms].
        late_share: Share of periods, since the start, that were left out as the one before took too long.
    """

    period_jitter_p99_ms: float
    late_share: float


@dataclass(frozen=True)
class _Aim:
    target: Vector
    velocity: Vector | None


class ServoLoop:
    """Streams set points to a driver, and keeps what it measures.

    What it does not know it does not move: a fault, a stale measurement, or an arm that is lost pauses the set points,
    and they begin anew, at rest, where the arm is measured.

    Args:
        driver: Called from this loop's thread alone, but for `stop`.
        path: Of its set points.
        period_s: Of the set points [s].
    """

    def __init__(self, driver: Driver, path: ServoPath, *, period_s: float) -> None:
        self._driver = driver
        self._path = path
        self._period_s = period_s
        self._lock = threading.Lock()
        self._aim: _Aim | None = None
        self._opening: float | None = None
        self._gripped: float | None = None
        self._stopped = False
        self._recover = False
        self._streams = False
        self._state: DriverState | None = None
        self._trouble = 'the arm is not connected yet'
        self._jumped = ''
        self._periods: deque[float] = deque(maxlen=_KEPT_PERIODS)
        self._turns = self._overruns = 0
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name='servo', daemon=True)

    def start(self) -> DriverState:
        """Connects and begins; returns the first measurement.

        Raises:
            DriverError: The arm cannot be reached.
        """
        self._driver.connect()
        state = self._look()
        self._thread.start()
        return state

    @property
    def state(self) -> DriverState:
        """The newest measurement."""
        assert self._state is not None, 'start comes first'
        return self._state

    @property
    def faults(self) -> tuple[str, ...]:
        """Why it does not move, in words; empty if it may."""
        return tuple(text for text in (self._trouble, self._jumped) if text) + self.state.faults

    @property
    def timing(self) -> ServoTiming:
        """How evenly it ran lately."""
        periods = np.array(self._periods)
        jitter = np.abs(periods - self._period_s)
        jitter_ms = float(np.percentile(jitter, 99)) * 1e3 if jitter.size else 0.0
        return ServoTiming(jitter_ms, self._overruns / max(1, self._overruns + self._turns))

    def aim(self, target: Vector, velocity: Vector | None, opening: float) -> None:
        """Takes a tick's (n,) target [rad], (n,) speed to go on at [rad/s], and gripper, 0 closed to 1 open.

        The first one after `stop` makes the arm ready again. While it does not move, targets are for nothing.
        """
        with self._lock:
            if self._stopped:
                self._stopped, self._recover = False, True
            if not self.faults:
                self._aim = _Aim(np.array(target, dtype=float), velocity)
                self._opening = opening

    def stop(self) -> None:
        """Stops the arm at once, whatever the loop is doing, and until the next aim."""
        with self._lock:
            self._stopped, self._aim = True, None
        self._driver.stop()

    def close(self) -> None:
        """Ends the loop, with the arm at rest."""
        self._ending.set()
        if self._thread.is_alive():
            self._thread.join(timeout=2.0)
        self._driver.close()

    def _run(self) -> None:
        due_s = time.monotonic()
        began_s = due_s
        while not self._ending.is_set():
            self._turn()
            due_s += self._period_s
            now_s = time.monotonic()
            if now_s > due_s + self._period_s:
                missed = int((now_s - due_s) / self._period_s)
                self._overruns += missed
                due_s += missed * self._period_s
            if due_s > now_s:
                time.sleep(due_s - now_s)
            now_s = time.monotonic()
            self._turns += 1
            self._periods.append(now_s - began_s)
            began_s = now_s
        with contextlib.suppress(Exception):
            self._pause()

    def _turn(self) -> None:
        try:
            if self._recover:
                self._driver.recover()
                self._recover, self._jumped = False, ''
                self._pause()
            state = self._look()
            if self._may_move(state):
                self._move(state)
            else:
                self._pause()
        except Exception as error:
            self._lose(error)

    def _look(self) -> DriverState:
        state = self._driver.read()
        if not (np.isfinite(state.joints).all() and np.isfinite(state.velocities).all()):
            raise DriverError('the driver measured numbers that are none; is the arm on?')
        age_s = (time.time_ns() - state.stamp_ns) * 1e-9
        self._trouble = f'the arm has told nothing for {age_s:.1f} s' if age_s > _STALE_S else ''
        if self._state is not None:
            self._watch_for_jump(self._state, state)
        self._state = state
        return state

    def _watch_for_jump(self, before: DriverState, state: DriverState) -> None:
        """Sees encoders that jump: who followed them would drive the arm to where it never was."""
        elapsed_s = (state.stamp_ns - before.stamp_ns) * 1e-9
        if elapsed_s <= 0.0:
            return
        jumps = np.abs(state.joints - before.joints) - _JUMP_SPEEDS * self._path.joint_speed * elapsed_s
        worst = int(np.argmax(jumps))
        if jumps[worst] > _JUMP_RAD:
            self._jumped = (
                f'joint {worst + 1} was measured to jump by {abs(state.joints[worst] - before.joints[worst]):.2f} rad: '
                'look at the arm, stop it, and release the stop'
            )

    def _may_move(self, state: DriverState) -> bool:
        return not (self._trouble or self._jumped or state.faults or self._stopped)

    def _move(self, state: DriverState) -> None:
        with self._lock:
            aim, self._aim = self._aim, None
            opening = self._opening
        if aim is None and not self._streams:
            return
        if not self._streams:
            # Whatever was aimed at before belongs to another place; the guard sees where the arm is, and aims anew.
            self._path.start_from(state.joints)
            self._streams = True
        if aim is not None:
            self._path.aim(aim.target, aim.velocity)
        point = self._path.next()
        self._driver.command(point.joints, point.velocities)
        if opening is not None and opening != self._gripped:
            self._driver.grip(opening)
            self._gripped = opening

    def _pause(self) -> None:
        with self._lock:
            self._aim = None
        if self._streams:
            self._streams = False
            if not self._stopped:
                self._driver.hold()

    def _lose(self, error: Exception) -> None:
        """Says what happened and connects anew, as long as it takes."""
        self._streams, self._gripped = False, None
        text = str(error) if isinstance(error, CobaltError) else f'the driver failed: {type(error).__name__}: {error}'
        with self._lock:
            self._aim = None
        self._trouble = text
        if self._ending.wait(_CONNECT_AGAIN_S):
            return
        try:
            self._driver.connect()
        except Exception as again:
            self._trouble = f'{text}; connecting anew: {again}'
