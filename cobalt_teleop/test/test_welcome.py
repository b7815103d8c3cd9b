"""What is printed at the start."""

from pathlib import Path

import pytest

from cobalt_teleop.bridge.door.certificate import own_certificate
from cobalt_teleop.bridge.door.state_folder import StateFolder
from cobalt_teleop.bridge.door.welcome import keep_origins, kept_origins, origins, welcome

ADDRESSES = ['192.0.2.7', 'fd00::7', 'fe80::1', '127.0.0.1', '::1']
TOKEN = 't' * 43


@pytest.mark.parametrize(
    ('host', 'secure', 'names', 'expected'),
    [
        ('127.0.0.1', False, (), ['http://127.0.0.1:8080']),
        ('localhost', False, (), ['http://localhost:8080']),
        ('::1', False, (), ['http://[::1]:8080']),
        ('192.0.2.9', True, (), ['https://192.0.2.9:8080']),
        ('0.0.0.0', True, (), ['https://192.0.2.7:8080']),
        ('::', True, (), ['https://192.0.2.7:8080', 'https://[fd00::7]:8080']),
        ('127.0.0.1', False, ('a.b:8443',), ['https://a.b:8443', 'http://127.0.0.1:8080']),
    ],
)
def test_places_are_those_that_can_be_reached(host, secure, names, expected):
    assert origins(host, 8080, secure=secure, public_names=names, addresses=ADDRESSES) == expected


def test_on_loopback_one_line_says_where_to_go():
    assert welcome(['http://127.0.0.1:8080'], '', None, own=True, terminal=True) == (
        'Open http://127.0.0.1:8080/ in a browser'
    )


def test_a_person_at_a_terminal_gets_links_a_fingerprint_and_a_code_for_the_phone(tmp_path):
    certificate = own_certificate(StateFolder(str(tmp_path)), ['localhost'])
    text = welcome(['https://192.0.2.7:8080'], TOKEN, certificate, own=True, terminal=True)
    assert f'https://192.0.2.7:8080/?token={TOKEN}' in text
    assert certificate.fingerprint in text and '█' in text


def test_a_log_gets_no_token_and_says_how_to_get_one(tmp_path):
    certificate = own_certificate(StateFolder(str(tmp_path)), ['localhost'])
    text = welcome(['https://192.0.2.7:8080'], TOKEN, certificate, own=True, terminal=False)
    assert TOKEN not in text and '█' not in text and 'cobalt invite --owner' in text


@pytest.mark.parametrize('terminal', [True, False])
def test_links_for_others_are_made_for_this_bridge_not_another_ones(tmp_path, terminal):
    text = welcome(['https://192.0.2.7:8080'], TOKEN, None, own=False, terminal=terminal, state_dir='/srv/my robot')
    assert "cobalt invite --state-dir '/srv/my robot'" in text


def test_a_users_certificate_needs_no_comparison(tmp_path):
    certificate = own_certificate(StateFolder(str(tmp_path)), ['localhost'])
    assert certificate.fingerprint not in welcome(['https://a.b'], TOKEN, certificate, own=False, terminal=True)


def test_places_are_kept_for_later_links(tmp_path: Path):
    folder = StateFolder(str(tmp_path))
    assert kept_origins(folder) == []
    keep_origins(folder, ['https://192.0.2.7:8080'])
    assert kept_origins(folder) == ['https://192.0.2.7:8080']
    folder.write('origins.json', b'7')
    assert kept_origins(folder) == []
