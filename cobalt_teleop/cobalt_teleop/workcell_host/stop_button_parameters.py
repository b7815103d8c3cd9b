"""What a host can be told of a stop button."""

from dataclasses import dataclass

from cobalt_teleop.core.parameter_table import parameter


@dataclass(frozen=True, kw_only=True)
class StopButtonParameters:
    """Parameters of a host that hears a stop button."""

    stop_topic: str = parameter('', 'Topic of an emergency stop button, Bool or Joy; empty for none')
    stop_type: str = parameter('bool', 'Type of stop_topic', choices=('bool', 'joy'))
    stop_button: int = parameter(0, 'Button of the Joy that stops', lower=0, upper=63)
    stop_timeout_s: float = parameter(
        0.0, 'A button not heard for so long stops, too [s]; 0 if it speaks only when pressed', lower=0.0, upper=10.0
    )
