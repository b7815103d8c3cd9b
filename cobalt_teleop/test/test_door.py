"""Who comes in, and what strangers learn."""

import pytest

from cobalt_teleop.bridge.door.door import (
    REFUSED,
    TOO_MANY,
    Door,
    EntryRefusedError,
    OwnerTokenError,
    owner_token,
)
from cobalt_teleop.bridge.door.guest import Role
from cobalt_teleop.bridge.door.invitations import Invitations
from cobalt_teleop.bridge.door.limits import DoorLimits
from cobalt_teleop.bridge.door.state_folder import StateFolder

OWNER = 'the-owner-of-this-robot'
STRANGER = '203.0.113.7'


class Entrance:
    """A door, and what it logs."""

    def __init__(self, folder, needs_token=True):
        self.now_s = 0.0
        self.wall_s = 1_800_000_000.0
        self.lines = []
        self.invitations = Invitations(folder, lambda: self.wall_s)
        self.door = Door(
            OWNER,
            self.invitations,
            DoorLimits(failed_tokens=3, failed_token_period_s=6.0),
            needs_token=needs_token,
            log=self.lines.append,
            clock=lambda: self.now_s,
        )

    def refusal(self, token, address=STRANGER, **values):
        with pytest.raises(EntryRefusedError) as refused:
            self.door.admit(token, address, **values)
        return str(refused.value)


@pytest.fixture
def folder(tmp_path):
    return StateFolder(str(tmp_path))


@pytest.fixture
def entrance(folder):
    return Entrance(folder)


def test_the_owner_supervises(entrance):
    guest = entrance.door.admit(OWNER, STRANGER)
    assert (guest.role, guest.invitation_id) == (Role.SUPERVISOR, '')
    assert entrance.door.is_still_welcome(guest)


def test_on_the_machine_itself_no_token_is_needed_but_one_counts(folder):
    entrance = Entrance(folder, needs_token=False)
    assert entrance.door.admit('', '127.0.0.1').role is Role.SUPERVISOR
    token = entrance.invitations.issue(Role.SPECTATOR, '', 60.0)
    assert entrance.door.admit(token, '127.0.0.1').role is Role.SPECTATOR
    assert entrance.refusal('wrong', '127.0.0.1') == REFUSED


def test_what_a_proxy_on_the_machine_passes_on_needs_a_token(folder):
    entrance = Entrance(folder, needs_token=False)
    assert entrance.refusal('', '127.0.0.1', forwarded=True) == REFUSED
    assert entrance.door.admit(OWNER, '127.0.0.1', forwarded=True).role is Role.SUPERVISOR


def test_strangers_are_told_the_same_whatever_was_wrong(entrance):
    expired = entrance.invitations.issue(Role.OPERATOR, '', 1.0)
    revoked = entrance.invitations.issue(Role.OPERATOR, '', 60.0)
    entrance.invitations.revoke(entrance.invitations.check(revoked).invitation_id)
    used = entrance.invitations.issue(Role.OPERATOR, '', 60.0, single_use=True)
    entrance.door.admit(used, STRANGER, session_id='first')
    entrance.wall_s += 2.0
    tokens = ('', 'wrong', OWNER + 'x', OWNER[:-1], expired, revoked, 'x' * 5000, 'ö\ud800', expired + 'x')
    answers = {entrance.refusal(token, f'203.0.113.{place}') for place, token in enumerate(tokens)}
    answers.add(entrance.refusal(used, '203.0.113.99', session_id='second'))
    assert answers == {REFUSED}
    for words in ('has expired', 'was revoked', 'another one has used it', 'no signature'):
        assert any(words in line for line in entrance.lines), words


def test_no_token_is_ever_logged(entrance):
    token = entrance.invitations.issue(Role.OPERATOR, '', 1.0)
    entrance.wall_s += 2.0
    for each in (token, OWNER + 'x', 'guess-of-a-stranger'):
        entrance.refusal(each)
    assert not any(part in line for line in entrance.lines for part in (token[:20], OWNER, 'guess'))


def test_who_guesses_must_wait_even_with_the_right_one_and_the_log_says_it_once(entrance):
    for _ in range(3):
        assert entrance.refusal('guess') == REFUSED
    for _ in range(50):
        assert entrance.refusal('guess') == TOO_MANY
    assert entrance.refusal(OWNER) == TOO_MANY
    assert len(entrance.lines) == 2 and 'last try' in entrance.lines[-1]
    assert entrance.door.admit(OWNER, '198.51.100.1').role is Role.SUPERVISOR
    entrance.now_s += 7.0
    assert entrance.door.admit(OWNER, STRANGER).role is Role.SUPERVISOR


def test_who_types_the_plain_address_has_guessed_at_nothing(entrance):
    for _ in range(50):
        assert entrance.refusal('') == REFUSED
    assert entrance.lines == []


def test_a_guest_is_welcome_until_his_invitation_is_revoked(entrance):
    guest = entrance.door.admit(entrance.invitations.issue(Role.OPERATOR, '', 60.0), STRANGER)
    entrance.wall_s += 120.0
    entrance.invitations.issue(Role.OPERATOR, '', 60.0)
    assert entrance.door.is_still_welcome(guest), 'who is in may stay when the time to come in is over'
    entrance.invitations.revoke(guest.invitation_id)
    assert not entrance.door.is_still_welcome(guest)


def test_the_owners_token_is_made_once_or_given(folder):
    made = owner_token(folder, {})
    assert len(made) >= 40 and owner_token(folder, {}) == made
    assert owner_token(folder, {'COBALT_TOKEN': 'a-token-of-20-letters'}) == 'a-token-of-20-letters'


@pytest.mark.parametrize('token', ['', 'short', 'x' * 2000, 'sixteen letters of it', 'wörter-sind-keine-schlüssel'])
def test_a_weak_or_odd_owners_token_is_refused_without_being_told(folder, token):
    with pytest.raises(OwnerTokenError, match='COBALT_TOKEN') as refused:
        owner_token(folder, {'COBALT_TOKEN': token})
    assert not token or token not in str(refused.value)
