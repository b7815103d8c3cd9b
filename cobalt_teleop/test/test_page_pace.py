"""How fast a page may speak."""

import random

from cobalt_teleop.bridge.operators.page_pace import PagePace


class Clock:
    now_s = 0.0

    def __call__(self):
        return self.now_s


def test_a_page_in_good_order_is_always_heard():
    clock = Clock()
    pace = PagePace(50.0, clock)
    for tick in range(60 * 60):  # a minute of keys at 60 Hz, pings, and reports
        clock.now_s = tick / 60
        assert pace.may_sample()
        if tick % 15 == 0:
            assert pace.may_sample() and pace.may_say()
        if tick % 240 == 0:
            assert pace.may_change()


def test_what_was_held_up_by_the_network_may_come_at_once():
    pace = PagePace(50.0, Clock())
    assert all(pace.may_sample() for _ in range(600)) and all(pace.may_say() for _ in range(100))


def test_what_two_cameras_lose_on_a_bad_link_may_be_asked_for_again():
    clock, chance = Clock(), random.Random(1)
    pace = PagePace(50.0, clock)
    late = []
    for tick in range(60 * 60):  # a minute of 2 cameras, 30 units a second of 30 fragments each, 20 % lost
        clock.now_s = tick / 60
        missing = sum(chance.random() < 0.2 for _ in range(30)) + sum(chance.random() < 0.2 for _ in range(sum(late)))
        late = [missing]
        assert pace.may_have_again(missing) and pace.may_have_again(0)


def test_a_flood_of_requests_for_video_is_not_heard():
    pace = PagePace(50.0, Clock())
    assert sum(pace.may_have_again(0) for _ in range(20_000)) == 8000
    dear = PagePace(50.0, Clock())
    assert sum(dear.may_have_again(256) for _ in range(1000)) == 31, 'a request costs what is sent for it'


def test_a_flood_is_not_heard_and_a_pause_ends_that():
    clock = Clock()
    pace = PagePace(50.0, clock)
    assert [sum(ask() for _ in range(5000)) for ask in (pace.may_say, pace.may_sample, pace.may_change)] == [
        200,
        2000,
        8,
    ]
    clock.now_s = 1.0
    assert pace.may_say() and pace.may_sample() and pace.may_change()
