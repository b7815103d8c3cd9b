"""Hostile sequences of commands for clutch and guard together, and what must hold in each tick of them."""

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st

from cobalt_teleop.core.command import Authority, HoldReason, Mode, MotionCommand, Reference
from cobalt_teleop.core.kinematics import Kinematics
from cobalt_teleop.core.limits import PartLimits
from cobalt_teleop.core.part_controller import Measured, PartController
from cobalt_teleop.core.pose import (
    InvalidPoseError,
    Pose,
    angle_between,
    inverse,
    multiply,
    quaternion,
    rotation_vector,
    validate_pose,
)
from cobalt_teleop.kinematics.arm_kinematics import ArmKinematics
from cobalt_teleop.kinematics.robot_description import load_robot
from cobalt_teleop.workcell_host.ideal_plant import GantryKinematics, gantry_limits

PERIOD_S = 0.05

JUMP_M, JUMP_RAD = 1e-3, np.deg2rad(0.1)
"""What may move at engage."""

_SPEED_TOLERANCE = 1e-6
_PLACE_TOLERANCE, _DEPARTURE_TOLERANCE = 1e-8, 1e-5
_ODD_NUMBERS = (float('nan'), float('inf'), -float('inf'), 1e6, -1e9, 1e300, 5e-324, 0.0)


@dataclass(frozen=True)
class Arm:
    """One kind of arm that the guard is tried with."""

    limits: PartLimits
    home: np.ndarray
    make_kinematics: Callable[[], Kinematics]


@functools.cache
def arm(name: str) -> Arm:
    """Returns a gantry whose tool is slower than its joints, one whose joints are slower, or the Panda."""
    if name == 'panda':
        robot = load_robot('franka_panda')
        return Arm(robot.limits, robot.home, functools.partial(ArmKinematics, robot))
    limits = gantry_limits()
    if name == 'slow joints':
        limits = replace(
            limits,
            joint_lower=np.array([-0.3, -0.4, 0.05, -1.0, -1.2, -0.8]),
            joint_upper=np.array([0.3, 0.6, 0.4, 1.0, 1.2, 0.8]),
            joint_speed=np.array([0.2, 0.15, 0.22, 0.8, 0.6, 0.9]),
            joint_acceleration=np.array([1.5, 1.0, 1.8, 5.0, 4.0, 7.0]),
        )
    return Arm(limits, np.array([0.0, 0.0, 0.2, 0.0, 0.0, 0.0]), GantryKinematics)


@dataclass(frozen=True)
class Tick:
    """What reaches the guard in one tick."""

    authority: Authority
    human: MotionCommand | None
    policy: MotionCommand | None
    must_hold: HoldReason = HoldReason.NONE
    go_home: bool = False
    jammed: bool = False


@dataclass(frozen=True)
class Event:
    """Something that an operator, his device, the network or the host does.

    Attributes:
        kind: Name of a method of Operator.
        numbers: Six of -1 to 1, which the kind gives a meaning.
        ticks: How long it lasts.
    """

    kind: str
    numbers: tuple[float, ...]
    ticks: int


