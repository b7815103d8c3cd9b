"""The driver of Universal Robots: the unmodified library ur_rtde, against a double of the controller's protocols."""

import itertools
import os
import signal
import sys
import time

import numpy as np
import pytest
from driver_runs import moved, until
from ur_double import PLAYING, PROTECTIVE_STOP, UrDouble

from cobalt_devices.arm_driver.driver import DriverContext, DriverError
from cobalt_devices.drivers import vendor_library
from cobalt_devices.drivers.ur_rtde import UrRtdeDriver
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.kinematics.robot_description import load_robot

pytestmark = pytest.mark.skipif(sys.version_info >= (3, 13), reason='ur_rtde 1.6.5 has no wheel for this Python')

ROBOT = load_robot('ur5e')
HOME = np.array(ROBOT.home)
BASE = np.array([0.1, 0.0, 0.0, 0.0, 0.0, 0.0])  # the first joint alone is moved
ADDRESSES = (f'127.0.30.{n}' for n in itertools.count(1))


@pytest.fixture(scope='module')
def arm():
    double = UrDouble(next(ADDRESSES), HOME)
    yield double
    double.close()


@pytest.fixture(scope='module')
def driver(arm):
    """A connected driver; each test leaves it connected, with the arm at rest."""
    made = made_driver(arm, gripper='robotiq')
    made.connect()
    until(lambda: not made.read().faults)
    yield made
    made.close()


@pytest.fixture
def other_arm():
    double = UrDouble(next(ADDRESSES), HOME)
    yield double
    double.close()


def made_driver(arm, *, shadow=False, **options):
    return UrRtdeDriver(DriverContext(robot=ROBOT, options={'host': arm.address} | options, node=None, shadow=shadow))


def test_connecting_uploads_the_control_program_and_moves_nothing(arm, driver):
    assert arm.runtime == PLAYING and len(arm.scripts) == 1
    state = driver.read()
    assert np.array_equal(state.joints, HOME) and np.array_equal(state.velocities, np.zeros(6))
    assert arm.set_points == []


def test_measurements_are_fresh(driver):
    time.sleep(0.1)
    assert 0.0 <= (time.time_ns() - driver.read().stamp_ns) * 1e-9 < 0.05


def test_the_arm_goes_where_set_points_lead(arm, driver):
    target = moved(driver, BASE)
    until(lambda: np.allclose(driver.read().joints, target, atol=1e-3))
    assert len(arm.set_points) > 20
    period_s, lookahead_s, gain = arm.set_points[-1][2]
    assert (period_s, lookahead_s, gain) == pytest.approx((1 / 250, 0.1, 300.0))


@pytest.mark.parametrize(('opening', 'position'), [(0.0, 255), (1.0, 0)])
def test_the_gripper_opens_and_closes(arm, driver, opening, position):
    driver.grip(opening)
    until(lambda: driver.read().gripper == pytest.approx(opening, abs=0.01))
    assert round(arm.fingers) == pytest.approx(position, abs=2)


def test_a_gripper_that_is_not_activated_is_told_and_moves_nothing(arm, driver):
    arm.fingers_active = False
    until(lambda: driver.read().faults and 'activate it' in driver.read().faults[0])
    driver.grip(0.5)
    time.sleep(0.15)
    assert arm.fingers == arm.fingers_target == 0.0
    driver.grip(1.0)
    arm.fingers_active = True
    until(lambda: driver.read().faults == ())


def test_a_hold_leaves_the_arm_at_rest(arm, driver):
    moved(driver, BASE)
    driver.hold()
    until(lambda: not arm.servoing)
    rest = arm.joints.copy()
    time.sleep(0.2)
    assert np.array_equal(arm.joints, rest)


def test_stop_ends_the_program_at_once_and_recover_starts_it(arm, driver):
    moved(driver, BASE)
    began = time.monotonic()
    driver.stop()
    assert time.monotonic() - began < 0.2 and arm.runtime != PLAYING
    until(lambda: driver.read().faults and 'control program' in driver.read().faults[0])
    before = arm.joints.copy()
    driver.command(before + 0.5, np.zeros(6))
    time.sleep(0.1)
    assert np.array_equal(arm.joints, before)
    driver.recover()
    until(lambda: driver.read().faults == ())
    target = moved(driver, BASE)
    until(lambda: np.allclose(driver.read().joints, target, atol=1e-3))


def test_a_protective_stop_is_a_fault_until_it_is_released(arm, driver):
    arm.protective_stop()
    until(lambda: driver.read().faults == ('protective stop',))
    driver.recover()
    assert 'unlock protective stop' in arm.asked and arm.safety_mode != PROTECTIVE_STOP
    until(lambda: driver.read().faults == ())


def test_an_arm_that_stands_in_a_protective_stop_can_be_connected(other_arm):
    other_arm.protective_stop()
    driver = made_driver(other_arm)
    driver.connect()
    assert driver.read().faults == ('protective stop',)
    driver.recover()
    until(lambda: driver.read().faults == ())
    driver.close()


def test_a_silent_arm_is_lost_and_found_again(arm, driver):
    moved(driver, BASE)
    arm.silent = True
    with pytest.raises(DriverError, match='told nothing'):
        until(lambda: driver.read() is None)
    arm.silent = False
    driver.connect()
    until(lambda: driver.read().faults == ())


def test_a_cut_connection_is_noticed_and_mended(arm, driver):
    arm.cut()
    with pytest.raises(DriverError):
        until(lambda: driver.read() is None)
    driver.stop()
    with pytest.raises(DriverError, match='emergency stop at the robot'):
        driver.read()
    with pytest.raises(DriverError, match='is it on'):
        driver.connect()
    arm.listen_all()
    driver.connect()
    assert np.allclose(driver.read().joints, arm.joints)
    driver.recover()


def test_a_library_that_dies_is_told_and_started_anew(driver):
    os.kill(driver._process._process.pid, signal.SIGKILL)
    with pytest.raises(DriverError, match='SIGKILL'):
        until(lambda: driver.read() is None)
    driver.connect()
    until(lambda: driver.read().faults == ())


def test_the_stop_needs_no_library(arm, driver):
    moved(driver, BASE)
    os.kill(driver._process._process.pid, signal.SIGSTOP)
    driver.stop()
    assert arm.runtime != PLAYING
    os.kill(driver._process._process.pid, signal.SIGCONT)
    driver.recover()


def test_local_control_is_told(other_arm):
    other_arm.remote = False
    with pytest.raises(DriverError, match='remote control'):
        made_driver(other_arm).connect()


def test_looking_on_leaves_the_program_of_others_alone(other_arm):
    driver = made_driver(other_arm, shadow=True)
    driver.connect()
    assert other_arm.scripts == [] and driver.read().faults == ()
    driver.close()


def test_closing_leaves_the_arm_at_rest_and_twice_does_no_harm(arm, driver):
    moved(driver, BASE)
    driver.close()
    driver.close()
    until(lambda: not arm.servoing)
    with pytest.raises(DriverError, match='not connected'):
        driver.read()


def test_a_library_that_is_absent_is_named_with_the_line_that_installs_it(monkeypatch):
    monkeypatch.setattr(vendor_library, 'find_spec', lambda _: None)
    with pytest.raises(CobaltError, match=r"pip install 'ur_rtde==1\.6\.5'"):
        UrRtdeDriver(DriverContext(robot=ROBOT, options={'host': '127.0.0.1'}, node=None))


def test_an_address_is_needed():
    with pytest.raises(CobaltError, match='host'):
        UrRtdeDriver(DriverContext(robot=ROBOT, options={}, node=None))
