"""What a lab writes to drive its arm: a driver.

A driver is made from a `DriverContext`; an entry point of the group `cobalt_devices.drivers` names what makes it. It is
called from one thread, at its own rate: `connect`, then `read` and `command` in turn, and at the end `close`.
docs/drivers.md leads through it; `cobalt driver check NAME` tells whether it keeps the promises below.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.pose import Vector
from cobalt_teleop.kinematics.robot_description import RobotDescription


class DriverError(CobaltError):
    """The arm cannot be reached or refuses. The message tells a person what to do; the host connects anew by itself."""


@dataclass(frozen=True, kw_only=True)
class DriverContext:
    """What a driver is made from.

    Attributes:
        robot: The arm's description: joint names, limits, gripper.
        options: From the section `drivers: NAME:` of robot.yaml, overridden by the parameter driver_options.
        node: rclpy Node that may own the driver's topics; nobody else spins what it creates.
        shadow: Something else moves the arm: look on, and take nothing from it.
    """

    robot: RobotDescription
    options: Mapping[str, Any]
    node: Any
    shadow: bool = False


@dataclass(frozen=True, kw_only=True)
class DriverCapabilities:
    """What a driver can do.

    Attributes:
        title: Of the arm and its controller, for people.
        rate_hz: Commands a second that it wants [Hz].
        real: It moves a real arm, that can hurt.
    """

    title: str
    rate_hz: float
    real: bool = True


@dataclass(frozen=True, kw_only=True)
class DriverState:
    """What a driver measured last.

    Attributes:
        stamp_ns: System time of the measurement [ns].
        joints: (n,) [rad].
        velocities: (n,) [rad/s].
        efforts: (n,) [Nm]; zeros if it does not measure them.
        gripper: 0 closed to 1 open.
        faults: In words, such as a protective stop; with any of them nothing is commanded.
    """

    stamp_ns: int
    joints: Vector
    velocities: Vector
    efforts: Vector
    gripper: float = 1.0
    faults: tuple[str, ...] = ()


class Driver(Protocol):
    """One arm, as the host drives it."""

    @property
    def capabilities(self) -> DriverCapabilities:
        """What it can do; constant, and known before `connect`."""
        ...

    def connect(self) -> None:
        """Connects, also a second time after a DriverError. Moves nothing. May take seconds.

        Raises:
            DriverError: The arm cannot be reached.
        """
        ...

    def read(self) -> DriverState:
        """Returns the newest measurement. Does not wait.

        Raises:
            DriverError: The arm has been lost.
        """
        ...

    def command(self, joints: Vector, velocities: Vector) -> None:
        """Sends set points; called at the driver's rate, smooth in speed and acceleration.

        Args:
            joints: (n,) [rad].
            velocities: (n,) at which the set points move [rad/s].

        Raises:
            DriverError: The arm has been lost.
        """
        ...

    def grip(self, opening: float) -> None:
        """Brings the gripper to 0 closed to 1 open. Called only when that changes."""
        ...

    def hold(self) -> None:
        """Keeps the arm where it is until the next command. Called before commands pause."""
        ...

    def stop(self) -> None:
        """Stops the arm by the fastest safe means. Called from any thread, also while another call is running."""
        ...

    def recover(self) -> None:
        """Makes the arm ready for commands again after `stop`: a person has cleared the emergency stop.

        Raises:
            DriverError: It does not get ready, and why.
        """
        ...

    def close(self) -> None:
        """Leaves the arm at rest and frees everything; also after an error, and twice."""
        ...


DriverFactory = Callable[[DriverContext], Driver]
