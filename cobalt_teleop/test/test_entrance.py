"""Which locks a bridge has, by its parameters."""

import shutil

import pytest

from cobalt_teleop.bridge.door.certificate import CertificateError, own_certificate
from cobalt_teleop.bridge.door.door import OwnerTokenError
from cobalt_teleop.bridge.door.entrance import open_entrance
from cobalt_teleop.bridge.door.limits import DoorLimits
from cobalt_teleop.bridge.door.listening import AddressError
from cobalt_teleop.bridge.door.own_names import machine_addresses, machine_names
from cobalt_teleop.bridge.door.state_folder import StateFolder
from cobalt_teleop.bridge.door.welcome import kept_origins


@pytest.fixture
def folder(tmp_path):
    return StateFolder(str(tmp_path / 'state'))


@pytest.fixture
def entrance(folder, monkeypatch):
    """Opens entrances, and closes them."""
    monkeypatch.delenv('COBALT_TOKEN', raising=False)
    opened = []

    def open_one(host='127.0.0.1', **values):
        given = {'port': 0, 'tls_certificate': '', 'tls_key': '', 'public_names': ()} | values
        opened.append(open_entrance(host=host, **given, limits=DoorLimits(), folder=folder, log=print))
        return opened[-1]

    yield open_one
    for one in opened:
        one.listener.close()


def test_on_loopback_there_is_no_tls_and_no_token(entrance):
    made = entrance()
    assert not made.secure and not made.door.needs_token
    assert made.names.is_own_host('localhost') and not made.names.is_own_host(machine_addresses()[0])
    assert made.text.startswith('Open http://127.0.0.1:')


@pytest.mark.parametrize('host', ['0.0.0.0', '::', machine_addresses()[0]])
def test_off_loopback_there_are_both_always(entrance, host):
    made = entrance(host)
    assert made.secure and made.door.needs_token
    assert {*machine_names(), *machine_addresses()} <= set(made.certificate.names)
    assert made.names.is_own_host(machine_addresses()[0])
    assert 'https://' in made.text


def test_a_name_of_a_proxy_brings_a_token_also_on_loopback(entrance, folder):
    made = entrance(public_names=('robot.example.org:8443',))
    assert not made.secure and made.door.needs_token
    assert made.names.is_own_host('robot.example.org:8443')
    assert kept_origins(folder)[0] == 'https://robot.example.org:8443'


def test_a_public_name_is_in_our_certificate(entrance):
    assert 'robot.example.org' in entrance('0.0.0.0', public_names=('robot.example.org',)).certificate.names


def test_a_users_certificate_is_served_and_its_names_are_own(entrance, folder, tmp_path):
    theirs = own_certificate(StateFolder(str(tmp_path / 'theirs')), ['*.lab.example', 'arm.lab.example', 'localhost'])
    files = [shutil.copy(file, tmp_path) for file in (theirs.file, theirs.key_file)]
    for host, place in (('127.0.0.1', 'https://127.0.0.1:0'), ('0.0.0.0', 'https://arm.lab.example:0')):
        made = entrance(host, tls_certificate=str(files[0]), tls_key=str(files[1]))
        assert made.certificate.fingerprint == theirs.fingerprint
        assert made.names.is_own_host('leg.lab.example') and made.names.is_own_host('127.0.0.1')
        assert kept_origins(folder)[0] == place
        assert theirs.fingerprint not in made.text, 'who has his own certificate has nothing to compare'


def test_what_cannot_be_is_refused_and_the_old_links_stay(entrance, folder, monkeypatch):
    before = entrance()
    kept = kept_origins(folder)
    taken = before.listener.getsockname()[1]
    for values, error in (
        ({'port': taken}, AddressError),
        ({'host': 'robot'}, AddressError),
        ({'public_names': ('https://a.b/',)}, AddressError),
        ({'tls_key': 'x'}, CertificateError),
    ):
        with pytest.raises(error):
            entrance(**values)
    monkeypatch.setenv('COBALT_TOKEN', 'short')
    with pytest.raises(OwnerTokenError):
        entrance()
    assert kept_origins(folder) == kept
