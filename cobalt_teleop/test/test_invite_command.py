"""`cobalt invite`."""

import argparse

import pytest

from cobalt_teleop.bridge.door import invite_command
from cobalt_teleop.bridge.door.guest import Role
from cobalt_teleop.bridge.door.invitations import Invitations, TokenRefusedError
from cobalt_teleop.bridge.door.last_tasks import keep_tasks
from cobalt_teleop.bridge.door.state_folder import StateFolder
from cobalt_teleop.bridge.door.welcome import keep_origins

PLACES = ['https://192.0.2.7:8080', 'https://robot.example.org']


@pytest.fixture
def folder(tmp_path):
    made = StateFolder(str(tmp_path / 'state'))
    keep_origins(made, PLACES)
    return made


@pytest.fixture
def invite(folder, capsys):
    def run(*words):
        parser = argparse.ArgumentParser()
        invite_command.add_parser(parser.add_subparsers())
        options = parser.parse_args(['invite', '--state-dir', str(folder.path), *words])
        code = options.func(options)
        return code, capsys.readouterr()

    return run


def token_of(link):
    return link.partition('invite=')[2].partition('&')[0]


def test_it_prints_a_link_for_each_place_of_the_bridge(invite, folder):
    code, printed = invite('--role', 'operator', '--task', 'lift', '--hours', '8', '--name', 'Ada')
    links = printed.out.splitlines()
    assert code == 0 and [link.partition('/?')[0] for link in links] == PLACES
    guest = Invitations(folder).check(token_of(links[0]))
    assert (guest.role, guest.task, guest.name) == (Role.OPERATOR, 'lift', 'Ada')


def test_a_link_may_open_a_workcell_at_another_place(invite):
    _, printed = invite('--origin', 'https://other.example/', '--workcell', 'env_1')
    assert printed.out.startswith('https://other.example/?invite=') and printed.out.endswith('&workcell=env_1\n')


def test_the_owners_links_bring_his_own_token(invite, folder):
    _, printed = invite('--owner')
    assert printed.out.splitlines()[0] == f'{PLACES[0]}/?token={folder.read("owner_token").decode()}'
    assert Invitations(folder).issued() == []


def test_invitations_are_listed_and_revoked(invite, folder):
    assert 'No invitation' in invite('--list')[1].out
    token = token_of(invite('--name', 'Ada')[1].out.splitlines()[0])
    invitation_id = Invitations(folder).check(token).invitation_id
    assert invitation_id in invite('--list')[1].out
    assert invite('--revoke', invitation_id)[0] == 0
    assert 'revoked' in invite('--list')[1].out
    with pytest.raises(TokenRefusedError):
        Invitations(folder).check(token)


@pytest.mark.parametrize(
    ('words', 'reason'),
    [(('--revoke', 'nobody'), 'no invitation'), (('--hours', '0'), 'hours'), (('--name', 'x' * 99), 'name')],
)
def test_what_cannot_be_is_said_in_one_line(invite, words, reason):
    code, printed = invite(*words)
    assert code == 2 and reason in printed.err and len(printed.err.splitlines()) == 1


def test_without_a_bridge_it_says_what_to_do(invite, folder):
    folder.file('origins.json').unlink()
    code, printed = invite()
    assert code == 2 and '--origin' in printed.err


def test_it_makes_no_link_to_a_bridge_that_serves_its_own_machine_alone(invite, folder):
    keep_origins(folder, ['http://127.0.0.1:8080'])
    code, printed = invite('--role', 'operator')
    assert (code, printed.out) == (2, '')
    assert 'serves this machine alone' in printed.err and '--state-dir' in printed.err
    assert Invitations(folder).issued() == []
    assert invite('--origin', 'https://tunnel.example')[0] == 0
    assert invite('--owner')[1].out.startswith('http://127.0.0.1:8080/?token=')


def test_a_qr_code_is_drawn_below_the_link(invite):
    lines = invite('--qr')[1].out.splitlines()
    assert len(lines) > 15 and len({len(line) for line in lines[2:]}) == 1


def test_it_says_if_no_workcell_has_the_task(invite, folder):
    assert invite('--task', 'stack')[1].err == '', 'nothing is known yet'
    keep_tasks(folder, ['lift', 'pick_place'])
    code, printed = invite('--task', 'stack')
    assert code == 0 and "'stack'" in printed.err and 'lift, pick_place' in printed.err
    assert invite('--task', 'lift')[1].err == ''
