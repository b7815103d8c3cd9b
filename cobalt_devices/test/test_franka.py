"""The driver of Franka arms, with the unmodified library.

The tests that move need franky-sim, a simulator that speaks the arm's own protocol. It is large (pinocchio), so it has
an environment of its own: COBALT_FRANKY_SIM names its command (docs/drivers.md).
"""

import os
import shlex
import subprocess
import time

import numpy as np
import pytest
from driver_runs import until

from cobalt_devices.arm_driver.driver import DriverContext, DriverError
from cobalt_devices.drivers import vendor_library
from cobalt_devices.drivers.franka import FrankaDriver
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.kinematics.robot_description import load_robot

ROBOT = load_robot('franka_panda')
NOBODY = '127.0.32.1'
SIM = os.environ.get('COBALT_FRANKY_SIM', '')
HOST = '127.0.32.2'

needs_sim = pytest.mark.skipif(not SIM, reason='COBALT_FRANKY_SIM names no command of franky-sim')


def made_driver(robot=ROBOT, **options):
    return FrankaDriver(DriverContext(robot=robot, options={'host': NOBODY, 'realtime': False} | options, node=None))


def test_an_arm_that_is_not_there_is_told_in_the_librarys_words():
    with pytest.raises(DriverError, match=r'libfranka: .* FCI active'):
        made_driver().connect()


@pytest.mark.parametrize(
    ('options', 'words'),
    [
        ({'host': ''}, 'needs the arm'),
        ({'stiffness': '1,2,3'}, '7 numbers in stiffness'),
        ({'stiffness': '1,2,3,4,5,6,hard'}, 'numbers in stiffness'),
        ({'stiffness': '1,2,3,4,5,6,-7'}, 'above 0'),
    ],
)
def test_wrong_options_are_refused(options, words):
    with pytest.raises(CobaltError, match=words):
        made_driver(**options)


def test_six_joints_are_refused():
    with pytest.raises(CobaltError, match='moves 7 joints'):
        made_driver(load_robot('ur5e'))


def test_a_library_that_is_absent_is_named_with_the_line_that_installs_it(monkeypatch):
    monkeypatch.setattr(vendor_library, 'find_spec', lambda _: None)
    with pytest.raises(CobaltError, match=r"pip install 'franky-control==2\.0\.0'"):
        made_driver()


@pytest.fixture(scope='module')
def driver():
    """A driver that is connected to the simulator; each test leaves it without faults, at rest."""
    simulator = subprocess.Popen(
        [*shlex.split(SIM), '-s', 'mujoco', '--hostname', HOST], stdout=subprocess.PIPE, text=True
    )
    made = made_driver(host=HOST, gripper='franka_hand')
    end = time.monotonic() + 30.0
    while True:
        try:
            made.connect()
            break
        except DriverError:
            assert time.monotonic() < end and simulator.poll() is None, 'the simulator does not start'
            time.sleep(0.5)
    yield made
    made.close()
    simulator.terminate()
    simulator.wait(10.0)


def moved(driver, by=0.1, seconds=1.0):
    """Streams set points as the host does, from rest to rest; returns the last one and the largest error [rad]."""
    rate_hz = driver.capabilities.rate_hz
    start, steps, worst = driver.read().joints, round(seconds * rate_hz), 0.0
    for step in range(1, steps + 1):
        angle = np.pi * step / steps
        target = start + 0.5 * by * (1.0 - np.cos(angle))
        driver.command(target, np.full(7, 0.5 * by * np.pi / seconds * np.sin(angle)))
        worst = max(worst, float(np.abs(driver.read().joints - target).max()))
        time.sleep(1.0 / rate_hz)
    return target, worst


def stands(driver):
    """Returns whether the arm has moved by less than 3 mrad in a fifth of a second."""
    before = driver.read().joints
    time.sleep(0.2)
    return np.abs(driver.read().joints - before).max() < 0.003


@needs_sim
def test_the_arm_follows_and_stands(driver):
    target, worst = moved(driver)
    driver.hold()
    until(lambda: stands(driver), 10.0)
    assert worst < 0.05
    assert np.allclose(driver.read().joints, target, atol=0.02)
    assert driver.read().faults == ()


@needs_sim
def test_a_stop_is_kept_until_it_is_recovered(driver):
    moved(driver)
    driver.stop()
    until(lambda: stands(driver), 10.0)
    rest = driver.read().joints
    driver.command(rest + 0.1, np.zeros(7))
    time.sleep(0.3)
    assert np.allclose(driver.read().joints, rest, atol=0.005)
    driver.recover()
    target, _ = moved(driver, by=-0.1)
    driver.hold()
    until(lambda: np.allclose(driver.read().joints, target, atol=0.02), 10.0)


@needs_sim
def test_the_hand_opens_and_closes(driver):
    driver.grip(0.0)
    until(lambda: driver.read().gripper < 0.1, 10.0)
    driver.grip(1.0)
    until(lambda: driver.read().gripper > 0.9, 10.0)


@needs_sim
def test_it_is_connected_anew_where_it_is(driver):
    before = driver.read().joints
    driver.connect()
    assert np.allclose(driver.read().joints, before, atol=0.005)
    moved(driver, by=0.05)
    assert driver.read().faults == ()
