"""When a deadman switch counts as pressed, whoever publishes it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobalt_devices.deadman import Deadman

TIMEOUT_S = 0.5
FIRST, SECOND = b'first', b'second'


class Switch:
    def __init__(self):
        self.now_s = 10.0
        self.deadman = Deadman(TIMEOUT_S, lambda: self.now_s)

    def say(self, *said, after_s=0.05):
        """Has each of some publishers say something; returns the number of the press that goes on, if one does."""
        self.now_s += after_s
        for publisher, down in said:
            self.deadman.hear(down, publisher)
        return self.deadman.presses if self.deadman.pressed else None


@pytest.fixture
def switch():
    return Switch()


def test_the_first_word_presses_nothing(switch):
    assert switch.say((FIRST, True)) is None
    assert 'release' in switch.deadman.objection
    assert switch.say((FIRST, False)) is None
    assert switch.say((FIRST, True)) == 1
    assert switch.say((FIRST, True)) == 1
    assert not switch.deadman.objection


def test_what_is_heard_again_after_a_silence_must_be_released_first(switch):
    switch.say((FIRST, False))
    assert switch.say((FIRST, True)) == 1
    assert switch.say(after_s=2.0) is None
    assert switch.say((FIRST, True)) is None
    assert switch.say((FIRST, True)) is None
    switch.say((FIRST, False))
    assert switch.say((FIRST, True)) == 2


def test_of_two_that_disagree_the_one_that_lets_go_wins_and_both_must_be_released(switch):
    switch.say((FIRST, False), (SECOND, False))
    assert switch.say((FIRST, True)) is None
    assert 'one of its publishers' in switch.deadman.objection
    assert switch.say((SECOND, True), (FIRST, True)) == 1
    assert switch.say((FIRST, True), (SECOND, False)) is None
    assert switch.say((FIRST, True), (SECOND, True)) is None, 'the first went on all the while'
    switch.say((FIRST, False))
    assert switch.say((FIRST, True)) == 2


def test_a_stranger_s_first_word_ends_a_press_and_begins_none(switch):
    switch.say((FIRST, False))
    assert switch.say((FIRST, True)) == 1
    assert switch.say((SECOND, False)) is None
    assert switch.say((FIRST, True), after_s=1.0) is None, 'the stranger is silent, the press is over'
    switch.say((FIRST, False))
    assert switch.say((SECOND, True), (FIRST, True)) == 2


def test_a_switch_that_is_left_alone_by_the_silence_of_another_does_not_begin(switch):
    switch.say((FIRST, False), (SECOND, False))
    assert switch.say((FIRST, True)) is None
    for _ in range(20):
        assert switch.say((FIRST, True)) is None


@given(st.lists(st.tuples(st.sampled_from([FIRST, SECOND]), st.booleans(), st.sampled_from([0.02, 0.2, 0.6]))))
def test_each_press_begins_after_every_voice_was_released(said):
    switch = Switch()
    released, presses = set(), 0
    for publisher, down, after_s in said:
        pressed = switch.say((publisher, down), after_s=after_s)
        if not down:
            released.add(publisher)
        if pressed is not None:
            assert down
            if pressed != presses:
                assert publisher in released
                presses = pressed
                released.discard(publisher)
