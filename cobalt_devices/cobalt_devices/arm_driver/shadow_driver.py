"""A driver in shadow mode: everything runs, and nothing is sent to the arm."""

from cobalt_devices.arm_driver.driver import Driver, DriverCapabilities, DriverState
from cobalt_teleop.core.pose import Vector


class ShadowDriver:
    """Reads a real arm and sends it nothing.

    Args:
        driver: Of the real arm.
    """

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    @property
    def capabilities(self) -> DriverCapabilities:
        """Those of the driver; but nothing real is moved."""
        of_driver = self._driver.capabilities
        return DriverCapabilities(
            title=f'{of_driver.title} (shadow: nothing is sent)',
            rate_hz=of_driver.rate_hz,
            real=of_driver.real,
        )

    def connect(self) -> None:
        """Connects."""
        self._driver.connect()

    def read(self) -> DriverState:
        """Returns the newest measurement."""
        return self._driver.read()

    def command(self, joints: Vector, velocities: Vector) -> None:
        """Sends nothing."""

    def grip(self, opening: float) -> None:
        """Sends nothing."""

    def hold(self) -> None:
        """Sends nothing: whatever moves the arm is not Cobalt."""

    def stop(self) -> None:
        """Stops it all the same: a stop is a stop."""
        self._driver.stop()

    def recover(self) -> None:
        """Sends nothing: whoever moves the arm makes it ready."""

    def close(self) -> None:
        """Frees everything; a driver would leave the arm at rest, and here it is not ours to move."""
        self._driver.close()
