"""The driver of Feetech bus servos: the unmodified feetech-servo-sdk, against a double on a pseudo-terminal."""

import math
import os
import time
from dataclasses import replace

import numpy as np
import pytest
from driver_runs import moved, until
from feetech_double import FeetechDouble

from cobalt_devices.arm_driver.driver import DriverContext, DriverError
from cobalt_devices.drivers import vendor_library
from cobalt_devices.drivers.so101 import So101Driver
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.kinematics.robot_description import load_robot

UR5E = load_robot('ur5e')
ROBOT = replace(UR5E, name='so101', joints=('pan', 'lift', 'elbow', 'wrist', 'roll'), home=np.zeros(5))
ZEROS = (2048, 2000, 2100, 2048, 1000)
DIRECTIONS = (1, -1, 1, -1, 1)
TICK = 2 * math.pi / 4096
START = dict(zip(range(1, 7), (2148, 1900, 2100, 2048, 1100, 2560), strict=True))


@pytest.fixture(scope='module')
def arm():
    double = FeetechDouble(START)
    yield double
    double.close()


@pytest.fixture(scope='module')
def driver(arm):
    """A connected driver; each test leaves it connected, without faults."""
    made = made_driver(arm)
    made.connect()
    yield made
    made.close()


@pytest.fixture
def other_arm():
    double = FeetechDouble(START)
    yield double
    double.close()


def made_driver(arm, *, shadow=False, **options):
    options = {
        'port': arm.port,
        'zeros': [str(zero) for zero in ZEROS],
        'directions': [str(direction) for direction in DIRECTIONS],
        'stall_torque': 3.0,
    } | options
    return So101Driver(DriverContext(robot=ROBOT, options=options, node=None, shadow=shadow))


def test_connecting_switches_the_torque_on_where_the_arm_is(arm, driver):
    assert all(servo.torque for servo in arm.servos.values())
    time.sleep(0.1)
    assert {number: round(servo.place) for number, servo in arm.servos.items()} == START
    assert all(servo.memory[41] == 254 and servo.word(48) == 1000 for servo in arm.servos.values())


def test_what_is_measured_obeys_the_calibration(driver):
    state = driver.read()
    assert np.allclose(state.joints, np.array([100, 100, 0, 0, 100]) * TICK)
    assert state.gripper == pytest.approx(0.5)
    assert 0.0 <= (time.time_ns() - state.stamp_ns) * 1e-9 < 0.1


def test_the_arm_goes_where_set_points_lead_in_one_packet_for_all(arm, driver):
    before = len(arm.syncs)
    target = moved(driver, by=0.2, seconds=0.3)
    until(lambda: np.allclose(driver.read().joints, target, atol=2 * TICK))
    assert len(arm.syncs) > before + 5
    goals = arm.syncs[-1][1]
    ticks = [zero + sign * angle / TICK for zero, sign, angle in zip(ZEROS, DIRECTIONS, target, strict=True)]
    assert [goals[number] for number in range(1, 6)] == pytest.approx(ticks, abs=0.5)


def test_speeds_and_loads_have_a_sign(arm, driver):
    arm.servos[2].load, arm.servos[3].load = 500, -250
    until(lambda: np.allclose(driver.read().efforts[1:3], [-1.5, -0.75]))
    arm.servos[2].load = arm.servos[3].load = 0
    driver.command(driver.read().joints - 0.3, np.zeros(5))
    until(lambda: (driver.read().velocities < -0.1).all())
    until(lambda: np.allclose(driver.read().velocities, 0.0))


def test_the_gripper_opens_and_closes(arm, driver):
    driver.grip(0.0)
    until(lambda: driver.read().gripper == pytest.approx(0.0, abs=0.01))
    until(lambda: round(arm.servos[6].place) == 2048)
    driver.grip(1.0)
    until(lambda: driver.read().gripper == pytest.approx(1.0, abs=0.01))


