"""Codes that let a second device join a session."""

import pytest

from cobalt_teleop.bridge.operators.pairings import LIFETIME_S, MOST_UNUSED, MOST_USED, PREFIX, Pairings
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
    codes = [pairings.issue('main') for _ in range(MOST_UNUSED + 2)]
    others = pairings.issue('other')
    found = [pairings.session_of(code, f'phone {number}') for number, code in enumerate(codes)]
    assert found == [None, None, *['main'] * MOST_UNUSED]
    assert pairings.session_of(others, 'tablet') == 'other'


def test_with_its_session_a_code_ends(clock):
    pairings = Pairings(clock)
    code = pairings.issue('main')
    pairings.session_of(code, 'phone')
    pairings.forget('main')
    assert pairings.session_of(code, 'phone') is None


def test_a_code_leads_to_the_first_place_that_others_reach_and_there_is_none_on_loopback_alone():
    links, picture = link_elsewhere(['http://127.0.0.1:8080', 'https://192.0.2.7:8080'], 'invite=x')
    assert links == ['https://192.0.2.7:8080/?invite=x'] and picture.startswith('data:image/svg')
    assert link_elsewhere(['http://127.0.0.1:8080'], 'invite=x') == ([], '')


def test_a_device_that_is_paired_anew_needs_its_old_code_no_more_and_of_many_the_last_ones_come_back(clock):
    pairings = Pairings(clock)
    codes = [pairings.issue('main') for _ in range(2)]
    assert [pairings.session_of(code, 'phone') for code in codes] == ['main', 'main']
    assert pairings.session_of(codes[0], 'phone') is None
    others = []
    for number in range(MOST_USED):
        others.append(pairings.issue('main'))
        pairings.session_of(others[-1], f'other {number}')
    assert pairings.session_of(codes[1], 'phone') is None
    assert pairings.session_of(others[0], 'other 0') == 'main'
    assert len(pairings.known) == MOST_USED


def test_a_later_run_knows_the_codes_of_the_sessions_that_it_knows(clock):
    before, after = Pairings(clock), Pairings(clock)
    used, unused, void = before.issue('main'), before.issue('main'), before.issue('gone')
    before.session_of(used, 'phone')
    assert not any(code in repr(before.known) for code in (used, unused, void)), 'nothing that is kept is a code'
    after.restore(before.known, ['main'])
    assert after.session_of(used, 'phone') == 'main'
    assert after.session_of(used, 'stranger') is None
    assert after.session_of(unused, 'tablet') == 'main'
    assert after.session_of(void, 'phone') is None
    clock.now_s = LIFETIME_S
    late = Pairings(clock)
    late.restore(before.known, ['main'])
    assert late.session_of(used, 'phone') == 'main'
    assert late.session_of(unused, 'tablet') is None
