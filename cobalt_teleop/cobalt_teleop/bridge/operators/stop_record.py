"""Who has pressed the emergency stop that is on: its host knows a name alone, and neither sessions nor roles."""

from dataclasses import dataclass
from typing import Protocol

from cobalt_teleop.bridge.door.guest import Role


class Presser(Protocol):
    """A session, as far as it stops an arm."""

    @property
    def session_id(self) -> str:
        """Its public name."""

    @property
    def operator(self) -> str:
        """Its person, as others see him."""

    @property
    def role(self) -> Role:
        """What it may do."""


@dataclass(frozen=True, kw_only=True)
class KnownStop:
    """A stop that outlives the bridge.

    Attributes:
        workcell: That is stopped.
        name: Of who pressed first, as the host says.
        session_id: Of who pressed first; empty if it was nobody's page.
        supervisor: Name of the first supervisor who pressed; empty if none did.
    """

    workcell: str
    name: str
    session_id: str
    supervisor: str


class StopRecord:
    """Notes of one workcell's stop, from the first press until it is released."""

    def __init__(self) -> None:
        self.name = ''
        """Of who pressed first, as the host said last; empty if no stop is on."""
        self.supervisor = ''
        """Name of the first supervisor who pressed; empty if none did."""
        self._sessions: dict[str, str] = {}

    def note(self, presser: Presser) -> bool:
        """A session presses; returns whether that says anything new."""
        before = dict(self._sessions), self.supervisor
        if presser.operator != self.name:
            self._sessions[presser.operator] = presser.session_id
        if presser.role.includes(Role.SUPERVISOR):
            self.supervisor = self.supervisor or presser.operator
        return before != (self._sessions, self.supervisor)

    def follow(self, stopped_by: str, *, in_sight: bool) -> None:
        """The host says who has pressed first.

        Args:
            stopped_by: His name; empty if no stop is on.
            in_sight: It has said so all the time; if false, what was pressed before may be over.
        """
        goes_on = bool(stopped_by) and (stopped_by == self.name or stopped_by in self._sessions)
        if not goes_on and (self.name or not in_sight):
            self._sessions.clear()
            self.supervisor = ''
        self.name = stopped_by

    def session(self) -> str:
        """Returns the session that pressed first; empty if it was nobody's page."""
        return self._sessions.get(self.name, '')

    def known(self, workcell: str) -> KnownStop | None:
        """Returns what a later run of the bridge has to know; None if no stop is on."""
        if not self.name:
            return None
        return KnownStop(workcell=workcell, name=self.name, session_id=self.session(), supervisor=self.supervisor)

    def restore(self, known: KnownStop) -> None:
        """Goes on where an earlier run ended."""
        self.name, self.supervisor = known.name, known.supervisor
        self._sessions = {known.name: known.session_id}
