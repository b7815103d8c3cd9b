"""Whom the door has let in, and what he may do."""

from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """What a guest may do; each may do all that those before him may."""

    SPECTATOR = 'spectator'
    """Watch, and press the emergency stop."""

    OPERATOR = 'operator'
    """Take control, and run episodes."""

    SUPERVISOR = 'supervisor'
    """Invite others, send them away, and stop every workcell."""

    def includes(self, other: 'Role') -> bool:
        """Returns whether this role may do all that the other may."""
        order = list(Role)
        return order.index(self) >= order.index(other)


@dataclass(frozen=True, kw_only=True)
class Guest:
    """Who a page is, as its token or its place says.

    Attributes:
        role: What it may do.
        name: Shown to others; empty if it may choose one.
        task: What it was invited for; empty for any task.
        invitation_id: Of the invitation that let it in; empty for the owner of the machine.
        expires_s: Unix time after which it may not come in again [s]; infinite for the owner.
        at_the_machine: It needs no token: whoever sits at the machine itself runs the bridge and drives.
    """

    role: Role
    name: str = ''
    task: str = ''
    invitation_id: str = ''
    expires_s: float = float('inf')
    at_the_machine: bool = False

    @property
    def comes_to_drive(self) -> bool:
        """It wants a place at once. A supervisor who comes by a link watches until he asks for one."""
        return self.role is Role.OPERATOR or self.at_the_machine
