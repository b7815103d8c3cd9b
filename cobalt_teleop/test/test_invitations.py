"""Signed invitations: who gets in, and who does not."""

import base64
import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from cobalt_teleop.bridge.door.guest import Role
from cobalt_teleop.bridge.door.invitations import (
    MAX_TOKEN_CHARACTERS,
    InvitationError,
    Invitations,
    TokenRefusedError,
)
from cobalt_teleop.bridge.door.state_folder import StateFolder

HOUR_S = 3600.0


class Clock:
    def __init__(self):
        self.now_s = 1_800_000_000.0

    def __call__(self):
        return self.now_s


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def folder(tmp_path):
    return StateFolder(str(tmp_path))


@pytest.fixture
def invitations(folder, clock):
    return Invitations(folder, clock)


def test_an_invitation_brings_its_role_task_and_name(invitations, clock):
    guest = invitations.check(invitations.issue(Role.OPERATOR, 'lift', 8 * HOUR_S, 'Ada'))
    assert (guest.role, guest.task, guest.name) == (Role.OPERATOR, 'lift', 'Ada')
    assert guest.expires_s == clock.now_s + 8 * HOUR_S
    assert [kept.id for kept in invitations.issued()] == [guest.invitation_id]


def test_it_survives_a_restart(invitations, folder, clock):
    token = invitations.issue(Role.SPECTATOR, '', HOUR_S)
    assert Invitations(folder, clock).check(token).role is Role.SPECTATOR


def test_an_expired_one_is_refused(invitations, clock):
    token = invitations.issue(Role.OPERATOR, 'lift', HOUR_S)
    clock.now_s += HOUR_S
    with pytest.raises(TokenRefusedError, match='has expired'):
        invitations.check(token)
    assert invitations.issued() == []


def test_a_revoked_one_is_refused_in_every_process_and_after_a_restart(invitations, folder, clock):
    other_process = Invitations(folder, clock)
    token = invitations.issue(Role.OPERATOR, 'lift', HOUR_S)
    guest = other_process.check(token)
    assert other_process.is_open(guest.invitation_id)
    invitations.revoke(guest.invitation_id)
    assert not other_process.is_open(guest.invitation_id)
    for each in (invitations, other_process, Invitations(folder, clock)):
        with pytest.raises(TokenRefusedError, match='was revoked'):
            each.check(token)


def test_with_an_invitation_end_those_that_its_guest_has_issued(invitations, clock):
    supervisor = invitations.check(invitations.issue(Role.SUPERVISOR, '', HOUR_S, 'Eve'))
    friend = invitations.issue(Role.SUPERVISOR, '', 9 * HOUR_S, invited_by=supervisor.invitation_id)
    friend_of_friend = invitations.issue(
        Role.OPERATOR, '', 9 * HOUR_S, invited_by=invitations.check(friend).invitation_id
    )
    clock.now_s += 2 * HOUR_S
    invitations.check(friend_of_friend)
    invitations.revoke(supervisor.invitation_id)
    for token in (friend, friend_of_friend):
        with pytest.raises(TokenRefusedError, match='was revoked'):
            invitations.check(token)


def test_who_has_issued_is_remembered_as_long_as_what_he_issued(invitations, clock):
    supervisor = invitations.check(invitations.issue(Role.SUPERVISOR, '', HOUR_S))
    token = invitations.issue(Role.OPERATOR, '', 900 * HOUR_S, invited_by=supervisor.invitation_id)
    forgotten = invitations.check(invitations.issue(Role.OPERATOR, '', HOUR_S))
    clock.now_s += 500 * HOUR_S
    invitations.issue(Role.OPERATOR, '', HOUR_S)
    invitations.check(token)
    assert not invitations.is_open(forgotten.invitation_id)
    invitations.revoke(supervisor.invitation_id)
    assert not invitations.is_open(invitations.issued()[0].id)


def test_only_what_was_issued_can_be_revoked(invitations):
    token = invitations.issue(Role.OPERATOR, '', HOUR_S)
    with pytest.raises(InvitationError, match=invitations.check(token).invitation_id):
        invitations.revoke('nobody')


