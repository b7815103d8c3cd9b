"""A driver's options, read from robot.yaml and the parameter driver_options into a checked dataclass."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.parameter_table import checked_table

T = TypeVar('T')


def given_options(name: str, of_robot: Mapping[str, Any], overrides: Sequence[str]) -> dict[str, Any]:
    """Returns the options of a driver, by name.

    Args:
        name: Of the driver.
        of_robot: Section `drivers` of robot.yaml.
        overrides: Texts `name=value`, which win.

    Raises:
        CobaltError: A text has no `=`, or the section is no table.
    """
    options = of_robot.get(name) or {}
    if not isinstance(options, Mapping):
        raise CobaltError(f"the section 'drivers: {name}:' of robot.yaml must be a table of options")
    options = dict(options)
    for text in overrides:
        key, equals, value = text.partition('=')
        if not equals:
            raise CobaltError(f"driver_options has '{text}', but each must be name=value")
        options[key.strip()] = _number_or_text(value.strip())
    return options


def read_options(name: str, table: type[T], options: Mapping[str, Any]) -> T:
    """Returns a driver's options as its dataclass of `parameter` fields.

    Raises:
        CobaltError: A name is unknown, or a value is of the wrong kind or out of range.
    """
    return checked_table(f'the driver {name}', table, options)


def _number_or_text(text: str) -> Any:
    if text.lower() in ('true', 'false'):
        return text.lower() == 'true'
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
