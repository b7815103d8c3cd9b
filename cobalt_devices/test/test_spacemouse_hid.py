"""SpaceMice of this machine, with a double of hidapi: no kernel device can be made here without uhid."""

import stat
import sys
import threading
import time
from fnmatch import fnmatchcase
from importlib import import_module

import pytest
from fake_hidraw import FakeHidraw, Mouse

from cobalt_devices.spacemouse_hid import (
    OpenSpaceMouse,
    SpaceMouseError,
    SpaceMouseLostError,
    how_to_allow,
    plugged_in,
    udev_rule,
)
from cobalt_devices.spacemouse_models import MODELS


@pytest.fixture
def hidraw(monkeypatch):
    module = FakeHidraw()
    monkeypatch.setitem(sys.modules, 'hidraw', module)
    return module


def heard(mouse, condition, timeout_s=2.0):
    end_s = time.monotonic() + timeout_s
    while time.monotonic() < end_s:
        state = mouse.read(0.05)
        if state is not None and condition(state):
            return state
    return pytest.fail('never heard')


@pytest.mark.parametrize('split', [True, False])
def test_what_a_mouse_says_is_heard(hidraw, split):
    plugged = hidraw.plug_in(Mouse(split=split))
    mouse = OpenSpaceMouse(plugged_in())
    assert mouse.name == 'SpaceMouse Compact'
    assert mouse.read(0.03) is None
    plugged.push(0.5, 0.0, 0.0, 0.0, 0.0, -1.0)
    state = heard(mouse, lambda state: all((state.axes[0], state.axes[5])))
    assert state.axes == (0.5, 0.0, 0.0, 0.0, 0.0, -1.0)
    plugged.release()
    assert not any(heard(mouse, lambda state: not any(state.axes)).axes)
    plugged.press(0b10)
    assert heard(mouse, lambda state: state.buttons == 0b10).press_counts[1] == 1
    mouse.close()
    assert plugged.opened == 0


def test_reading_waits_for_the_device_and_takes_all_that_has_come(hidraw):
    plugged = hidraw.plug_in(Mouse())
    mouse = OpenSpaceMouse(plugged_in())
    threading.Timer(0.05, plugged.press, [1]).start()
    began_s = time.monotonic()
    assert mouse.read(1.0).buttons == 1
    assert time.monotonic() - began_s < 0.5
    for _ in range(3):
        plugged.press(1)
        plugged.press(0)
    assert heard(mouse, lambda state: state.buttons == 0).press_counts[0] == 3


def test_all_interfaces_of_a_receiver_are_heard_and_its_settings_left_alone(hidraw):
    receiver = [Mouse(product_id=0xC652, split=False) for _ in range(3)]
    settings = Mouse(product_id=0xC652, usage=(0xFF00, 1))
    for number, interface in enumerate([*receiver, settings]):
        hidraw.plug_in(interface, b'/dev/hidraw%d' % number)
    mouse = OpenSpaceMouse(plugged_in())
    assert [interface.opened for interface in receiver] == [1, 1, 1] and not settings.opened
    receiver[2].push(0.0, 1.0, 0.0, 0.0, 0.0, 0.0)
    assert heard(mouse, lambda state: any(state.axes)).axes[1] == 1.0


def test_a_mouse_that_is_pulled_out_is_told_at_once(hidraw):
    plugged = hidraw.plug_in(Mouse())
    mouse = OpenSpaceMouse(plugged_in())
    plugged.push(1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    heard(mouse, lambda state: any(state.axes))
    hidraw.pull_out()
    with pytest.raises(SpaceMouseLostError):
        for _ in range(50):
            mouse.read(0.02)
    assert plugged_in() == []


def test_a_mouse_that_may_not_be_opened_names_the_rule_and_the_command(hidraw):
    hidraw.plug_in(Mouse()).allowed = False
    with pytest.raises(SpaceMouseError) as refused:
        OpenSpaceMouse(plugged_in())
    text = str(refused.value)
    assert '/dev/hidraw7' in text and 'SpaceMouse Compact' in text
    assert f'sudo cp {udev_rule()} /etc/udev/rules.d/' in text and 'udevadm control --reload' in text


def test_without_hidapi_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, 'hidraw', None)
    with pytest.raises(SpaceMouseError, match='pip install hidapi'):
        plugged_in()


def test_the_real_hidapi_has_what_is_used_here():
    real = import_module('hidraw')
    assert isinstance(real.enumerate(), list)
    device = real.device()
    for name in ('open_path', 'set_nonblocking', 'read', 'close'):
        assert callable(getattr(device, name))
    with pytest.raises(OSError):
        device.open_path(b'/dev/no-such-hidraw')
    with pytest.raises(ValueError):
        device.read(64, 1)


def test_the_rule_is_installed_names_every_model_and_opens_nothing_to_the_world():
    rule = udev_rule()
    assert str(rule) in how_to_allow()
    lines = [line for line in rule.read_text().splitlines() if line and not line.startswith('#')]
    grants = [line for line in lines if 'MODE=' in line]
    assert len(grants) == 4
    for line in grants:
        mode = int(line.split('MODE="')[1].split('"')[0], 8)
        assert not mode & (stat.S_IROTH | stat.S_IWOTH | stat.S_IXOTH)
        assert 'TAG+="uaccess"' in line
    assert {line.split('==')[1].split('"')[1] for line in grants} == {'hidraw', 'usb'}
    assert int(rule.name.split('-')[0]) < 73, 'uaccess is given by 73-seat-late.rules'
    for vendor, product in MODELS:
        if vendor == 0x046D:
            assert any(fnmatch_any(line, 'ATTR{idProduct}==', f'{product:04x}') for line in grants)
            assert any(fnmatch_any(line, 'KERNELS==', f'0003:{vendor:04X}:{product:04X}.0005') for line in grants)
        else:
            assert any(fnmatch_any(line, 'KERNELS==', f'0005:{vendor:04X}:{product:04X}.0002') for line in grants)


def test_the_rule_leaves_logitech_s_mice_and_keyboards_alone():
    grants = [line for line in udev_rule().read_text().splitlines() if 'MODE=' in line]
    for product in (0xC077, 0xC31C, 0xC52B, 0xC216, 0xC622, 0xC62A):
        assert not any(fnmatch_any(line, 'ATTR{idProduct}==', f'{product:04x}') for line in grants if '046d' in line)
        assert not any(fnmatch_any(line, 'KERNELS==', f'0003:046D:{product:04X}.0001') for line in grants)


def fnmatch_any(line, key, value):
    """Tells whether a value matches one of the patterns, separated by |, that a rule's line gives for a key."""
    if key not in line:
        return False
    patterns = line.split(key, 1)[1].split('"')[1]
    return any(fnmatchcase(value, pattern) for pattern in patterns.split('|'))
