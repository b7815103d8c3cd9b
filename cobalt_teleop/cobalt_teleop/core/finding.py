"""What one check of a robot or a driver found."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """What one check found.

    Attributes:
        name: Of the check.
        ok: Whether it passes.
        text: What was found; what to do, if it does not pass.
    """

    name: str
    ok: bool
    text: str

    @property
    def line(self) -> str:
        """The finding for a person."""
        return f'{"OK     " if self.ok else "FAILED "} {self.name:<13} {self.text}'
