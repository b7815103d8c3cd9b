"""How much a picture may cost."""

from dataclasses import dataclass

from cobalt_teleop.core.errors import CobaltError


@dataclass(frozen=True, kw_only=True)
class RenderProfile:
    """Choices of the renderer.

    Attributes:
        name: Of the profile.
        shadows: Lights cast shadows.
        samples: Of multi-sample anti-aliasing; 0 for none.
    """

    name: str
    shadows: bool
    samples: int


PROFILES = {
    profile.name: profile
    for profile in (
        RenderProfile(name='fast', shadows=False, samples=0),
        RenderProfile(name='nice', shadows=True, samples=4),
    )
}
"""fast: for the CPU. nice: for a GPU."""


def load_profile(name: str) -> RenderProfile:
    """Returns a profile by name.

    Raises:
        CobaltError: There is no such profile.
    """
    if name not in PROFILES:
        raise CobaltError(f"there is no rendering profile '{name}'; known are {', '.join(PROFILES)}")
    return PROFILES[name]
