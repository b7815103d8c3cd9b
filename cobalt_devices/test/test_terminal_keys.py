from cobalt_devices.terminal_keys import TerminalKeys
from cobalt_teleop.core.keyboard_actions import ACTIONS, BITS

INDEX = {action.name: index for index, action in enumerate(ACTIONS)}


def test_one_character_is_a_press_and_no_hold():
    keys = TerminalKeys()
    keys.feed('w', 1.0)
    sample = keys.sample(1.0)
    assert sample.press_counts[INDEX['away']] == 1
    assert sample.buttons == 0


def test_repeats_hold_until_shortly_after_the_last():
    keys = TerminalKeys()
    for now_s in (1.0, 1.5, 1.53, 1.56):
        keys.feed('w', now_s)
    assert keys.sample(1.57).buttons == BITS['away']
    assert keys.sample(1.7).buttons == BITS['away']
    assert keys.sample(1.8).buttons == 0


def test_a_held_space_switches_the_gripper_once():
    keys = TerminalKeys()
    for step in range(20):
        keys.feed(' ', 1.0 + (0.5 if step else 0.0) + 0.03 * step)
    sample = keys.sample(2.2)
    assert sample.press_counts[INDEX['gripper']] == 1
    assert sample.buttons == 0


def test_capital_letters_are_slow():
    keys = TerminalKeys()
    for now_s in (1.0, 1.5, 1.53):
        keys.feed('W', now_s)
    assert keys.sample(1.54).buttons == BITS['away'] | BITS['slow']


def test_arrow_keys_come_as_sequences_also_in_pieces():
    keys = TerminalKeys()
    keys.feed('\x1b', 1.0)
    keys.feed('[A', 1.001)
    keys.feed('\x1b[6~\x1b[1;5Cx', 1.1)
    sample = keys.sample(1.1)
    assert sample.press_counts[INDEX['away']] == 1
    assert sample.press_counts[INDEX['down']] == 1
    assert sum(sample.press_counts) == 2
    keys.feed('', 2.0)
    assert not keys.stop


def test_escape_alone_stops():
    keys = TerminalKeys()
    keys.feed('\x1b', 1.0)
    assert not keys.stop
    keys.feed('', 1.1)
    assert keys.stop
