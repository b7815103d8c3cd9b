"""What the nodes of SpaceMice and gamepads can be told."""

from collections.abc import Sequence
from dataclasses import dataclass

from cobalt_devices.axis_map import DIRECTIONS, axis_use
from cobalt_devices.rate_epoch import Leash
from cobalt_devices.rate_mapper import RateSettings
from cobalt_teleop.core.parameter_table import parameter


def direction(default: str, towards: str) -> str:
    """Declares the parameter of one direction."""
    words: str = parameter(default, f'Axis that {towards}, with sign and factor, such as -{default.lstrip("-")}')
    return words


@dataclass(frozen=True, kw_only=True)
class RateParameters:
    """Parameters of a device that moves the arm at a rate; the directions have no defaults here."""

    workcells: tuple[str, ...] = parameter((), 'Workcells to serve, as names or patterns; empty for all')
    parts: tuple[str, ...] = parameter((), 'Parts that it may drive; empty for all')
    linear_speed: float = parameter(0.15, 'Speed of the tool at full deflection [m/s]', lower=0.001, upper=1.0)
    angular_speed: float = parameter(0.8, 'Turning speed at full deflection [rad/s]', lower=0.01, upper=3.0)
    dead_zone: float = parameter(0.1, 'Share of an axis around its middle that moves nothing', lower=0.0, upper=0.8)
    curve: float = parameter(1.5, 'Exponent beyond it: 1 is straight, 2 finer near the middle', lower=1.0, upper=4.0)
    close_button: int = parameter(0, 'Button that closes the gripper, from 0; -1 for none', lower=-1, upper=31)
    open_button: int = parameter(1, 'Button that opens the gripper, from 0; -1 for none', lower=-1, upper=31)
    view_yaw_deg: float = parameter(
        180.0, 'Yaw of the view in the base frame [deg]: 180 for a camera that faces the arm', lower=-360.0, upper=360.0
    )
    leash_m: float = parameter(0.04, 'How far it may lead the accepted target [m]', lower=0.005, upper=0.2)
    leash_rad: float = parameter(0.3, 'How far it may lead its rotation [rad]', lower=0.02, upper=1.5)

    def settings(self, axes: Sequence[str]) -> RateSettings:
        """Returns what the mapper needs.

        Args:
            axes: Names of the device's axes.

        Raises:
            AxisMapError: A direction names no axis.
        """
        return RateSettings(
            directions=[axis_use(name, getattr(self, name), axes) for name in DIRECTIONS],
            dead_zone=self.dead_zone,
            curve=self.curve,
            linear_speed=self.linear_speed,
            angular_speed=self.angular_speed,
            close_button=self.close_button if self.close_button >= 0 else None,
            open_button=self.open_button if self.open_button >= 0 else None,
            view_yaw_deg=self.view_yaw_deg,
            leash=Leash(length_m=self.leash_m, length_rad=self.leash_rad),
        )
