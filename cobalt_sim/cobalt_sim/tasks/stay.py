"""For how long something has been so without a break."""


class Stay:
    """Told at every state, in order, whether something is so."""

    def __init__(self) -> None:
        self._since: float | None = None

    def seconds(self, time: float, *, is_so: bool) -> float:
        """Returns for how long it has been so [s].

        Args:
            time: Of this state [s].
            is_so: In this state.
        """
        if not is_so:
            self._since = None
            return 0.0
        if self._since is None:
            self._since = time
        # Half a step of slack: times are sums of time steps.
        return time - self._since + 1e-3
