"""The page's own reading of SpaceMouse reports and gamepads, without a browser.

The bytes are those that people have recorded and published: SpaceNavigator and SpaceMouse Wireless
(github.com/AndunHH/spacemouse). Reports of six axes are made by the published layout.
"""

import struct

import pytest
from page_module import evaluate

READ = """
let state = m.AT_REST;
for (const [number, ...bytes] of reports) state = m.after(state, number, new DataView(Uint8Array.from(bytes).buffer));
return state;
"""


def after(*reports):
    found = evaluate('devices/spacemouse_reports.js', READ, reports=[list(bytes.fromhex(report)) for report in reports])
    found['axes'] = [round(value * 350) for value in found['axes']]
    return found


def test_place_and_turn_in_two_reports():
    assert after('01 0a 00 00 00 f6 ff', '02 00 00 e2 ff 00 00')['axes'] == [10, 0, -10, 0, -30, 0]


def test_all_in_one_report():
    report = struct.pack('<B6h', 1, -350, 100, 350, -1, 0, 400)
    assert after(report.hex())['axes'] == [-350, 100, 350, -1, 0, 350]


@pytest.mark.parametrize(
    ('report', 'buttons'),
    [('03 01 00', 1), ('03 02 00', 2), ('03 03 00', 3), ('03 00 00 40 00 00 00', 1 << 22), ('03 00 00 00 80', 1 << 31)],
)
def test_each_bit_is_a_button_and_presses_are_counted(report, buttons):
    found = after(report, report, '03 00 00', report)
    assert found['buttons'] == buttons
    assert found['pressCounts'] == [2 * (buttons >> index & 1) for index in range(32)]


@pytest.mark.parametrize('report', ['01 00', '02 00 00', '17 64 01', '1c 0d 00'])
def test_what_says_nothing_changes_nothing(report):
    assert after('01 0a 00 00 00 f6 ff', report) == after('01 0a 00 00 00 f6 ff')


def test_the_interfaces_of_a_receiver_count_as_one():
    states = [{'axes': [1, 0, 0, 0, 0, 0], 'buttons': 1, 'pressCounts': [1] + [0] * 31}] * 2
    found = evaluate('devices/spacemouse_reports.js', 'return m.together(states);', states=states)
    assert found == {'axes': [1, 0, 0, 0, 0, 0], 'buttons': 1, 'pressCounts': [2] + [0] * 31}


@pytest.mark.parametrize(
    ('name', 'plain', 'shoulders'),
    [
        ('Xbox Wireless Controller (STANDARD GAMEPAD Vendor: 045e Product: 0b13)', 'Xbox Wireless Controller',
         'LB or RB'),
        ('Xbox 360 Controller (XInput STANDARD GAMEPAD)', 'Xbox 360 Controller', 'LB or RB'),
        ('DualSense Wireless Controller (STANDARD GAMEPAD Vendor: 054c Product: 0ce6)', 'DualSense Wireless Controller',
         'L1 or R1'),
        ('054c-05c4-Wireless Controller', 'Wireless Controller', 'L1 or R1'),
        ('Pro Controller (STANDARD GAMEPAD Vendor: 057e Product: 2009)', 'Pro Controller', 'L or R'),
        ('', 'Gamepad', 'LB or RB'),
    ],
)  # fmt: skip
def test_gamepads_are_called_what_people_call_them(name, plain, shoulders):
    body = 'return [m.plainName(name), m.namesOf(name).shoulders];'
    assert evaluate('devices/gamepad_names.js', body, name=name) == [plain, shoulders]
