"""An emergency stop outlives the host that was told of it: who starts another one has not released it."""

from cobalt_teleop.workcell_host.name_locks import NameLocks


class StopMemory:
    """Who has pressed the emergency stop of one workcell, as the lock of its name remembers it.

    Args:
        locks: Of the host.
        workcell_id: Of the workcell.
    """

    def __init__(self, locks: NameLocks, workcell_id: str) -> None:
        self._locks = locks
        self._id = workcell_id

    @property
    def who(self) -> str:
        """Who has pressed it; empty if it is released."""
        return self._locks.read(self._id)

    def note(self, who: str) -> None:
        """Remembers who has pressed it; empty once it is released."""
        self._locks.write(self._id, who)
