"""How experts of two arms wait for one another. Pure."""

from cobalt_sim.experts.carrying import CarryingExpert


class Together:
    """Which point of their scripts the arms have come to.

    Args:
        parts: Names of the arms.
    """

    def __init__(self, parts: tuple[str, ...]) -> None:
        self.parts = parts
        self._points: dict[str, set[str]] = {part: set() for part in parts}

    def reach(self, part: str, point: str) -> None:
        """Tells that an arm has come to a point."""
        self._points[part].add(point)

    def leave(self, part: str) -> None:
        """Tells that an arm begins anew."""
        self._points[part].clear()

    def is_at(self, part: str, point: str) -> bool:
        """Returns whether an arm has come to a point."""
        return point in self._points[part]

    def all_at(self, point: str) -> bool:
        """Returns whether all arms have come to a point."""
        return all(point in points for points in self._points.values())


class PairedExpert(CarryingExpert):
    """One of two experts that wait for one another.

    Args:
        part: Its arm.
        together: Where it waits for the other.
        period_s: Time between two calls of `step` [s].
    """

    def __init__(self, part: str, together: Together, *, period_s: float) -> None:
        self._part, self._together = part, together
        super().__init__(period_s=period_s)

    def restart(self) -> None:
        """Releases the clutch; the next steps begin anew, as after a reset."""
        super().restart()
        self._together.leave(self._part)
