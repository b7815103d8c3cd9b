"""Finds drivers by name: entry points of the group `cobalt_devices.drivers`."""

from importlib.metadata import EntryPoint, entry_points

from cobalt_devices.arm_driver.driver import DriverFactory
from cobalt_teleop.core.errors import CobaltError

GROUP = 'cobalt_devices.drivers'


def driver_names() -> tuple[str, ...]:
    """Returns the names of all drivers that are installed."""
    return tuple(sorted(_found()))


def load_driver(name: str) -> DriverFactory:
    """Returns what makes a driver.

    Raises:
        CobaltError: There is no such driver, or a library that it needs is missing.
    """
    entry = _found().get(name)
    if entry is None:
        raise CobaltError(f"there is no driver '{name}'; there are {', '.join(driver_names())}")
    try:
        factory: DriverFactory = entry.load()
    except ImportError as error:
        raise CobaltError(f"the driver '{name}' cannot be loaded: {error}") from error
    return factory


def _found() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}
