"""Who is still taken when many are here: nobody can use up the room of all, and nobody's place is taken from him."""

from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

from cobalt_teleop.bridge.door.door import EntryRefusedError
from cobalt_teleop.bridge.door.guest import Guest, Role
from cobalt_teleop.bridge.door.limits import network_of

MAX_SESSIONS = 64

SESSIONS_UP_TO = {Role.SPECTATOR: 40, Role.OPERATOR: 56, Role.SUPERVISOR: MAX_SESSIONS}
"""So many sessions of a role, and of those that may do less; what is left is kept for those who may do more."""

SESSIONS_OF_INVITATION = 16

SESSIONS_OF_ADDRESS = 32
"""Without supervisors: who runs the bridge comes in, also from a network that is full of others."""


class Occupant(Protocol):
    """A session, as far as the room that it takes goes."""

    guest: Guest
    address: str


Kind = TypeVar('Kind', bound=Occupant)


def make_room(guest: Guest, address: str, here: Iterable[Kind], dispensable: Iterable[Kind]) -> tuple[Kind, ...]:
    """Returns which sessions go so that one more can come.

    Args:
        guest: Who comes.
        address: From where.
        here: All sessions.
        dispensable: Those of them whose page is gone and who keep nothing, the longest gone first.

    Raises:
        EntryRefusedError: There is no room.
    """
    staying, may_go, go = list(here), list(dispensable), []
    for most, counts, refusal in _rules(guest, address):
        if sum(counts(one) for one in staying) < most:
            continue
        leaver = next((one for one in may_go if counts(one)), None)
        if leaver is None:
            raise EntryRefusedError(refusal)
        staying.remove(leaver)
        may_go.remove(leaver)
        go.append(leaver)
    return tuple(go)


def _rules(guest: Guest, address: str) -> Iterable[tuple[int, Callable[[Occupant], bool], str]]:
    if guest.invitation_id:
        yield (
            SESSIONS_OF_INVITATION,
            lambda one: one.guest.invitation_id == guest.invitation_id,
            f'{SESSIONS_OF_INVITATION} pages are open by this link, and no more are taken: close one',
        )
    if guest.role is not Role.SUPERVISOR:
        yield (
            SESSIONS_OF_ADDRESS,
            lambda one: one.guest.role is not Role.SUPERVISOR and network_of(one.address) == network_of(address),
            f'{SESSIONS_OF_ADDRESS} pages are open from your network, and no more are taken: close one',
        )
        yield (
            SESSIONS_UP_TO[guest.role],
            lambda one: guest.role.includes(one.guest.role),
            'many pages are open, and the room that is left is kept for those who may do more: try again later',
        )
    yield MAX_SESSIONS, lambda one: True, f'{MAX_SESSIONS} pages are open, and no more are taken: close one'
