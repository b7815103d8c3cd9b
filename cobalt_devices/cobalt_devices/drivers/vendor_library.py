"""Libraries of vendors are optional: one that is absent is named with the line that installs it."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from cobalt_teleop.core.errors import CobaltError


def require(driver: str, module: str, requirement: str) -> None:
    """Checks that a library is installed, without importing it.

    Args:
        driver: Name of the driver that needs it.
        module: What is imported.
        requirement: As pip takes it.

    Raises:
        CobaltError: It is not there.
    """
    if find_spec(module) is None:
        raise CobaltError(f"the driver {driver} needs a library that is not installed: pip install '{requirement}'")


def load(driver: str, module: str, requirement: str) -> Any:
    """Returns a library.

    Raises:
        CobaltError: It is not there, or does not load.
    """
    require(driver, module, requirement)
    try:
        return import_module(module)
    except ImportError as error:
        raise CobaltError(
            f"the library of the driver {driver} does not load: {error}; pip install --force-reinstall '{requirement}'"
        ) from error
