"""Checks what a launch gives its nodes, by their own tables, before any of them starts."""

from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import entry_points
from typing import Any

from cobalt_bringup.launch_element import LaunchFileError
from cobalt_bringup.launch_file import Process, Setting
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.parameter_file import read_parameter_file
from cobalt_teleop.core.parameter_table import checked_table

GROUP = 'cobalt.parameters'

Tables = Mapping[str, Mapping[str, type[Any]]]
"""Parameter tables of a package's nodes, by executable and name of the node."""


def installed_tables(package: str) -> Tables:
    """Returns the tables that a package announces by the entry point group `cobalt.parameters`; none if it has none."""
    for entry in entry_points(group=GROUP, name=package):
        tables: Tables = entry.load()
        return tables
    return {}


def check_parameters(processes: Sequence[Process]) -> None:
    """Checks the parameters of all nodes whose package announces its tables.

    Raises:
        CobaltError: A value or a name is wrong, or a parameter file cannot be read; the message says where it stands.
    """
    for process in processes:
        if not process.settings:
            continue
        settings = [setting for given in process.settings for setting in _each(given)]
        for name, table in installed_tables(process.package).get(process.executable, {}).items():
            _check(process.node_name or name, table, settings)


def _each(given: Setting) -> Iterator[tuple[str, str, Any, str]]:
    """Yields node, parameter, value and origin of one parameter, or of each one in a file."""
    if given.file is None:
        yield '*', given.name, given.value, given.origin
        return
    for one in read_parameter_file(given.file):
        yield one.node, one.name, one.value, f'{given.file}:{one.line}'


def _check(node: str, table: type[Any], settings: Sequence[tuple[str, str, Any, str]]) -> None:
    values: dict[str, Any] = {}
    for owner, name, value, origin in settings:
        if owner not in (node, '*', '**'):
            continue
        values[name] = value
        try:
            # One after the other, so that the one that is wrong is known.
            checked_table(node, table, values)
        except CobaltError as error:
            raise LaunchFileError(f'{origin}: {error}' if origin else str(error)) from error
