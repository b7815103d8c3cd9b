"""Who drives: the authority that was chosen, and its epoch, which counts hand-overs."""

from cobalt_teleop.core.command import Authority


class Arbiter:
    """The authority over one workcell. A person drives by default."""

    def __init__(self) -> None:
        self._chosen = Authority.HUMAN
        self._before_homing = Authority.HUMAN
        self.epoch = 0
        """+1 at each hand-over."""
        self.reason = 'a person drives by default'
        """Why it is what it is."""

    @property
    def chosen(self) -> Authority:
        """Who may drive now."""
        return self._chosen

    def choose(self, authority: Authority, reason: str) -> None:
        """Hands over to another authority; the same one again is no hand-over."""
        if authority is self._chosen:
            return
        if authority is Authority.HOMING:
            self._before_homing = self._chosen
        self._chosen = authority
        self.reason = reason
        self.epoch += 1

    def new_holder(self, name: str) -> None:
        """Counts a change of the person in control."""
        self.epoch += 1
        self.reason = f'{name} took control' if name else 'control was released'

    def homing_done(self) -> None:
        """Hands back to whoever drove before the way home."""
        if self._chosen is Authority.HOMING:
            self.choose(self._before_homing, 'the way home is over')
