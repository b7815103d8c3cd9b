import pytest

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


@pytest.mark.parametrize('pause_s', [0.17, 0.3, 0.6, 0.9])
def test_after_a_rest_a_key_that_stays_down_is_not_pressed_again_by_a_pause_of_its_repeats(pause_s):
    keys = TerminalKeys()
    now_s = type_repeats(keys, 0.0, 1.0)
    assert keys.sample(now_s).buttons
    keys.rest(now_s)
    counts = keys.sample(now_s).press_counts
    now_s = type_repeats(keys, now_s, 1.0)
    now_s = type_repeats(keys, now_s + pause_s, 1.0)
    assert keys.must_rest
    assert keys.sample(now_s).buttons == 0 and keys.sample(now_s).press_counts == counts
    now_s = type_repeats(keys, now_s + 1.1, 0.5)
    assert not keys.must_rest and keys.sample(now_s).buttons
    assert sum(keys.sample(now_s).press_counts) == sum(counts) + 1


def test_escape_counts_also_while_keys_must_rest():
    keys = TerminalKeys()
    keys.rest(0.0)
    keys.feed('\x1b', 0.1)
    keys.feed('', 0.2)
    assert keys.stop


def type_repeats(keys, start_s, seconds):
    """Repeats a key 30 times a second; returns the time of the last."""
    for index in range(round(seconds * 30) + 1):
        keys.feed('w', start_s + index / 30)
    return start_s + round(seconds * 30) / 30
