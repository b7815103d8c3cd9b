"""Who is still taken when many are here."""

from dataclasses import dataclass

import pytest

from cobalt_teleop.bridge.door.door import EntryRefusedError
from cobalt_teleop.bridge.door.guest import Guest, Role
from cobalt_teleop.bridge.operators.capacity import (
    MAX_SESSIONS,
    SESSIONS_OF_ADDRESS,
    SESSIONS_OF_INVITATION,
    SESSIONS_UP_TO,
    make_room,
)

OWNER = Guest(role=Role.SUPERVISOR)


@dataclass(eq=False)
class One:
    guest: Guest
    address: str = '192.0.2.1'


def by(invitation_id, role=Role.SPECTATOR):
    return Guest(role=role, invitation_id=invitation_id)


def fill(most=500, role=Role.SPECTATOR, *, link=lambda n: f'link {n}', address=lambda n: f'192.0.2.{n}', here=()):
    """Returns who is here after so many have tried to come in."""
    here = list(here)
    for number in range(most):
        guest = by(link(number), role)
        try:
            make_room(guest, address(number), here, ())
        except EntryRefusedError:
            break
        here.append(One(guest, address(number)))
    return here


def test_one_link_takes_its_share_and_no_more():
    here = fill(link=lambda _: 'spy')
    assert len(here) == SESSIONS_OF_INVITATION < MAX_SESSIONS / 2
    assert make_room(by('other'), '192.0.2.1', here, ()) == ()


def test_one_network_takes_its_share_and_who_runs_the_bridge_comes_in_from_there():
    here = fill(address=lambda _: '2001:db8::1')
    assert len(here) == SESSIONS_OF_ADDRESS < MAX_SESSIONS
    with pytest.raises(EntryRefusedError, match='your network'):
        make_room(by('other'), '2001:db8::2', here, ())
    assert make_room(OWNER, '2001:db8::2', here, ()) == ()
    assert make_room(by('other'), '192.0.2.1', here, ()) == ()


def test_who_watches_leaves_room_for_who_drives_and_both_for_who_runs_the_bridge():
    here = fill()
    assert len(here) == SESSIONS_UP_TO[Role.SPECTATOR]
    here = fill(role=Role.OPERATOR, here=here)
    assert len(here) == SESSIONS_UP_TO[Role.OPERATOR] < MAX_SESSIONS
    assert make_room(OWNER, '192.0.2.1', here, ()) == ()
    with pytest.raises(EntryRefusedError, match='64 pages are open'):
        make_room(OWNER, '', [One(OWNER)] * MAX_SESSIONS, ())


def test_the_longest_gone_goes_that_makes_room_and_nobody_who_keeps_something():
    here = fill(link=lambda _: 'spy')
    stranger = One(by('other'))
    assert make_room(by('spy'), '', [stranger, *here], [stranger, here[3], here[1]]) == (here[3],)
    with pytest.raises(EntryRefusedError, match='by this link'):
        make_room(by('spy'), '', [stranger, *here], [stranger])
