"""How experts of two arms wait for one another. Pure."""


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