class Operator:
    """Turns events into the commands that reach the guard."""

    def __init__(self) -> None:
        self._place, self._quat_xyzw = np.array([0.3, -0.2, 1.1]), quaternion([0.4, 0.2, -0.7])
        self._authority = Authority.HUMAN
        self._epoch, self._sample = 1, 0
        self._command = MotionCommand(
            mode=Mode.POSE, reference=Reference.ENGAGE, pose=None, engaged=True, tracked=True, clutch_epoch=1, age_s=0.0
        )
        self._sent = [self._fresh()]

    def live(self, event: Event) -> Iterator[Tick]:
        """Yields the ticks of an event."""
        for count in range(event.ticks):
            kind = 'glide' if event.kind in _AT_ONCE and count else event.kind
            tick = getattr(self, kind)(np.array(event.numbers))
            yield tick if isinstance(tick, Tick) else self._tick()

    def glide(self, numbers: np.ndarray) -> None:
        """The hand moves by up to 2 cm and 0.1 rad, or the stick stays where it is."""
        if self._command.mode is Mode.TWIST:
            self._send()
        else:
            self._move(0.02 * numbers[:3], 0.1 * numbers[3:])

    def jump(self, numbers: np.ndarray) -> None:
        """The hand moves by up to 8 cm and 1 rad: within the gate or not."""
        self._move(0.08 * numbers[:3], numbers[3:])

    def leap(self, numbers: np.ndarray) -> None:
        """The hand is somewhere else, after so long that the gate lets it pass."""
        self._command = replace(self._command, clutch_epoch=self._epoch)
        self._move(0.19 * numbers[:3], 2.3 * numbers[3:])

    def repeat(self, numbers: np.ndarray) -> None:
        """No sample comes: the last one grows older."""
        self._command = replace(self._command, age_s=self._command.age_s + PERIOD_S)

    def duplicate(self, numbers: np.ndarray) -> None:
        """The last sample comes again."""
        self._sent.append(replace(self._command, sample=self._next_sample(), age_s=0.0))
        self._command = self._sent[-1]

    def reorder(self, numbers: np.ndarray) -> None:
        """An older sample comes late."""
        older = self._sent[-1 - int(abs(numbers[0]) * (len(self._sent) - 1))]
        self._command = replace(older, sample=self._next_sample(), age_s=0.0)

    def old(self, numbers: np.ndarray) -> None:
        """A sample comes late, or its stamp is of another clock."""
        self.glide(numbers)
        self._command = replace(self._command, age_s=_odd(numbers[0]) if numbers[1] > 0.5 else 0.4 * abs(numbers[0]))

    def old_picture(self, numbers: np.ndarray) -> None:
        """The operator sees an old picture."""
        self.glide(numbers)
        self._command = replace(self._command, frame_age_s=2.0 * abs(numbers[0]))

    def untracked(self, numbers: np.ndarray) -> None:
        """The device has lost its pose."""
        self.jump(numbers)
        self._command = replace(self._command, tracked=False)

    def odd_pose(self, numbers: np.ndarray) -> None:
        """Numbers that are no pose, or a far one."""
        values = [float(value) for value in (*self._place, *self._quat_xyzw)]
        values[int(abs(numbers[0]) * 6.99)] = _odd(numbers[1])
        if numbers[2] > 0.5:
            values[3:] = [0.0, 0.0, 0.0, 0.0]
        self._send(pose=_pose(values[:3], values[3:]))

    def turn_sign(self, numbers: np.ndarray) -> None:
        """The same rotation with the other sign."""
        self._quat_xyzw = -self._quat_xyzw
        self._send(pose=Pose(self._place, self._quat_xyzw))

    def twist(self, numbers: np.ndarray) -> None:
        """A rate device, at up to twice the limits."""
        self._take_up(Mode.TWIST, Reference.ENGAGE)
        self._send(twist=numbers * np.repeat([0.5, 2.4], 3))

    def odd_twist(self, numbers: np.ndarray) -> None:
        """A rate device gone mad; the inbox lets nothing beyond 1000 pass."""
        self._take_up(Mode.TWIST, Reference.ENGAGE)
        values = 1e3 * numbers
        values[int(abs(numbers[0]) * 5.99)] = _odd(numbers[1])
        fits = np.isfinite(values).all() and np.abs(values).max() <= 1e3
        self._send(twist=values if fits else None)

    def far(self, numbers: np.ndarray) -> None:
        """A policy or a leader arm asks for any pose at once."""
        self._take_up(Mode.POSE, Reference.ABSOLUTE)
        near = 1.0 if numbers[0] > 0.3 else 0.05
        self._send(
            pose=Pose(self._place + near * numbers[:3], multiply(quaternion(3.0 * near * numbers[3:]), self._quat_xyzw))
        )

    def odd_mode(self, numbers: np.ndarray) -> None:
        """A mode that is not followed, or none at all."""
        self._send(mode=(Mode.JOINT, Mode.TWIST, Mode.POSE, None)[int(abs(numbers[0]) * 3.99)])

    def release(self, numbers: np.ndarray) -> None:
        """The clutch is released."""
        self._send(engaged=False)

    def press(self, numbers: np.ndarray) -> None:
        """A press with the next number, or without one that was sent in between."""
        self._epoch += 1
        self._send(
            mode=Mode.TWIST if numbers[0] > 0.6 else Mode.POSE,
            reference=Reference.ABSOLUTE if numbers[1] > 0.6 else Reference.ENGAGE,
            pose=Pose(self._place, self._quat_xyzw),
            engaged=True,
        )

    def press_again(self, numbers: np.ndarray) -> None:
        """A press whose number was used before."""
        self._epoch = max(0, self._epoch - int(abs(numbers[0]) * 3.0))
        self._send(engaged=True)

    def switch(self, numbers: np.ndarray) -> None:
        """Authority changes hands while commands go on."""
        self._authority = (Authority.HUMAN, Authority.POLICY, Authority.HOLD)[int(abs(numbers[0]) * 2.99)]

    def stop(self, numbers: np.ndarray) -> Tick:
        """An emergency stop."""
        return replace(self._tick(), must_hold=HoldReason.EMERGENCY_STOP)

    def jam(self, numbers: np.ndarray) -> Tick:
        """Something blocks the arm while the hand moves on."""
        self.glide(numbers)
        return replace(self._tick(), jammed=True)

    def home(self, numbers: np.ndarray) -> Tick:
        """The way home."""
        return replace(self._tick(), authority=Authority.HOMING, go_home=True)

    def _take_up(self, mode: Mode, reference: Reference) -> None:
        """Presses the clutch of another device, unless it is the one in hand."""
        if (self._command.mode, self._command.reference) != (mode, reference):
            self._epoch += 1
            self._send(mode=mode, reference=reference, engaged=True)

    def _move(self, way: np.ndarray, turn: np.ndarray) -> None:
        self._place = self._place + way
        self._quat_xyzw = multiply(quaternion(turn), self._quat_xyzw)
        self._quat_xyzw /= np.linalg.norm(self._quat_xyzw)
        self._send(pose=Pose(self._place, self._quat_xyzw))

    def _send(self, **changes: object) -> None:
        self._command = replace(self._fresh(), **changes)
        self._sent.append(self._command)

    def _fresh(self) -> MotionCommand:
        return replace(
            self._command,
            pose=Pose(self._place, self._quat_xyzw),
            tracked=True,
            clutch_epoch=self._epoch,
            sample=self._next_sample(),
            age_s=0.0,
            frame_age_s=0.0,
        )

    def _next_sample(self) -> int:
        self._sample += 1
        return self._sample

    def _tick(self) -> Tick:
        return Tick(self._authority, self._command, self._command)


