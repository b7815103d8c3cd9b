"""How fast a page may speak."""

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
