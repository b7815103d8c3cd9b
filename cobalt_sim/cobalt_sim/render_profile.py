"""How much a picture may cost."""

from dataclasses import dataclass, replace
from typing import Literal

from cobalt_teleop.core.errors import CobaltError


@dataclass(frozen=True, kw_only=True)
class RenderProfile:
    """Choices of the renderer.

    Attributes:
        name: Of the profile.
        shadows: blob: soft patches straight below things; cast: by the lights; off: none.
        samples: Of multi-sample anti-aliasing; 0 for none.
    """

    name: str
    shadows: Literal['blob', 'cast', 'off']
    samples: int


PROFILES = {
    profile.name: profile
    for profile in (
        RenderProfile(name='fast', shadows='blob', samples=0),
        RenderProfile(name='nice', shadows='cast', samples=4),
    )
}
"""fast: for the CPU. nice: for a GPU."""


def load_profile(name: str, *, shadows: bool = True) -> RenderProfile:
    """Returns a profile by name, with the shadows that belong to it or with none.

    Raises:
        CobaltError: There is no such profile.
    """
    if name not in PROFILES:
        raise CobaltError(f"there is no rendering profile '{name}'; known are {', '.join(PROFILES)}")
    return PROFILES[name] if shadows else replace(PROFILES[name], shadows='off')
