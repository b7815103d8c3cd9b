"""A node's parameters as one typed, described, checked dataclass. It needs no ROS: `cobalt up` checks with it, too.

    @dataclass(frozen=True, kw_only=True)
    class BridgeParameters:
        port: int = parameter(8080, 'TCP port of pages and signalling', lower=1, upper=65535)

What no type, range or choice says, a table refuses in `__post_init__`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from cobalt_teleop.core.errors import CobaltError

P = TypeVar('P')

USED_BY_RCLPY = {'use_sim_time', 'start_type_description_service'}


class ParameterError(CobaltError):
    """A parameter has a wrong name, type or value."""


@dataclass(frozen=True)
class ParameterSpec:
    """What a parameter is and may be, as `parameter` takes it."""

    description: str
    lower: float | None
    upper: float | None
    choices: tuple[str, ...]


def parameter(
    default: Any,
    description: str,
    *,
    lower: float | None = None,
    upper: float | None = None,
    choices: tuple[str, ...] = (),
) -> Any:
    """Declares one field of a parameter dataclass.

    Args:
        default: bool, int, float, str, or a tuple of str.
        description: One sentence with the unit.
        lower: Smallest valid number.
        upper: Largest valid number.
        choices: Valid strings; empty for any.
    """
    return field(default=default, metadata={'spec': ParameterSpec(description, lower, upper, choices)})


def _checked(name: str, value: Any, default: Any, spec: ParameterSpec) -> Any:
    wanted = type(default)
    if wanted is float and type(value) is int:
        value = float(value)
    if wanted is str and not isinstance(value, str):
        value = str(value).lower() if isinstance(value, bool) else str(value)
    if wanted is tuple:
        if isinstance(value, str):
            value = value.split(',')
        if not isinstance(value, list | tuple):
            value = (value,)
        value = tuple(part for part in (str(part).strip() for part in value) if part)
    if type(value) is not wanted:
        names = {
            bool: 'true or false',
            int: 'a whole number',
            float: 'a number',
            str: 'a text',
            tuple: 'a list of texts',
        }
        raise ParameterError(f"parameter '{name}' is {value!r}, but must be {names[wanted]} ({spec.description})")
    in_range = (spec.lower is None or value >= spec.lower) and (spec.upper is None or value <= spec.upper)
    if wanted in (int, float) and not in_range:
        bounds = f'{"-inf" if spec.lower is None else spec.lower} to {"inf" if spec.upper is None else spec.upper}'
        raise ParameterError(f"parameter '{name}' is {value}, but must be in {bounds} ({spec.description})")
    for text in value if wanted is tuple else (value,):
        if spec.choices and text not in spec.choices:
            raise ParameterError(
                f"parameter '{name}' is {text!r}, but must be one of {', '.join(spec.choices)} ({spec.description})"
            )
    return value


def checked_table(node_name: str, table: type[P], given: Mapping[str, Any]) -> P:
    """Returns a node's parameters.

    Args:
        node_name: For messages.
        table: Of the node.
        given: Values by name; what is not given has its default.

    Raises:
        CobaltError: A name is unknown, or a value is of the wrong type or out of range.
    """
    known = [f.name for f in fields(table)]  # type: ignore[arg-type]
    for name in given:
        if name not in known and name not in USED_BY_RCLPY and not name.startswith('qos_overrides.'):
            raise ParameterError(
                f"{node_name} has no parameter '{name}'; it has {', '.join(known)}. See {node_name} --help"
            )
    return table(
        **{
            f.name: _checked(f.name, given.get(f.name, f.default), f.default, f.metadata['spec'])
            for f in fields(table)  # type: ignore[arg-type]
        }
    )