def forged(token, **claims):
    payload, _, signature = token.partition('.')
    content = json.loads(base64.urlsafe_b64decode(payload + '=' * (-len(payload) % 4))) | claims
    return base64.urlsafe_b64encode(json.dumps(content).encode()).rstrip(b'=').decode() + '.' + signature


@pytest.mark.parametrize('claims', [{'role': 'supervisor'}, {'exp': 9e12}, {'task': ''}, {'id': 'another'}])
def test_a_forged_claim_is_refused(invitations, claims):
    token = invitations.issue(Role.OPERATOR, 'lift', HOUR_S)
    with pytest.raises(TokenRefusedError, match='no signature of this installation'):
        invitations.check(forged(token, **claims))


def test_one_of_another_installation_is_refused(invitations, clock, tmp_path_factory):
    elsewhere = Invitations(StateFolder(str(tmp_path_factory.mktemp('elsewhere'))), clock)
    with pytest.raises(TokenRefusedError):
        invitations.check(elsewhere.issue(Role.OPERATOR, 'lift', HOUR_S))


def test_every_changed_letter_of_a_token_is_noticed(invitations):
    token = invitations.issue(Role.OPERATOR, 'lift', HOUR_S, 'Ada')
    for place in range(len(token)):
        for letter in 'A9_.':
            changed = token[:place] + letter + token[place + 1 :]
            if changed != token:
                with pytest.raises(TokenRefusedError):
                    invitations.check(changed)


@pytest.mark.parametrize('token', ['', '.', 'a.b', 'é', '\0', 'x' * (MAX_TOKEN_CHARACTERS + 1), '..', '=.='])
def test_what_is_no_token_is_refused(invitations, token):
    with pytest.raises(TokenRefusedError):
        invitations.check(token)


def test_a_single_use_invitation_belongs_to_the_first_session(invitations, folder, clock):
    token = invitations.issue(Role.OPERATOR, 'lift', HOUR_S, single_use=True)
    with pytest.raises(TokenRefusedError, match='for one session'):
        invitations.check(token)
    invitations.check(token, 'first')
    invitations.check(token, 'first')
    for each in (invitations, Invitations(folder, clock)):
        with pytest.raises(TokenRefusedError, match='another one has used it'):
            each.check(token, 'second')


def test_of_many_who_use_a_single_use_invitation_at_once_one_gets_in(invitations):
    token = invitations.issue(Role.OPERATOR, 'lift', HOUR_S, single_use=True)

    def tried(session_id):
        try:
            invitations.check(token, session_id)
        except TokenRefusedError:
            return 0
        return 1

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(tried, map(str, range(16)))) == 1


@pytest.mark.parametrize(
    ('values', 'words'),
    [
        ({'lifetime_s': 0.0}, 'hours'),
        ({'lifetime_s': 1e9}, 'hours'),
        ({'lifetime_s': float('nan')}, 'hours'),
        ({'name': 'x' * 61}, 'name'),
        ({'name': 'Eve\n'}, 'name'),
        ({'task': 'x' * 61}, 'task'),
    ],
)
def test_what_cannot_be_issued_is_said(invitations, values, words):
    with pytest.raises(InvitationError, match=words):
        invitations.issue(**({'role': Role.OPERATOR, 'task': 'lift', 'lifetime_s': HOUR_S} | values))


def test_the_longest_names_still_fit_into_a_token(invitations):
    token = invitations.issue(Role.SUPERVISOR, '漢' * 60, HOUR_S, '漢' * 60)
    assert len(token) <= MAX_TOKEN_CHARACTERS
    assert invitations.check(token).name == '漢' * 60


def test_a_damaged_register_lets_nobody_in(invitations, folder):
    token = invitations.issue(Role.OPERATOR, 'lift', HOUR_S)
    folder.write('invitations.json', b'{')
    with pytest.raises(InvitationError, match='damaged'):
        invitations.check(token)


def test_the_register_holds_no_token(invitations, folder):
    token = invitations.issue(Role.OPERATOR, 'lift', HOUR_S, 'Ada')
    assert token.partition('.')[2].encode() not in folder.read('invitations.json')
