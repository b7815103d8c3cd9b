"""What keyboard_node can be told."""

from dataclasses import dataclass

from cobalt_devices.keyboard_mapper import KeyboardRates
from cobalt_teleop.core.parameter_table import parameter


@dataclass(frozen=True, kw_only=True)
class KeyboardParameters:
    """Parameters of keyboard_node."""

    backend: str = parameter('page', 'Where keys come from', choices=('page', 'terminal'))
    workcells: tuple[str, ...] = parameter(
        (), 'Workcells to serve, as names or patterns (terminal: the first found); empty for all'
    )
    part: str = parameter('arm', 'Part that the keys move')
    linear_speed: float = parameter(0.15, 'Speed of the tool while a key is held [m/s]', lower=0.001, upper=1.0)
    angular_speed: float = parameter(0.8, 'Turning speed while a key is held [rad/s]', lower=0.01, upper=3.0)
    slow_factor: float = parameter(0.25, 'Share of both speeds while the slow key is held', lower=0.01, upper=1.0)
    view_yaw_deg: float = parameter(
        180.0, 'Yaw of the view in the base frame [deg]: 180 for a camera that faces the arm', lower=-360.0, upper=360.0
    )
    leash_m: float = parameter(0.04, 'How far the keys may lead the accepted target [m]', lower=0.005, upper=0.2)
    leash_rad: float = parameter(0.3, 'How far they may lead its rotation [rad]', lower=0.02, upper=1.5)

    def rates(self) -> KeyboardRates:
        """Returns what the mapper needs."""
        return KeyboardRates(
            linear_speed=self.linear_speed,
            angular_speed=self.angular_speed,
            slow_factor=self.slow_factor,
            view_yaw_deg=self.view_yaw_deg,
            leash_m=self.leash_m,
            leash_rad=self.leash_rad,
        )
