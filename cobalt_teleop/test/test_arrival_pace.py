"""How often pages may come in."""

from cobalt_teleop.bridge.door.arrival_pace import ArrivalPace
from cobalt_teleop.bridge.door.guest import Guest, Role
from cobalt_teleop.bridge.door.limits import DoorLimits

OWNER = Guest(role=Role.SUPERVISOR)
LIMITS = DoorLimits(
    arrivals_of_session=(2, 1.0),
    arrivals_of_invitation=(4, 1.0),
    arrivals_of_address=(6, 1.0),
    arrivals_of_owner=(8, 1.0),
)


def by(invitation_id):
    return Guest(role=Role.SPECTATOR, invitation_id=invitation_id)


class Entrance:
    def __init__(self, **values):
        self.now_s = 0.0
        self.pace = ArrivalPace(LIMITS, lambda: self.now_s, **values)

    def come(self, guest, sessions, address='192.0.2.1'):
        """Returns how many of these sessions were let in."""
        return sum(self.pace.may_come(guest, session, address) for session in sessions)


def test_a_session_may_reload_some_times_and_then_at_a_pace():
    entrance = Entrance()
    assert entrance.come(by('a'), ['s'] * 5) == 2
    entrance.now_s = 1.1
    assert entrance.come(by('a'), ['s'] * 5) == 1


def test_new_sessions_help_nobody_and_another_link_at_the_address_still_comes_in():
    entrance = Entrance()
    assert entrance.come(by('spy'), range(100)) == 4
    assert entrance.come(by('spy'), range(100, 200), '192.0.2.2') == 0
    assert entrance.come(by('ada'), ['ada']) == 1
    assert entrance.come(by('others'), range(200, 300)) == 1
    assert entrance.come(by('ada'), ['bo'], '192.0.2.2') == 1


def test_others_at_his_address_do_not_keep_the_owner_out():
    entrance = Entrance()
    for link in 'abc':
        entrance.come(by(link), [f'{link}{number}' for number in range(10)])
    assert entrance.come(by('d'), ['d']) == 0
    assert entrance.come(OWNER, range(20)) == 8
    assert entrance.come(OWNER, ['other machine'], '192.0.2.2') == 1


def test_its_memory_is_bounded():
    entrance = Entrance(remembered=3)
    for number in range(20):
        entrance.come(by(f'link {number}'), [f'session {number}'], f'192.0.2.{number}')
    assert {kind: len(kept) for kind, kept in entrance.pace._buckets.items()} == {
        'session': 3, 'invitation': 3, 'address': 3,
    }  # fmt: skip
