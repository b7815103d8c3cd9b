"""A node's parameters as one typed, described, checked dataclass.

    @dataclass(frozen=True, kw_only=True)
    class BridgeParameters:
        port: int = parameter(8080, 'TCP port of pages and signalling', lower=1, upper=65535)

    values = read_parameters(node, BridgeParameters)

Each parameter is declared with type, range and description, so that `ros2 param describe` documents the node. Unknown
names and values out of range are refused with a sentence. `--help` prints the same table.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.node import Node

from cobalt_teleop.core.errors import CobaltError

P = TypeVar('P')

_USED_BY_RCLPY = {'use_sim_time', 'start_type_description_service'}


class ParameterError(CobaltError):
    """A parameter has a wrong name, type or value."""


@dataclass(frozen=True)
class _Spec:
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
    return field(default=default, metadata={'spec': _Spec(description, lower, upper, choices)})


def _checked(name: str, value: Any, default: Any, spec: _Spec) -> Any:
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


def read_parameters(node: Node, table: type[P]) -> P:
    """Declares every parameter of a dataclass on a node and returns their values.

    Raises:
        ParameterError: A name is unknown, or a value is of the wrong type or out of range.
    """
    overrides = {name: override.value for name, override in node._parameter_overrides.items()}
    known = [f.name for f in fields(table)]  # type: ignore[arg-type]
    for name in overrides:
        if name not in known and name not in _USED_BY_RCLPY and not name.startswith('qos_overrides.'):
            raise ParameterError(
                f"{node.get_name()} has no parameter '{name}'; it has {', '.join(known)}. See {node.get_name()} --help"
            )
    values = {}
    for f in fields(table):  # type: ignore[arg-type]
        spec: _Spec = f.metadata['spec']
        value = _checked(f.name, overrides.get(f.name, f.default), f.default, spec)
        descriptor = ParameterDescriptor(description=spec.description, read_only=True)
        if spec.choices:
            descriptor.additional_constraints = 'one of ' + ', '.join(spec.choices)
        if isinstance(f.default, bool):
            pass
        elif isinstance(f.default, int) and spec.lower is not None and spec.upper is not None:
            descriptor.integer_range = [IntegerRange(from_value=int(spec.lower), to_value=int(spec.upper), step=0)]
        elif isinstance(f.default, float) and spec.lower is not None and spec.upper is not None:
            descriptor.floating_point_range = [
                FloatingPointRange(from_value=float(spec.lower), to_value=float(spec.upper))
            ]
        # An empty list has no type on the wire: declared as a list with one empty text.
        declared = (list(value) or ['']) if isinstance(value, tuple) else value
        node.declare_parameter(f.name, declared, descriptor, ignore_override=True)
        values[f.name] = value
    return table(**values)


def help_text(program: str, summary: str, tables: Mapping[str, type[Any]]) -> str:
    """Returns what `--help` prints for a process.

    Args:
        program: Name of the executable.
        summary: What it does.
        tables: Parameter dataclasses of its nodes, by their names.
    """
    name = 'NAME' if len(tables) == 1 else 'NODE:NAME'
    lines = [summary, '', f'usage: {program} [--help] [--ros-args -p {name}:=VALUE ...]']
    for node, table in tables.items():
        lines += ['', 'parameters:' if len(tables) == 1 else f'parameters of {node}:', *_help_lines(table)]
    return '\n'.join(lines)


def _help_lines(table: type[Any]) -> list[str]:
    lines = []
    for f in fields(table):
        spec: _Spec = f.metadata['spec']
        default = ','.join(f.default) if isinstance(f.default, tuple) else f.default
        limits = f', one of {", ".join(spec.choices)}' if spec.choices else ''
        if spec.lower is not None and spec.upper is not None:
            limits = f', {spec.lower} to {spec.upper}'
        lines.append(f'  {f.name}  ({default if default != "" else "empty"}{limits})')
        lines.append(f'      {spec.description}')
    return lines
