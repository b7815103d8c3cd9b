"""Who may listen, and who may ask."""

import socket

import pytest

from cobalt_teleop.bridge.door.loopback import AddressError, is_own_host, is_own_origin, listen


@pytest.mark.parametrize('host', ['0.0.0.0', '::', '192.168.1.4', 'example.org', ''])
def test_an_address_off_loopback_is_refused(host):
    with pytest.raises(AddressError, match=r'127\.0\.0\.1'):
        listen(host, 18999)


def test_a_busy_port_is_refused_with_what_to_do():
    with socket.socket() as taken:
        taken.bind(('127.0.0.1', 0))
        taken.listen()
        with pytest.raises(AddressError, match=r"is not free.*'port'"):
            listen('127.0.0.1', taken.getsockname()[1])


def test_foreign_names_and_origins_are_told_from_our_own():
    assert all(map(is_own_host, ('127.0.0.1:8080', 'localhost:8080', 'localhost', '[::1]:8080')))
    assert not any(map(is_own_host, ('evil.example:8080', '192.168.1.4:8080', '', 'localhost.evil.example')))
    assert is_own_origin('http://localhost:8080', 'localhost:8080')
    assert is_own_origin(None, 'localhost:8080')
    for origin in ('http://evil.example', 'null', 'http://localhost:3000', 'https://localhost:8080', ''):
        assert not is_own_origin(origin, 'localhost:8080')
