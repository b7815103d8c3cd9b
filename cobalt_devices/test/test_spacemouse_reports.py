"""The parser of input reports, on bytes as people have recorded and published them, and on what devices never say.

Recorded: SpaceNavigator and SpaceMouse Wireless, by Wireshark (github.com/AndunHH/spacemouse, SpaceNavigator.md and
SpaceMouseWireless.md). Made by the published layout, as no recording was at hand: the reports of SpaceMouse Pro,
Enterprise, Compact and the Universal Receiver (github.com/JakubAndrysek/PySpaceMouse, devices.toml).
"""

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cobalt_devices.spacemouse_models import MODELS, MULTI_AXIS, model_of
from cobalt_devices.spacemouse_reports import AXES, SpaceMouseState, together


def after(*reports):
    state = SpaceMouseState()
    for report in reports:
        state = state.after(bytes.fromhex(report) if isinstance(report, str) else report)
    return state


def deflections(state):
    return {name: round(value * 350) for name, value in zip(AXES, state.axes, strict=True) if value}


def test_a_space_navigator_says_place_and_turn_in_two_reports():
    # Recorded while the cap was tilted to the right.
    assert deflections(after('01 00 00 00 00 00 00', '02 00 00 e2 ff 00 00')) == {'ry': -30}


def test_a_new_report_of_one_kind_keeps_what_the_other_kind_said():
    state = after('01 0a 00 00 00 f6 ff', '02 00 00 e2 ff 00 00', '01 14 00 00 00 00 00')
    assert deflections(state) == {'tx': 20, 'ry': -30}
    assert deflections(after('01 0a 00 00 00 f6 ff', '01 00 00 00 00 00 00', '02 00 00 00 00 00 00')) == {}


def test_a_wireless_mouse_and_its_receivers_say_all_in_one_report():
    report = struct.pack('<B6h', 1, -350, 100, 350, -1, 0, 35)
    assert deflections(after(report)) == {'tx': -350, 'ty': 100, 'tz': 350, 'rx': -1, 'rz': 35}
    # Some systems fill reports up.
    assert after(report + bytes(3)) == after(report)


@pytest.mark.parametrize(
    ('report', 'buttons'),
    [
        ('03 01 00', 0b1), ('03 02 00', 0b10), ('03 03 00', 0b11),  # SpaceNavigator, recorded
        ('03 01 00 00 00 00 00', 0b1),  # a SpaceMouse Pro: Menu
        ('03 00 10 00 00 00 00', 1 << 12),  # its key 1
        ('03 00 00 40 00 00 00', 1 << 22),  # Esc
        ('03 00 00 00 02 00 00', 1 << 25),  # Ctrl
        ('03 01', 0b1),
    ],
)  # fmt: skip
def test_each_bit_is_a_button(report, buttons):
    assert after(report).buttons == buttons
    assert after(report, '03 00 00').buttons == 0


def test_presses_are_counted_and_not_repeats():
    state = after('03 01 00', '03 01 00', '03 03 00', '03 00 00', '03 01 00')
    assert state.press_counts[:3] == (2, 1, 0)


@pytest.mark.parametrize('report', ['', '01', '01 00', '02 00 00', '17 64 01 00', '1c 0d 00 00', '04 01', 'ff' * 64])
def test_what_says_nothing_about_axes_or_buttons_changes_nothing(report):
    before = after('01 0a 00 00 00 f6 ff', '03 01 00')
    assert before.after(bytes.fromhex(report)) == before


def test_deflections_beyond_the_published_range_are_full_ones():
    assert after(struct.pack('<B6h', 1, 500, -500, 32767, -32768, 350, 351)).axes == (1.0, -1.0, 1.0, -1.0, 1.0, 1.0)


@settings(deadline=None)
@given(st.lists(st.binary(max_size=70), max_size=20))
def test_no_bytes_make_it_fail_or_leave_its_range(reports):
    state = after(*reports)
    assert len(state.axes) == 6 and all(-1.0 <= value <= 1.0 for value in state.axes)
    assert 0 <= state.buttons < 2**32


def test_a_receiver_s_mice_count_as_one():
    moved, pressed = after('01 5e 01 00 00 00 00'), after('01 5e 01 a2 fe 00 00', '03 02 00')
    state = together([moved, pressed])
    assert state.axes[:2] == (1.0, -1.0)
    assert (state.buttons, state.press_counts[1]) == (0b10, 1)
    assert together([]) == SpaceMouseState()


def test_a_spacemouse_is_known_by_vendor_and_product():
    assert model_of(0x046D, 0xC626, *MULTI_AXIS) == 'SpaceNavigator'
    assert model_of(0x256F, 0xC652, *MULTI_AXIS) == '3Dconnexion Universal Receiver'
    assert model_of(0x256F, 0xC635, 0, 0) == 'SpaceMouse Compact', 'where the system does not tell the usage'
    assert model_of(0x256F, 0xC6FF, *MULTI_AXIS) is not None, 'one that will be made'


@pytest.mark.parametrize(
    ('vendor', 'product', 'usage'),
    [
        (0x046D, 0xC077, (1, 2)),  # a mouse
        (0x046D, 0xC216, (1, 4)),  # a gamepad
        (0x256F, 0xC652, (0xFF00, 1)),  # the receiver's interface for its own settings
        (0x256F, 0xC650, (1, 2)),  # a CadMouse
        (0x1234, 0xC626, MULTI_AXIS),
    ],
)
def test_other_devices_are_left_alone(vendor, product, usage):
    assert model_of(vendor, product, *usage) is None


def test_the_table_holds_old_and_new_models():
    assert {vendor for vendor, _ in MODELS} == {0x046D, 0x256F}
    assert len(MODELS) >= 20
