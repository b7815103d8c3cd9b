"""The list of real cameras as launch arguments give it: names, each with =TOPIC if need be; `none` for none."""

from collections.abc import Sequence

NONE = ('none',)


def named_cameras(cameras: Sequence[str]) -> dict[str, str]:
    """Returns the topic of each camera, empty for the usual one, by the camera's name."""
    if tuple(cameras) == NONE:
        return {}
    return {name: topic for name, _, topic in (text.partition('=') for text in cameras)}


def camera_names(cameras: Sequence[str]) -> tuple[str, ...]:
    """Returns the names of the cameras."""
    return tuple(named_cameras(cameras))
