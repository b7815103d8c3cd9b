"""The checks of a driver: a good one passes, and each broken promise is found."""

import numpy as np
import pytest

from cobalt_devices.arm_driver import conformance
from cobalt_devices.arm_driver.conformance import DriverCheck
from cobalt_devices.arm_driver.driver import DriverContext, DriverError
from cobalt_devices.drivers.loopback import LoopbackDriver
from cobalt_teleop.kinematics.robot_description import load_robot

ROBOT = load_robot('franka_panda')


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Swings that take less time; the machine of a test may be busy."""
    monkeypatch.setattr(conformance, '_SWING_S', 0.8)
    monkeypatch.setattr(conformance, '_SWING_RAD', 0.02)
    monkeypatch.setattr(conformance, '_STANDS_S', 0.2)
    monkeypatch.setattr(conformance, '_MEASURE_S', 0.2)
    monkeypatch.setattr(conformance, '_WATCH_S', 0.2)
    monkeypatch.setattr(conformance, '_GRIP_S', 0.2)
    monkeypatch.setattr(conformance, '_LEAST_STATES_HZ', 1.0)
    monkeypatch.setattr(DriverCheck, '_keeps_its_rate', lambda self: conformance.Finding('rate', True, 'not in a test'))


class Unreachable(LoopbackDriver):
    def connect(self):
        raise DriverError('the arm is off: switch it on')


class Drifts(LoopbackDriver):
    def read(self):
        self._joints = self._joints + 1e-3
        return super().read()


class IgnoresStop(LoopbackDriver):
    def read(self):
        if self._stopped:
            self._joints = self._joints + 1e-3
        return super().read()


class JumpsWhenReady(LoopbackDriver):
    def recover(self):
        super().recover()
        self._joints = self._joints + 0.1


class NeverReady(LoopbackDriver):
    def recover(self):
        raise DriverError('the key switch is off')


class Lags(LoopbackDriver):
    def command(self, joints, velocities):
        super().command(self._joints + 0.01 * (joints - self._joints), velocities)


class GripsTheWrongWay(LoopbackDriver):
    def grip(self, opening):
        super().grip(1.0 - opening)


class TooFewJoints(LoopbackDriver):
    def read(self):
        state = super().read()
        return type(state)(**{**vars(state), 'velocities': np.zeros(3)})


def findings(driver):
    made = driver(DriverContext(robot=ROBOT, options={'rate_hz': 100.0}, node=None))
    return list(DriverCheck(made, ROBOT).run())


def test_a_driver_that_keeps_its_promises_passes():
    found = findings(LoopbackDriver)
    assert [finding for finding in found if not finding.ok] == []
    assert [finding.name for finding in found][:3] == ['connects', 'measures', 'stands']


@pytest.mark.parametrize(
    ('driver', 'name', 'words'),
    [
        (Unreachable, 'connects', 'switch it on'),
        (TooFewJoints, 'measures', 'must have 7 numbers'),
        (Drifts, 'stands', 'while nothing was commanded'),
        (Lags, 'follows', 'behind the targets'),
        (IgnoresStop, 'stops', 'after stop'),
        (JumpsWhenReady, 'recovers', 'jump'),
        (NeverReady, 'recovers', 'key switch'),
        (GripsTheWrongWay, 'grips', '0 must be closed'),
    ],
)
def test_a_broken_promise_is_found(driver, name, words):
    bad = {finding.name: finding.text for finding in findings(driver) if not finding.ok}
    assert words in bad[name]
