"""ROS 2's parameter files, read so that a message can name the line; what they mean to a node, ROS 2 itself decides."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from cobalt_teleop.core.parameter_table import ParameterError

_PARAMETERS = 'ros__parameters'


@dataclass(frozen=True, kw_only=True)
class FileParameter:
    """One parameter of a file.

    Attributes:
        node: Last part of the name that it is written under: a node's, or * or ** for any.
        name: Of the parameter.
        value: By the rules of YAML.
        line: Counted from 1.
    """

    node: str
    name: str
    value: Any
    line: int


def read_parameter_file(file: Path) -> list[FileParameter]:
    """Returns what a parameter file holds, in its order.

    Raises:
        ParameterError: It cannot be read, is no YAML, or not written as parameter files are.
    """
    try:
        text = file.read_text(encoding='utf-8')
        root = yaml.compose(text, yaml.SafeLoader)
        return [] if root is None else list(_nodes(file, root, ''))
    except OSError as error:
        raise ParameterError(f'{file} cannot be read: {error.strerror}') from error
    except UnicodeDecodeError as error:
        raise ParameterError(f'{file} is no text') from error
    except RecursionError as error:
        raise ParameterError(f'{file} is nested too deep') from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f'{file}:{mark.line + 1}' if mark is not None else str(file)
        raise ParameterError(f'{place}: this is no YAML: {error.problem or error.context}') from error
    except yaml.YAMLError as error:
        raise ParameterError(f'{file} is no YAML: {str(error).splitlines()[0]}') from error


def _entries(file: Path, node: yaml.Node, what: str) -> Iterator[tuple[str, yaml.Node, int]]:
    if not isinstance(node, yaml.MappingNode):
        raise ParameterError(
            f'{file}:{node.start_mark.line + 1}: {what}, each on a line with a colon, should stand here'
        )
    for key, value in node.value:
        yield str(key.value), value, key.start_mark.line + 1


def _nodes(file: Path, node: yaml.Node, path: str) -> Iterator[FileParameter]:
    for key, value, _ in _entries(file, node, f'names of nodes, or {_PARAMETERS}'):
        if key == _PARAMETERS:
            yield from _parameters(file, value, path.rstrip('/').rsplit('/', 1)[-1], '')
        else:
            yield from _nodes(file, value, f'{path}/{key}')


def _parameters(file: Path, node: yaml.Node, owner: str, prefix: str) -> Iterator[FileParameter]:
    for key, value, line in _entries(file, node, 'parameters'):
        if isinstance(value, yaml.MappingNode):
            yield from _parameters(file, value, owner, f'{prefix}{key}.')
        else:
            meaning = yaml.SafeLoader('').construct_object(value, deep=True)
            yield FileParameter(node=owner, name=prefix + key, value=meaning, line=line)
