"""The driver of UFACTORY's arms: the unmodified xArm-Python-SDK, against a double of the control box."""

import itertools
import time

import numpy as np
import pytest
from driver_runs import moved, until
from xarm_double import MOTION_EN, SERVO_MODE, SET_MODE, SET_STATE, STOPPED, XArmDouble

from cobalt_devices.arm_driver.driver import DriverContext, DriverError
from cobalt_devices.drivers import vendor_library
from cobalt_devices.drivers.xarm import XArmDriver
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.kinematics.robot_description import load_robot

ROBOT = load_robot('franka_panda')  # seven joints, as an xArm 7
HOME = np.array([0.0, -0.7, 0.0, 0.9, 0.0, 1.2, 0.0])
ADDRESSES = (f'127.0.31.{n}' for n in itertools.count(1))


@pytest.fixture(scope='module')
def arm():
    double = XArmDouble(next(ADDRESSES), HOME)
    yield double
    double.close()


@pytest.fixture(scope='module')
def driver(arm):
    """A connected driver; each test leaves it connected, with the arm at rest."""
    made = made_driver(arm)
    made.connect()
    yield made
    made.close()


@pytest.fixture
def other_arm():
    double = XArmDouble(next(ADDRESSES), HOME)
    yield double
    double.close()


def made_driver(arm, robot=ROBOT, *, shadow=False, **options):
    return XArmDriver(DriverContext(robot=robot, options={'host': arm.address} | options, node=None, shadow=shadow))


def test_connecting_enables_servo_mode_and_moves_nothing(arm, driver):
    assert arm.asked == [(MOTION_EN, (8, 1)), (SET_MODE, (SERVO_MODE, 0)), (SET_STATE, (0,))]
    state = driver.read()
    assert np.allclose(state.joints, HOME) and np.allclose(state.efforts, np.arange(7.0))
    assert arm.set_points == []


def test_measurements_are_fresh(driver):
    time.sleep(0.1)
    assert 0.0 <= (time.time_ns() - driver.read().stamp_ns) * 1e-9 < 0.1


def test_the_arm_goes_where_set_points_lead_and_stands_without_any(arm, driver):
    target = moved(driver)
    until(lambda: np.allclose(driver.read().joints, target, atol=1e-3))
    assert len(arm.set_points) > 10
    driver.hold()
    time.sleep(0.2)
    assert np.allclose(driver.read().joints, target, atol=1e-3)


def test_a_stop_is_kept_until_it_is_recovered(arm, driver):
    moved(driver)
    driver.stop()
    until(lambda: arm.state == STOPPED)
    until(lambda: driver.read().faults and 'is stopped' in driver.read().faults[0])
    rest = arm.joints.copy()
    driver.command(rest + 0.5, np.zeros(7))
    time.sleep(0.1)
    assert np.array_equal(arm.joints, rest)
    driver.recover()
    until(lambda: driver.read().faults == ())
    assert np.array_equal(arm.joints, rest)
    target = moved(driver, by=-0.1)
    until(lambda: np.allclose(driver.read().joints, target, atol=1e-3))


def test_an_error_is_a_fault_in_words_until_it_is_cleared(arm, driver):
    arm.fail(31)
    until(lambda: driver.read().faults)
    assert driver.read().faults[0].startswith('error 31 of the control box: Collision')
    driver.recover()
    until(lambda: driver.read().faults == ())


def test_a_silent_arm_is_lost_and_found_again(arm, driver):
    arm.silent = True
    with pytest.raises(DriverError, match='does not answer any more'):
        until(lambda: driver.read() is None)
    arm.silent = False
    driver.connect()
    until(lambda: driver.read().faults == ())


def test_a_cut_connection_is_noticed_and_mended(arm, driver):
    arm.cut()
    with pytest.raises(DriverError):
        until(lambda: driver.read() is None)
    with pytest.raises(DriverError, match='is it on'):
        driver.connect()
    arm.listen()
    driver.connect()
    assert np.allclose(driver.read().joints, arm.joints)


def test_an_error_is_not_cleared_by_connecting(other_arm):
    other_arm.fail(22)
    driver = made_driver(other_arm)
    driver.connect()
    until(lambda: driver.read().faults)
    assert other_arm.error == 22 and not other_arm.enabled
    driver.recover()
    until(lambda: driver.read().faults == ())
    driver.close()


def test_looking_on_leaves_the_arm_alone(other_arm):
    driver = made_driver(other_arm, shadow=True)
    driver.connect()
    assert other_arm.asked == [] and driver.read().faults == ()
    driver.close()


def test_another_number_of_joints_is_refused(other_arm):
    with pytest.raises(DriverError, match='has 7 joints'):
        made_driver(other_arm, load_robot('ur5e')).connect()


def test_what_is_missing_is_named(monkeypatch):
    with pytest.raises(CobaltError, match='host'):
        XArmDriver(DriverContext(robot=ROBOT, options={}, node=None))
    monkeypatch.setattr(vendor_library, 'find_spec', lambda _: None)
    with pytest.raises(CobaltError, match=r"pip install 'xarm-python-sdk==1\.18\.4'"):
        XArmDriver(DriverContext(robot=ROBOT, options={'host': '127.0.0.1'}, node=None))