def _odd(number: float) -> float:
    return _ODD_NUMBERS[int(abs(number) * (len(_ODD_NUMBERS) - 0.01))]


def _pose(position: object, quat_xyzw: object) -> Pose | None:
    try:
        return validate_pose(position, quat_xyzw)
    except InvalidPoseError:
        return None


_OFTEN = (*('glide',) * 8, *('press',) * 5, *('twist', 'far') * 3, 'jump', 'leap', 'release', 'repeat')
_SELDOM = (
    *('duplicate', 'reorder', 'old', 'old_picture', 'untracked', 'odd_pose', 'turn_sign', 'odd_twist', 'odd_mode'),
    *('press_again', 'switch', 'stop', 'home', 'jam', 'jam'),
)
_AT_ONCE = ('jump', 'leap', 'release', 'press', 'press_again', 'switch')
"""What lasts no longer than a tick: the hand glides on."""


def _event(drawn: bytes) -> Event:
    kinds = _OFTEN + _SELDOM
    return Event(kinds[drawn[0] % len(kinds)], _numbers(drawn[2:]), 1 + drawn[1] % 5)


def _numbers(drawn: bytes) -> tuple[float, ...]:
    """Returns -1 to 1 for each byte; 0 for 0."""
    return tuple(((value + 128) % 256 - 128) / 128 for value in drawn)


