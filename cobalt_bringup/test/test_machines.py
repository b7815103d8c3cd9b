from pathlib import Path
from xml.etree import ElementTree

import pytest

from cobalt_bringup import cli, doctor_checks
from cobalt_bringup.doctor_checks import Status
from cobalt_bringup.machines_profile import MachinesError, checked_addresses, first_port, machines_of, machines_profile
from cobalt_bringup.packages import INSTALLED

HERE, THERE = '192.0.2.1', '192.0.2.2'


def elements(text):
    return [(element.tag, (element.text or '').strip()) for element in ElementTree.fromstring(text).iter()]


def test_the_shipped_profile_is_what_the_command_writes_for_its_addresses(tmp_path):
    file = tmp_path / 'machines.xml'
    assert cli.main(['machines', HERE, THERE, '-o', str(file)]) == 0
    shipped = Path(INSTALLED.find_share('cobalt_bringup')) / 'config' / 'fastdds_machines.xml'
    assert elements(file.read_text()) == elements(shipped.read_text())
    assert machines_of(file) == [HERE, THERE]


def test_every_machine_is_listened_at_and_asked_and_loopback_too():
    text = machines_profile(['10.0.0.1', '10.0.0.2', '10.0.0.1'])
    assert text.count('<address>10.0.0.1</address>') == text.count('<address>127.0.0.1</address>') == 2
    assert HERE not in text


def test_the_check_s_own_process_asks_one_machine_alone():
    text = machines_profile([HERE, THERE], peers=[THERE], participant=60)
    assert text.count(f'<address>{HERE}</address>') == 1
    assert text.count(f'<address>{THERE}</address>') == 2
    assert '<participantID>60</participantID>' in text


@pytest.mark.parametrize('address', ['foo', '127.0.0.1', '0.0.0.0', '239.255.0.1', '::1', '10.0.0.1/24', ''])
def test_what_is_no_address_of_a_machine_is_refused(address):
    with pytest.raises(MachinesError, match='address'):
        checked_addresses([HERE, address])


def test_the_command_says_what_is_wrong(tmp_path, capsys):
    assert cli.main(['machines', 'robot', '-o', str(tmp_path / 'x')]) == 2
    assert "'robot' is no IPv4 address, such as 192.168.1.20" in capsys.readouterr().err
    assert cli.main(['machines', HERE, '-o', str(tmp_path / 'no' / 'x')]) == 2
    assert 'cannot be written: No such file' in capsys.readouterr().err


def test_ports_are_those_of_the_domain():
    assert (first_port(0), first_port(26)) == (7400, 13900)


def test_doctor_passes_over_a_single_machine(monkeypatch):
    monkeypatch.delenv('FASTDDS_DEFAULT_PROFILES_FILE', raising=False)
    assert doctor_checks.machines().status is Status.OK
    monkeypatch.setenv(
        'FASTDDS_DEFAULT_PROFILES_FILE', f'{INSTALLED.find_share("cobalt_bringup")}/config/fastdds_local.xml'
    )
    assert doctor_checks.machines().status is Status.OK


def test_doctor_names_a_profile_without_this_machine(monkeypatch, tmp_path):
    profile = tmp_path / 'machines.xml'
    profile.write_text(machines_profile(['203.0.113.1', '203.0.113.2']))
    monkeypatch.setenv('FASTDDS_DEFAULT_PROFILES_FILE', str(profile))
    found = doctor_checks.machines()
    assert found.status is Status.FAIL
    assert 'none of 203.0.113.1, 203.0.113.2 is an address of this machine' in found.detail
    assert 'cobalt machines' in found.advice


def test_doctor_says_that_a_profile_cannot_be_read(monkeypatch, tmp_path):
    monkeypatch.setenv('FASTDDS_DEFAULT_PROFILES_FILE', str(tmp_path / 'gone.xml'))
    found = doctor_checks.machines()
    assert found.status is Status.FAIL and 'gone.xml' in found.detail
