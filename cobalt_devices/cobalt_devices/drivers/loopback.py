"""The driver `loopback`: no arm at all, but one that goes where it is told. For trying out, and as a model to copy."""

import time
from dataclasses import dataclass

import numpy as np

from cobalt_devices.arm_driver.driver import DriverCapabilities, DriverContext, DriverState
from cobalt_devices.arm_driver.driver_options import read_options
from cobalt_teleop.core.parameter_table import parameter
from cobalt_teleop.core.pose import Vector


@dataclass(frozen=True, kw_only=True)
class LoopbackOptions:
    """Options of the driver, in robot.yaml below `drivers: loopback:`."""

    rate_hz: float = parameter(250.0, 'Set points a second [Hz]', lower=20.0, upper=1000.0)


class LoopbackDriver:
    """An arm that is where its last set point was.

    Args:
        context: Robot and options.
    """

    def __init__(self, context: DriverContext) -> None:
        self._options = read_options('loopback', LoopbackOptions, context.options)
        self._joints = np.array(context.robot.home)
        self._velocities = np.zeros_like(self._joints)
        self._opening = 1.0
        self._stopped = False

    @property
    def capabilities(self) -> DriverCapabilities:
        """What it can do."""
        return DriverCapabilities(
            title='no arm: it is where it is told to be', rate_hz=self._options.rate_hz, real=False
        )

    def connect(self) -> None:
        """Has nothing to connect to."""

    def read(self) -> DriverState:
        """Returns where it is."""
        return DriverState(
            stamp_ns=time.time_ns(),
            joints=self._joints.copy(),
            velocities=self._velocities.copy(),
            efforts=np.zeros_like(self._joints),
            gripper=self._opening,
        )

    def command(self, joints: Vector, velocities: Vector) -> None:
        """Goes there."""
        if not self._stopped:
            self._joints, self._velocities = joints.copy(), velocities.copy()

    def grip(self, opening: float) -> None:
        """Opens or closes."""
        self._opening = opening

    def hold(self) -> None:
        """Stands."""
        self._velocities = np.zeros_like(self._joints)

    def stop(self) -> None:
        """Stands until it is made ready again."""
        self._stopped = True
        self.hold()

    def recover(self) -> None:
        """Is ready again."""
        self._stopped = False

    def close(self) -> None:
        """Has nothing to free."""
