"""Codes that let a second device join a session, and whose hand counts."""

import pytest

from cobalt_teleop.bridge.operators.hands import KEPT_S, Hands
from cobalt_teleop.bridge.operators.pairings import LIFETIME_S, MOST_OF_SESSION, PREFIX, Pairings
from cobalt_teleop.bridge.wire.page_events import link_elsewhere


class Clock:
    now_s = 0.0

    def __call__(self):
        return self.now_s


@pytest.fixture
def clock():
    return Clock()


def test_a_code_lets_one_device_in_and_lets_it_come_back(clock):
    pairings = Pairings(clock)
    code = pairings.issue('main')
    assert code.startswith(PREFIX)
    assert pairings.session_of(code, 'phone') == 'main'
    clock.now_s = 10 * LIFETIME_S
    assert pairings.session_of(code, 'phone') == 'main'
    assert pairings.session_of(code, 'stranger') is None


def test_a_code_that_nobody_used_is_void_after_a_while(clock):
    pairings = Pairings(clock)
    code = pairings.issue('main')
    clock.now_s = LIFETIME_S
    assert pairings.session_of(code, 'phone') is None


@pytest.mark.parametrize('code', ['', PREFIX, 'pair.x', 'x' * 1000, '\ud800'])
def test_what_is_no_code_lets_nobody_in(clock, code):
    pairings = Pairings(clock)
    pairings.issue('main')
    assert pairings.session_of(code, 'phone') is None


def test_a_device_without_a_key_is_not_let_in(clock):
    pairings = Pairings(clock)
    assert pairings.session_of(pairings.issue('main'), '') is None


def test_of_many_codes_the_newest_count_and_a_paired_device_stays(clock):
    pairings = Pairings(clock)
    codes = [pairings.issue('main') for _ in range(MOST_OF_SESSION + 2)]
    others = pairings.issue('other')
    found = [pairings.session_of(code, f'phone {number}') for number, code in enumerate(codes)]
    assert found == [None, None, *['main'] * MOST_OF_SESSION]
    assert pairings.session_of(others, 'tablet') == 'other'


def test_with_its_session_a_code_ends(clock):
    pairings = Pairings(clock)
    code = pairings.issue('main')
    pairings.session_of(code, 'phone')
    pairings.forget('main')
    assert pairings.session_of(code, 'phone') is None


def test_one_hand_at_a_time_drives_an_arm(clock):
    hands = Hands(clock)
    assert hands.may_speak('laptop', 'phone', 'arm', engaged=True)
    assert not hands.may_speak('phone', 'phone', 'arm', engaged=True)
    assert hands.may_speak('phone', 'phone', 'right', engaged=True)
    assert hands.may_speak('laptop', 'phone', 'arm', engaged=False)
    assert hands.may_speak('phone', 'phone', 'arm', engaged=True)


def test_a_hand_that_falls_silent_has_let_go(clock):
    hands = Hands(clock)
    hands.may_speak('laptop', 'phone', 'arm', engaged=True)
    clock.now_s = KEPT_S + 0.01
    assert hands.may_speak('phone', 'phone', 'arm', engaged=True)


def test_a_code_leads_to_the_first_place_that_others_reach_and_there_is_none_on_loopback_alone():
    links, picture = link_elsewhere(['http://127.0.0.1:8080', 'https://192.0.2.7:8080'], 'invite=x')
    assert links == ['https://192.0.2.7:8080/?invite=x'] and picture.startswith('data:image/svg')
    assert link_elsewhere(['http://127.0.0.1:8080'], 'invite=x') == ([], '')
