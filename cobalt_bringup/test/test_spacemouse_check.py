"""`cobalt doctor` about SpaceMice, with a double of hidapi's list."""

import sys
from types import SimpleNamespace

import pytest

from cobalt_bringup.doctor_checks import Status, spacemouse
from cobalt_devices.spacemouse_hid import PluggedIn, udev_rule


@pytest.fixture
def plugged(monkeypatch):
    """Plugs a SpaceMouse Compact in, whose device file is the given one."""

    def plug(path):
        entry = {
            'path': bytes(path), 'vendor_id': 0x256F, 'product_id': 0xC635, 'usage_page': 1, 'usage': 8,
        }  # fmt: skip
        monkeypatch.setitem(sys.modules, 'hidraw', SimpleNamespace(enumerate=lambda: [entry]))

    return plug


def test_none_is_no_fault(monkeypatch):
    monkeypatch.setitem(sys.modules, 'hidraw', SimpleNamespace(enumerate=list))
    assert (spacemouse().status, spacemouse().detail) == (Status.OK, 'none is plugged in')


def test_one_that_may_be_opened_is_named(plugged, tmp_path):
    file = tmp_path / 'hidraw0'
    file.touch()
    plugged(file)
    assert spacemouse().status is Status.OK
    assert spacemouse().detail == f'SpaceMouse Compact ({file})'


def test_one_that_may_not_be_opened_comes_with_the_rule_and_the_command(plugged, tmp_path, monkeypatch):
    file = tmp_path / 'hidraw0'
    file.touch()
    plugged(file)
    monkeypatch.setattr(PluggedIn, 'may_open', lambda self: False)  # root may open everything
    found = spacemouse()
    assert found.status is Status.WARN
    assert str(file) in found.detail
    assert f'sudo cp {udev_rule()} /etc/udev/rules.d/' in found.advice


def test_a_container_that_was_not_given_the_device_is_told_so(plugged, tmp_path):
    plugged(tmp_path / 'hidraw0')
    found = spacemouse()
    assert found.status is Status.WARN
    assert f'--device {tmp_path}/hidraw0' in found.advice


def test_without_hidapi_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, 'hidraw', None)
    found = spacemouse()
    assert found.status is Status.WARN
    assert 'pip install hidapi' in found.advice
