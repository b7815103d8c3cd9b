"""What every host of workcells can be told."""

from dataclasses import dataclass

from cobalt_teleop.core.clutch import MAX_FRAME_AGE_S
from cobalt_teleop.core.parameter_table import parameter
from cobalt_teleop.workcell_host.stop_button_parameters import StopButtonParameters


@dataclass(frozen=True, kw_only=True)
class HostParameters(StopButtonParameters):
    """Parameters of a host."""

    control_rate_hz: float = parameter(20.0, 'Ticks of each workcell [Hz]', lower=5.0, upper=100.0)
    max_frame_age_s: float = parameter(
        MAX_FRAME_AGE_S,
        "Age of the picture on an operator's screen above which the arm holds [s]",
        lower=0.1,
        upper=10.0,
    )
