"""The thread that talks to a driver: what it does not know it does not move."""

import threading
import time

import numpy as np
import pytest
from driver_runs import until

from cobalt_devices.arm_driver.driver import DriverCapabilities, DriverError, DriverState
from cobalt_devices.arm_driver.servo_loop import ServoLoop
from cobalt_devices.arm_driver.servo_path import ServoPath
from cobalt_teleop.kinematics.robot_description import load_robot

ROBOT = load_robot('franka_panda')
PERIOD_S = 0.004


class BrokenArm:
    """A driver of an arm that goes where it is told, and breaks as a test says."""

    capabilities = DriverCapabilities(title='broken arm', rate_hz=1.0 / PERIOD_S)

    def __init__(self):
        self.joints = np.array(ROBOT.home)
        self.sent, self.grips, self.calls = [], [], []
        self.faults, self.lost, self.age_s, self.odd = (), '', 0.0, False

    def connect(self):
        self.calls.append('connect')
        if self.lost:
            raise DriverError(self.lost)

    def read(self):
        if self.lost:
            raise DriverError(self.lost)
        joints = self.joints * np.nan if self.odd else self.joints.copy()
        stamp_ns = time.time_ns() - round(self.age_s * 1e9)
        return DriverState(
            stamp_ns=stamp_ns, joints=joints, velocities=np.zeros(7), efforts=np.zeros(7), faults=self.faults
        )

    def command(self, joints, velocities):
        self.sent.append(joints)
        self.joints = joints.copy()

    def grip(self, opening):
        self.grips.append(opening)

    def hold(self):
        self.calls.append('hold')

    def stop(self):
        self.calls.append('stop')

    def recover(self):
        self.calls.append('recover')

    def close(self):
        self.calls.append('close')


@pytest.fixture
def arm():
    return BrokenArm()


@pytest.fixture
def loop(arm):
    path = ServoPath(ROBOT.limits, period_s=PERIOD_S, tick_s=0.05)
    loop = ServoLoop(arm, path, period_s=PERIOD_S)
    loop.start()
    yield loop
    loop.close()


class Ticking:
    """Aims 20 times a second at a place that moves away."""

    def __init__(self, loop, way=0.2):
        self.loop, self.way, self.end = loop, way, threading.Event()
        self.start_joints = loop.state.joints.copy()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        began = time.monotonic()
        while not self.end.wait(0.05):
            away = self.way * min(1.0, time.monotonic() - began)
            self.loop.aim(self.start_joints + away, np.zeros(7), 0.5)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.end.set()
        self.thread.join()


def test_nothing_is_sent_before_somebody_aims(loop, arm):
    time.sleep(0.2)
    assert not arm.sent and not loop.faults


def test_set_points_begin_where_the_arm_is_and_lead_to_the_target(loop, arm):
    with Ticking(loop):
        until(lambda: np.abs(arm.joints - ROBOT.home - 0.2).max() < 1e-3)
    assert np.abs(arm.sent[0] - ROBOT.home).max() < 1e-3
    assert np.abs(np.diff(arm.sent, axis=0)).max() <= ROBOT.limits.joint_speed.max() * PERIOD_S * 1.001
    assert arm.grips == [0.5]


@pytest.mark.parametrize(
    ('breaks', 'mends', 'words'),
    [
        ({'faults': ('protective stop',)}, {'faults': ()}, 'protective stop'),
        ({'age_s': 1.0}, {'age_s': 0.0}, 'has told nothing for 1.0 s'),
        ({'lost': 'the cable is out'}, {'lost': ''}, 'the cable is out'),
        ({'odd': True}, {'odd': False}, 'numbers that are none'),
    ],
)
def test_a_fault_pauses_the_set_points_and_they_begin_anew_where_the_arm_then_is(loop, arm, breaks, mends, words):
    with Ticking(loop):
        until(lambda: len(arm.sent) > 20)
        vars(arm).update(breaks)
        until(lambda: loop.faults)
        assert words in ' '.join(loop.faults)
        time.sleep(0.1)
        count = len(arm.sent)
        arm.joints = arm.joints - 0.04  # somebody moved it meanwhile
        moved_to = arm.joints.copy()
        time.sleep(0.1)
        assert len(arm.sent) == count
    vars(arm).update(mends)
    until(lambda: not loop.faults)
    time.sleep(0.05)
    assert len(arm.sent) == count, 'a target of before the fault moves nothing'
    loop.aim(arm.joints.copy(), np.zeros(7), 0.5)
    until(lambda: len(arm.sent) > count)
    assert np.abs(arm.sent[count] - moved_to).max() < 1e-6


def test_a_stop_reaches_the_driver_at_once_and_the_next_aim_makes_it_ready_again(loop, arm):
    with Ticking(loop):
        until(lambda: len(arm.sent) > 20)
    loop.stop()
    assert arm.calls[-1] == 'stop'
    time.sleep(0.05)
    count = len(arm.sent)
    time.sleep(0.1)
    assert len(arm.sent) == count
    with Ticking(loop):
        until(lambda: len(arm.sent) > count)
    assert arm.calls[-1] == 'recover'


def test_encoders_that_jump_are_not_followed_until_a_person_has_looked(loop, arm):
    with Ticking(loop):
        until(lambda: len(arm.sent) > 20)
        arm.joints = arm.joints + np.array([0.0, 0.0, 0.2, 0.0, 0.0, 0.0, 0.0])
        until(lambda: loop.faults)
        assert 'joint 3 was measured to jump by 0.2' in loop.faults[0]
        time.sleep(0.05)
        count = len(arm.sent)
        time.sleep(0.2)
        assert len(arm.sent) == count
        loop.stop()
    with Ticking(loop):
        until(lambda: len(arm.sent) > count)
    assert not loop.faults


def test_when_nobody_aims_any_more_the_set_points_come_to_rest(loop, arm):
    with Ticking(loop, way=1.0):
        until(lambda: len(arm.sent) > 100)
    until(lambda: np.all(np.array(arm.sent[-5:]) == arm.sent[-1]))


def test_an_arm_that_cannot_be_reached_is_refused_at_the_start(arm):
    arm.lost = 'no route to 192.0.2.1'
    loop = ServoLoop(arm, ServoPath(ROBOT.limits, period_s=PERIOD_S, tick_s=0.05), period_s=PERIOD_S)
    with pytest.raises(DriverError, match='no route'):
        loop.start()


def test_closing_leaves_the_driver_closed(arm):
    loop = ServoLoop(arm, ServoPath(ROBOT.limits, period_s=PERIOD_S, tick_s=0.05), period_s=PERIOD_S)
    loop.start()
    loop.close()
    assert arm.calls[-1] == 'close'
