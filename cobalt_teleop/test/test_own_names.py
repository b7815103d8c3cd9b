"""Which names and origins are this server's own."""

import pytest

from cobalt_teleop.bridge.door.listening import AddressError
from cobalt_teleop.bridge.door.own_names import OwnNames, host_of_public_name, machine_addresses, machine_names, matches


class Machine:
    def __init__(self, *addresses):
        self.addresses = list(addresses)
        self.now_s = 0.0

    def names(self, *public_names, off_loopback=True, secure=True):
        return OwnNames(
            public_names,
            off_loopback=off_loopback,
            secure=secure,
            addresses=lambda: self.addresses,
            clock=lambda: self.now_s,
        )


FOREIGN = ('evil.example:8080', 'localhost.evil.example', '', '[', '[::1', '198.51.100.9', 'a b', '127.0.0.1.nip.io')


def test_on_loopback_its_names_alone_are_own():
    names = Machine('192.0.2.7').names(off_loopback=False, secure=False)
    for host in ('127.0.0.1:8080', 'localhost:8080', 'localhost', '[::1]:8080', 'LOCALHOST:8080'):
        assert names.is_own_host(host), host
    for host in (*FOREIGN, '192.0.2.7:8080', machine_names()[0] + '.example'):
        assert not names.is_own_host(host), host


def test_off_loopback_the_machines_names_and_addresses_are_own():
    names = Machine('192.0.2.7', 'fd00::7').names()
    for host in ('192.0.2.7:8080', '[fd00::7]:8080', '127.0.0.1', f'{machine_names()[0]}:8080', 'localhost'):
        assert names.is_own_host(host), host
    assert not any(map(names.is_own_host, FOREIGN))


def test_names_of_a_proxy_and_of_the_certificate_are_own():
    names = Machine().names('Robot.Example.org', '*.lab.example', '203.0.113.5')
    for host in ('robot.example.org', 'robot.example.org.:443', 'arm.lab.example:8080', '203.0.113.5'):
        assert names.is_own_host(host), host
    for host in ('example.org', 'lab.example', 'a.b.lab.example', 'xlab.example'):
        assert not names.is_own_host(host), host


def test_an_address_that_the_machine_gets_later_is_known_soon():
    machine = Machine('192.0.2.7')
    names = machine.names()
    assert names.is_own_host('192.0.2.7')
    machine.addresses.append('192.0.2.8')
    machine.now_s += 6.0
    assert names.is_own_host('192.0.2.8')


def test_strangers_names_do_not_make_it_look_at_its_network_again_and_again():
    looks = []
    names = OwnNames((), off_loopback=True, secure=True, addresses=lambda: looks.append(1) or [], clock=lambda: 0.0)
    for number in range(100):
        assert not names.is_own_host(f'evil{number}.example')
    assert len(looks) == 1


def test_a_page_of_this_server_may_ask_and_a_program_too():
    plain, secure = (Machine().names(secure=secure) for secure in (False, True))
    assert plain.is_own_origin('http://localhost:8080', 'localhost:8080')
    assert secure.is_own_origin('https://localhost:8080', 'localhost:8080')
    assert plain.is_own_origin(None, 'localhost:8080')
    for origin in ('http://evil.example', 'null', 'http://localhost:3000', ''):
        assert not plain.is_own_origin(origin, 'localhost:8080')
        assert not secure.is_own_origin(origin, 'localhost:8080')
    assert not plain.is_own_origin('https://localhost:8080', 'localhost:8080')
    assert not secure.is_own_origin('http://localhost:8080', 'localhost:8080')


def test_behind_a_proxy_that_ends_tls_pages_of_its_name_may_ask_by_https_alone():
    names = Machine().names('robot.example.org', off_loopback=False, secure=False)
    assert names.is_own_origin('https://robot.example.org', 'robot.example.org')
    assert not names.is_own_origin('https://other.example.org', 'robot.example.org')
    assert not names.is_own_origin('https://robot.example.org', 'localhost:8080')


@pytest.mark.parametrize(
    ('pattern', 'name', 'covered'),
    [('a.b', 'a.b', True), ('*.b', 'a.b', True), ('*.b', 'b', False), ('*.b', 'c.a.b', False), ('*.b', '.b', False)],
)
def test_a_wildcard_covers_one_label(pattern, name, covered):
    assert matches(pattern, name) is covered


@pytest.mark.parametrize(
    ('name', 'host'),
    [
        ('Robot.example.org', 'robot.example.org'),
        ('a.b:8443', 'a.b'),
        ('[fd00::7]:443', 'fd00::7'),
        ('192.0.2.1', '192.0.2.1'),
    ],
)
def test_a_public_name_may_have_a_port(name, host):
    assert host_of_public_name(name) == host


@pytest.mark.parametrize(
    'name', ['https://a.b', 'a.b/c', 'a b', 'ä.b', 'a.b:x', '[', 'u@a.b', '', '*.a.b', 'a.b:99999']
)
def test_what_is_no_public_name_is_refused(name):
    with pytest.raises(AddressError, match="'public_names'"):
        host_of_public_name(name)


def test_this_machine_has_loopback_last():
    addresses = machine_addresses()
    assert '127.0.0.1' in addresses
    assert addresses.index('127.0.0.1') >= len(addresses) - 2
    assert 'localhost' in machine_names()
