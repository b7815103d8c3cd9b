"""What spacemouse_node can be told."""

from dataclasses import dataclass

from cobalt_devices.rate_parameters import RateParameters, direction
from cobalt_devices.spacemouse_reports import AXES
from cobalt_teleop.core.parameter_table import parameter


@dataclass(frozen=True, kw_only=True)
class SpaceMouseParameters(RateParameters):
    """Parameters of spacemouse_node."""

    backend: str = parameter('page', 'Where the SpaceMouse is', choices=('page', 'hid'))
    forward: str = direction('-ty', 'moves the tool away')
    left: str = direction('-tx', 'moves it to the left')
    up: str = direction('-tz', 'moves it up')
    roll: str = direction('-ry', 'rolls it to the right')
    pitch: str = direction('-rx', 'nods it forward')
    yaw: str = direction('-rz', 'turns it to the left')
    part: str = parameter('arm', 'Part that a SpaceMouse of this machine moves')
    operator: str = parameter('', 'Name shown to others (backend hid); who is logged in if empty')
    reference: str = parameter('view', 'Along whose axes it moves (backend hid)', choices=('view', 'base', 'tool'))
    silence_s: float = parameter(
        0.2, 'A cap that is pushed and not heard for so long is out of reach [s] (backend hid)', lower=0.05, upper=2.0
    )
    give_back_s: float = parameter(
        60.0, 'Control goes back so long after the last push [s] (backend hid)', lower=1.0, upper=3600.0
    )

    def __post_init__(self) -> None:
        self.settings(AXES)
