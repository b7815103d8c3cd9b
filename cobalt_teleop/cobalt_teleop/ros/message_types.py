"""Message classes by the name of their ROS type."""

from functools import cache
from importlib import import_module
from typing import Any

from cobalt_teleop.core.errors import CobaltError


@cache
def message_class(ros_type: str) -> Any:
    """Returns the class of a type such as `std_msgs/msg/Empty`.

    Raises:
        CobaltError: Its package is not installed, or holds no such message.
    """
    package, kind, name = ros_type.split('/')
    try:
        return getattr(import_module(f'{package}.{kind}'), name)
    except (ImportError, AttributeError) as error:
        raise CobaltError(
            f'message type {ros_type} is not there: {error}. Build the workspace, and source it.'
        ) from error
