"""A node's parameters, declared on it from a table of `core/parameter_table.py`.

    values = read_parameters(node, BridgeParameters)

Each parameter is declared with type, range and description, so that `ros2 param describe` documents the node. Unknown
names and values out of range are refused with a sentence. `--help` prints the same table.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.node import Node

from cobalt_teleop.core.parameter_table import ParameterSpec, checked_table

P = TypeVar('P')


def read_parameters(node: Node, table: type[P]) -> P:
    """Declares every parameter of a dataclass on a node and returns their values.

    Raises:
        CobaltError: A name is unknown, or a value is of the wrong type or out of range.
    """
    overrides = {name: override.value for name, override in node._parameter_overrides.items()}
    values = checked_table(node.get_name(), table, overrides)
    for f in fields(table):  # type: ignore[arg-type]
        spec: ParameterSpec = f.metadata['spec']
        value = getattr(values, f.name)
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
    return values


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
        spec: ParameterSpec = f.metadata['spec']
        default = ','.join(f.default) if isinstance(f.default, tuple) else f.default
        limits = f', one of {", ".join(spec.choices)}' if spec.choices else ''
        if spec.lower is not None and spec.upper is not None:
            limits = f', {spec.lower} to {spec.upper}'
        lines.append(f'  {f.name}  ({default if default != "" else "empty"}{limits})')
        lines.append(f'      {spec.description}')
    return lines