# Drawn as bytes, which is several times as fast as drawing numbers.
EVENTS = st.lists(st.binary(min_size=8, max_size=8).map(_event), min_size=1, max_size=10)
"""What happens after the first press."""

STARTS = st.tuples(st.binary(min_size=6, max_size=6).map(_numbers), st.booleans())
"""Where the joints are at the start, as shares of their ranges, and whether one of them is outside."""


class GuardRun:
    """Runs the guard of an arm that follows its targets at once, or a tick late, and checks each tick."""

    def __init__(self, made: Arm, start: tuple[tuple[float, ...], bool], *, late: bool) -> None:
        self._arm, self._late = made, late
        self._kinematics = made.make_kinematics()
        limits = made.limits
        shares = np.resize(start[0], made.home.size)
        room = np.where(shares > 0.0, limits.joint_upper - made.home, made.home - limits.joint_lower)
        self._joints = made.home + 0.4 * shares * np.minimum(room, 1.0)
        if start[1]:
            joint = int(abs(start[0][0]) * (made.home.size - 0.01))
            self._joints[joint] = limits.joint_upper[joint] + 0.1 * abs(start[0][1])
        self._measured = self._joints.copy()
        self._controller = PartController(limits=limits, kinematics=self._kinematics, home=made.home, period_s=PERIOD_S)
        measured = self._measure()
        self._controller.start_from(measured)
        self._target = measured.pose
        self._velocity = self._turning = np.zeros(3)
        self._joint_velocity = np.zeros(made.home.size)
        self._on_the_way_home = False
        self.moved_m = 0.0
        """Way of the tool so far: of a run in which nothing moves nothing is learnt."""

    @property
    def at_rest(self) -> bool:
        """Whether joints and tool stood still in the last tick."""
        return not (self._joint_velocity.any() or self._velocity.any() or self._turning.any())

    def tick(self, tick: Tick) -> None:
        """Lives through a tick and checks what the guard decides.

        Raises:
            AssertionError: It breaks a promise.
        """
        measured = self._measure()
        self._strays = not np.array_equal(measured.joints, self._joints)
        if tick.go_home and not self._controller.homing:
            self._controller.start_homing(measured, 0.5)
            self._on_the_way_home = True
        decision = self._controller.step(
            measured=measured,
            authority=tick.authority,
            human=tick.human,
            policy=tick.policy,
            must_hold=tick.must_hold,
        )
        engaged_now = decision.authority in (Authority.HUMAN, Authority.POLICY) and decision.anchor is measured.pose
        target, joints = decision.target, decision.joint_targets
        assert np.isfinite([*target.position, *target.quat_xyzw, *joints, *decision.joint_velocities]).all()
        if engaged_now:
            self._check_engage(measured, target, joints)
        velocity = (target.position - self._target.position) / PERIOD_S
        turning = rotation_vector(multiply(target.quat_xyzw, inverse(self._target.quat_xyzw))) / PERIOD_S
        joint_velocity = (joints - self._joints) / PERIOD_S
        lets_go = decision.authority is Authority.HOLD and np.array_equal(joints, measured.joints)
        self._check_error(joints - measured.joints)
        # These start anew from what is measured, which in an arm that is late is not where its targets are.
        starts_anew = lets_go or (self._strays and (engaged_now or self._on_the_way_home))
        if not starts_anew:
            self._check_joints(joints, joint_velocity)
        if not starts_anew and not engaged_now:
            self._check_tool(target, velocity, turning)
        if engaged_now or lets_go:
            velocity, turning, joint_velocity = np.zeros(3), np.zeros(3), np.zeros(joints.size)
        self._on_the_way_home &= decision.authority is Authority.HOMING or bool(joint_velocity.any())
        self.moved_m += float(np.linalg.norm(velocity)) * PERIOD_S
        if not tick.jammed:
            self._measured = self._joints.copy() if self._late else joints.copy()
        self._target, self._velocity, self._turning = target, velocity, turning
        self._joints, self._joint_velocity = joints.copy(), joint_velocity

    def _measure(self) -> Measured:
        return Measured(pose=self._kinematics.forward(self._measured), joints=self._measured.copy(), gripper=1.0)

    def _check_engage(self, measured: Measured, target: Pose, joints: np.ndarray) -> None:
        assert np.linalg.norm(target.position - measured.pose.position) <= JUMP_M
        assert angle_between(target.quat_xyzw, measured.pose.quat_xyzw) <= JUMP_RAD
        reached = self._kinematics.forward(joints)
        assert np.linalg.norm(reached.position - measured.pose.position) <= JUMP_M
        assert angle_between(reached.quat_xyzw, measured.pose.quat_xyzw) <= JUMP_RAD
        if not self._strays and not self._on_the_way_home:
            limits = self._arm.limits
            assert np.linalg.norm(self._velocity) <= limits.linear_acceleration * PERIOD_S + _SPEED_TOLERANCE
            assert np.linalg.norm(self._turning) <= limits.angular_acceleration * PERIOD_S + _SPEED_TOLERANCE
        if not self._strays:
            assert np.linalg.norm(target.position - self._target.position) <= JUMP_M
            assert angle_between(target.quat_xyzw, self._target.quat_xyzw) <= JUMP_RAD

    def _check_error(self, error: np.ndarray) -> None:
        """The targets of a blocked arm get no further away."""
        limits = self._arm.limits
        steps = limits.joint_speed * PERIOD_S + _PLACE_TOLERANCE
        assert np.all(np.abs(error) <= limits.following_error + steps)

    def _check_joints(self, joints: np.ndarray, velocity: np.ndarray) -> None:
        limits = self._arm.limits
        assert np.all(np.abs(velocity) <= limits.joint_speed + _SPEED_TOLERANCE)
        change = np.abs(velocity - self._joint_velocity) / PERIOD_S
        assert np.all(change <= limits.joint_acceleration + _SPEED_TOLERANCE / PERIOD_S)
        margin = 0.0 if self._on_the_way_home else limits.joint_margin
        assert np.all(joints >= np.minimum(limits.joint_lower + margin, self._joints) - _PLACE_TOLERANCE)
        assert np.all(joints <= np.maximum(limits.joint_upper - margin, self._joints) + _PLACE_TOLERANCE)

    def _check_tool(self, target: Pose, velocity: np.ndarray, turning: np.ndarray) -> None:
        limits, before = self._arm.limits, self._target.position
        # The way home starts from where the joints bring the tool, which is not to the last digit where its target was.
        tolerance = _DEPARTURE_TOLERANCE if self._on_the_way_home else _PLACE_TOLERANCE
        assert np.all(target.position >= np.minimum(limits.workspace_min, before) - tolerance)
        assert np.all(target.position <= np.maximum(limits.workspace_max, before) + tolerance)
        assert np.linalg.norm(velocity) <= limits.linear_speed + _SPEED_TOLERANCE
        assert np.linalg.norm(turning) <= limits.angular_speed + _SPEED_TOLERANCE
        slack = _SPEED_TOLERANCE / PERIOD_S
        assert np.linalg.norm(velocity - self._velocity) / PERIOD_S <= limits.linear_acceleration + slack
        assert np.linalg.norm(turning - self._turning) / PERIOD_S <= limits.angular_acceleration + slack


def run(name: str, start: tuple[tuple[float, ...], bool], events: list[Event], *, late: bool) -> GuardRun:
    """Lives through a sequence, and then through a release until the arm must be at rest."""
    guard, operator = GuardRun(arm(name), start, late=late), Operator()
    for event in (Event('press', (0.0,) * 6, 1), *events, Event('release', (0.0,) * 6, 8)):
        for tick in operator.live(event):
            guard.tick(tick)
    assert guard.at_rest
    return guard