def test_goals_beyond_the_servos_turn_are_cut_off(arm, driver):
    until(lambda: np.allclose(driver.read().velocities, 0.0))
    here = driver.read().joints
    target = here.copy()
    target[4] = -2.0  # 1000 ticks are -1.53 rad away from its end
    driver.command(target, np.zeros(5))
    until(lambda: arm.syncs[-1][1][5] == 0)
    driver.command(here, np.zeros(5))
    until(lambda: np.allclose(driver.read().joints, here, atol=2 * TICK))


def test_a_stop_stands_with_torque_until_it_is_recovered(arm, driver):
    driver.command(driver.read().joints + 0.5, np.zeros(5))
    time.sleep(0.03)
    driver.stop()
    until(lambda: np.allclose(driver.read().velocities, 0.0))
    rest = driver.read().joints
    driver.command(rest + 0.5, np.zeros(5))
    time.sleep(0.1)
    assert np.allclose(driver.read().joints, rest, atol=2 * TICK)
    assert all(servo.torque for servo in arm.servos.values())
    driver.recover()
    target = moved(driver, by=-0.1, seconds=0.3)
    until(lambda: np.allclose(driver.read().joints, target, atol=2 * TICK))


def test_a_servo_that_has_switched_itself_off_is_named_until_it_is_recovered(arm, driver):
    arm.servos[3].status, arm.servos[3].memory[40] = 1 << 5, 0
    until(lambda: driver.read().faults == ('elbow (servo 3): overload',))
    arm.servos[3].status = 0
    driver.recover()
    until(lambda: driver.read().faults == ())
    assert arm.servos[3].torque


def test_a_spoilt_answer_is_no_loss(arm, driver):
    arm.spoilt = 3
    until(lambda: not arm.spoilt)
    until(lambda: (time.time_ns() - driver.read().stamp_ns) * 1e-9 < 0.05)


def test_silent_servos_are_lost_and_found_again(arm, driver):
    arm.silent = True
    with pytest.raises(DriverError, match='do not answer'):
        until(lambda: driver.read() is None)
    driver.stop()
    with pytest.raises(DriverError, match=r'servo 1 \(pan\) .* does not answer'):
        driver.connect()
    arm.silent = False
    driver.connect()
    driver.recover()
    assert driver.read().faults == ()


def test_the_servo_that_is_missing_is_named(other_arm):
    del other_arm.servos[4]
    with pytest.raises(DriverError, match=r'servo 4 \(wrist\)'):
        made_driver(other_arm).connect()


def test_another_kind_of_servo_is_refused(other_arm):
    other_arm.servos[2].write_word(3, 1029)
    with pytest.raises(DriverError, match='model 1029'):
        made_driver(other_arm).connect()


def test_looking_on_leaves_the_torque_alone(other_arm):
    driver = made_driver(other_arm, shadow=True)
    driver.connect()
    assert not any(servo.torque for servo in other_arm.servos.values()) and other_arm.syncs == []
    driver.close()


def test_a_port_that_is_not_there_is_named():
    driver = So101Driver(DriverContext(robot=ROBOT, options={'port': os.devnull + '9'}, node=None))
    with pytest.raises(DriverError, match='/dev/null9 cannot be opened'):
        driver.connect()


@pytest.mark.parametrize(
    ('options', 'words'),
    [
        ({'ids': '1,2,3'}, 'each of the 5 joints'),
        ({'ids': '1,2,3,4,6'}, 'twice'),
        ({'zeros': '1,2,3,4,x'}, 'whole numbers'),
        ({'directions': '1,1,2,1,1'}, '2 in directions'),
        ({'gripper_open': 2048}, 'gripper_closed'),
    ],
)
def test_wrong_options_are_refused(options, words):
    with pytest.raises(CobaltError, match=words):
        So101Driver(DriverContext(robot=ROBOT, options=options, node=None))


def test_a_library_that_is_absent_is_named_with_the_line_that_installs_it(monkeypatch):
    monkeypatch.setattr(vendor_library, 'find_spec', lambda _: None)
    with pytest.raises(CobaltError, match=r"pip install 'feetech-servo-sdk==1\.0\.0'"):
        So101Driver(DriverContext(robot=ROBOT, options={}, node=None))
