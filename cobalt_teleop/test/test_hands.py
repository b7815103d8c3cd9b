"""Whose hand counts, where several pages of a session have a device of one kind."""

import pytest

from cobalt_teleop.bridge.operators.hands import KEPT_S, Hands


class Pages:
    """Two pages of a session, at a clock that stands until it is set on."""

    def __init__(self):
        self.now_s = 0.0
        self.hands = Hands(lambda: self.now_s)

    def press(self, page, press=1, part='arm'):
        return self.hands.may_speak(page, 'phone', part, press=press)

    def rest(self, page):
        return self.hands.may_speak(page, 'phone', 'arm', press=None)

    def wait(self):
        self.now_s += KEPT_S + 0.01


@pytest.fixture
def pages():
    return Pages()


def test_one_hand_at_a_time_drives_an_arm(pages):
    assert pages.press('laptop')
    assert not pages.press('phone')
    assert not pages.rest('phone'), 'its rest would end the press that drives'
    assert pages.press('phone', part='right')
    assert pages.rest('laptop')
    assert pages.press('phone')


def test_a_hand_that_falls_silent_leaves_the_arm_to_a_fresh_press(pages):
    pages.press('laptop')
    pages.wait()
    assert pages.press('phone')


def test_a_press_that_waited_drives_only_when_it_is_made_again(pages):
    pages.press('laptop')
    pages.press('phone')
    pages.rest('laptop')
    assert not pages.press('phone')
    assert pages.press('phone', 2)


def test_a_press_that_waited_drives_not_even_when_the_other_fell_silent_until_it_was_let_go(pages):
    pages.press('laptop')
    pages.press('phone')
    pages.wait()
    assert not pages.press('phone')
    assert pages.rest('phone')
    assert pages.press('phone'), 'a page that was loaded again may count as before'


def test_a_hand_that_comes_back_from_silence_finds_the_arm_taken_and_must_press_again(pages):
    pages.press('laptop')
    pages.wait()
    pages.press('phone')
    assert not pages.press('laptop')
    pages.rest('phone')
    assert not pages.press('laptop')
    assert pages.press('laptop', 2)


def test_a_silent_hand_s_press_outlives_no_rest_of_another(pages):
    pages.press('laptop')
    pages.wait()
    assert pages.rest('phone')
    assert not pages.press('laptop')


def test_a_hand_that_was_silent_while_no_other_spoke_goes_on(pages):
    pages.press('laptop')
    pages.wait()
    assert pages.press('laptop')
