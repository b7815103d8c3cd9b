"""How much a picture may cost."""

from dataclasses import dataclass

from cobalt_teleop.core.errors import CobaltError


@dataclass(frozen=True, kw_only=True)
class RenderProfile:
    """Choices of the renderer.

    Attributes:
        name: Of the profile.
        shadows: Lights cast shadows.
        reflections: The table mirrors a little.
        samples: Of multi-sample anti-aliasing; 0 for none.
        textures: Wood grain and floor tiles.
    """

    name: str
    shadows: bool
    reflections: bool
    samples: int
    textures: bool


PROFILES = {
    profile.name: profile
    for profile in (
        RenderProfile(name='fast', shadows=False, reflections=False, samples=0, textures=False),
        RenderProfile(name='nice', shadows=True, reflections=True, samples=4, textures=True),
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
