"""Whose place each workcell is, and who waits in line for one."""

from collections.abc import Callable, Iterable


class Places:
    """One place a workcell, and one line for all of them. People are named by their sessions.

    A place belongs to somebody from the moment at which he is led to it until he gives control back, leaves, or is idle
    while others wait. It says who may take control; whether he has it, the workcell's host knows.
    """

    def __init__(self) -> None:
        self._keepers: dict[str, str] = {}
        self._line: list[str] = []

    @property
    def line(self) -> tuple[str, ...]:
        """Who waits, the next one first."""
        return tuple(self._line)

    def keeper(self, workcell: str) -> str:
        """Returns whose place a workcell is; empty if it is nobody's."""
        return self._keepers.get(workcell, '')

    def place_of(self, session: str) -> str:
        """Returns the workcell at which somebody has his place; empty if he has none."""
        return next((workcell for workcell, keeper in self._keepers.items() if keeper == session), '')

    def position(self, session: str) -> int:
        """Returns how many go before somebody in the line, and himself; 0 if he does not wait."""
        return self._line.index(session) + 1 if session in self._line else 0

    def join(self, session: str, *, first: bool = False) -> None:
        """Puts somebody without a place at the end of the line, or at its head."""
        if session in self._line or self.place_of(session):
            return
        self._line.insert(0 if first else len(self._line), session)

    def leave_line(self, session: str) -> None:
        """Somebody no longer waits."""
        if session in self._line:
            self._line.remove(session)

    def take(self, session: str, workcell: str) -> str:
        """Gives somebody a workcell's place, and returns who had it until now; empty if that was nobody else."""
        self.leave_line(session)
        if self._keepers.get(workcell) == session:
            return ''
        self.give_up(session)
        before = self._keepers.get(workcell, '')
        self._keepers[workcell] = session
        return before

    def give_up(self, session: str) -> str:
        """Frees somebody's place, and returns which it was; empty if he had none."""
        workcell = self.place_of(session)
        if workcell:
            del self._keepers[workcell]
        return workcell

    def objection(self, session: str, workcell: str) -> str:
        """Returns whose place forbids somebody to take control of a workcell now; empty if nobody's does.

        While people wait, a place is its keeper's alone: nobody goes past the line. While nobody waits, whoever is
        there may take what is free.
        """
        keeper = self._keepers.get(workcell, '')
        return keeper if self._line and keeper != session else ''

    def assign(self, free: Iterable[str], fits: Callable[[str, str], bool]) -> list[tuple[str, str]]:
        """Leads those who wait to free workcells, in their order.

        Args:
            free: Workcells of which nobody has control, the best first.
            fits: Tells whether a session can go to a workcell now; one that cannot keeps its place in the line.

        Returns:
            Sessions, and the workcell whose place each has got.
        """
        open_places = [workcell for workcell in free if workcell not in self._keepers]
        given: list[tuple[str, str]] = []
        for session in self.line:
            workcell = next((one for one in open_places if fits(session, one)), None)
            if workcell is not None:
                open_places.remove(workcell)
                self.take(session, workcell)
                given.append((session, workcell))
        return given

    def restore(self, keepers: dict[str, str], line: Iterable[str]) -> None:
        """Goes on where an earlier run ended."""
        self._keepers = dict(keepers)
        self._line = list(line)
