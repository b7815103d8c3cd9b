"""Certificates: made when they are needed, and the user's own."""

import datetime
import shutil
import ssl

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from cobalt_teleop.bridge.door.certificate import (
    CertificateError,
    kept_certificate,
    own_certificate,
    user_certificate,
)
from cobalt_teleop.bridge.door.state_folder import StateFolder

NAMES = ('lab', 'lab.local', 'localhost', '192.0.2.7', 'fd00::7')
NOW = datetime.datetime(2027, 3, 1, tzinfo=datetime.UTC)


@pytest.fixture
def folder(tmp_path):
    return StateFolder(str(tmp_path / 'state'))


def test_it_is_for_every_name_and_address_and_a_client_that_knows_it_trusts_it(folder):
    certificate = own_certificate(folder, NAMES)
    assert set(certificate.names) == set(NAMES)
    server = certificate.context()
    client = ssl.create_default_context(cafile=str(certificate.file))
    for name in NAMES:
        to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
        sides = (
            client.wrap_bio(to_client, to_server, server_hostname=name),
            server.wrap_bio(to_server, to_client, server_side=True),
        )
        for side in sides * 3:
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                pass
        assert sides[0].version() == 'TLSv1.3', name


def test_it_signs_nothing_but_itself(folder):
    parsed = x509.load_pem_x509_certificate(own_certificate(folder, NAMES).file.read_bytes())
    assert parsed.extensions.get_extension_for_class(x509.BasicConstraints).value.ca is False


def test_it_stays_the_same_while_its_names_and_time_hold(folder):
    first = own_certificate(folder, NAMES, NOW)
    assert own_certificate(folder, NAMES[:3], NOW + datetime.timedelta(days=300)) == first
    assert kept_certificate(folder) == first


@pytest.mark.parametrize(('names', 'days'), [((*NAMES, '198.51.100.4'), 0), (NAMES, 380)])
def test_a_new_name_or_its_age_makes_it_anew_with_the_same_key(folder, names, days):
    first = own_certificate(folder, NAMES, NOW)
    key = first.key_file.read_bytes()
    second = own_certificate(folder, names, NOW + datetime.timedelta(days=days))
    assert second.fingerprint != first.fingerprint
    assert set(names) <= set(second.names)
    assert second.key_file.read_bytes() == key


def test_a_laptop_that_goes_to_and_fro_is_trusted_in_both_networks(folder):
    own_certificate(folder, ['lab', '192.0.2.7'], NOW)
    both = own_certificate(folder, ['lab', '198.51.100.4'], NOW)
    assert own_certificate(folder, ['lab', '192.0.2.7'], NOW) == both
    for number in range(200):
        last = own_certificate(folder, ['lab', f'203.0.113.{number}'], NOW)
    assert len(last.names) == 60 and last.names[:2] == ('lab', '203.0.113.199')


def test_a_users_certificate_is_taken_with_its_names(folder, tmp_path):
    made = own_certificate(folder, NAMES, NOW)
    files = [shutil.copy(file, tmp_path) for file in (made.file, made.key_file)]
    taken = user_certificate(*files, NOW)
    assert (taken.names, taken.fingerprint) == (made.names, made.fingerprint)
    taken.context()


def refused(file, key_file, words, now=NOW):
    with pytest.raises(CertificateError, match=words):
        user_certificate(str(file), str(key_file), now)


def test_what_is_wrong_with_a_users_certificate_is_said(folder, tmp_path):
    made = own_certificate(folder, NAMES, NOW)
    other = own_certificate(StateFolder(str(tmp_path / 'other')), NAMES, NOW)
    text = tmp_path / 'text'
    text.write_text('hello')
    refused(made.file, '', "'tls_certificate' is set and 'tls_key' is not")
    refused('', made.key_file, "'tls_key' is set and 'tls_certificate' is not")
    refused(tmp_path / 'none', made.key_file, "'tls_certificate'.*cannot be read: No such file")
    refused(made.file, tmp_path / 'none', "'tls_key'.*cannot be read")
    refused(tmp_path, made.key_file, 'cannot be read: Is a directory')
    refused(text, made.key_file, 'no certificate in PEM form')
    refused(made.file, text, 'does not belong')
    refused(made.file, other.key_file, 'does not belong')
    refused(made.file, made.key_file, 'has expired on 2028-04-01', NOW + datetime.timedelta(days=500))


def test_a_key_with_a_pass_phrase_is_refused_without_a_prompt(folder, tmp_path):
    made = own_certificate(folder, NAMES, NOW)
    key = serialization.load_pem_private_key(made.key_file.read_bytes(), None)
    locked = tmp_path / 'locked.pem'
    locked.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b'secret'),
        )
    )
    refused(made.file, locked, 'pass phrase')


@pytest.mark.parametrize('content', [b'', b'rubbish'])
def test_a_damaged_folder_is_named(folder, content):
    own_certificate(folder, NAMES)
    folder.write('certificate.pem', content)
    with pytest.raises(CertificateError, match=r'certificate\.pem'):
        own_certificate(folder, NAMES)
    folder.write('certificate_key.pem', content)
    with pytest.raises(CertificateError, match=r'certificate_key\.pem'):
        own_certificate(folder, NAMES)


def test_a_key_of_another_kind_is_named(folder):
    key = rsa.generate_private_key(65537, 2048).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    folder.write('certificate_key.pem', key)
    with pytest.raises(CertificateError, match='another kind of key'):
        own_certificate(folder, NAMES)
