"""Samples are coalesced, newest first, and losses are counted."""

import itertools

import pytest

from cobalt_teleop.bridge.operators.sample_gate import SampleGate
from cobalt_teleop.bridge.wire.page_messages import PageMessage


def sample(sequence, device_ms=None, buttons=0, engaged=False, press_counts=(0,)):
    levels = {'buttons': buttons, 'engaged': engaged, 'press_counts': press_counts}
    device_ms = float(sequence) if device_ms is None else device_ms
    return PageMessage('keys', {'sequence': sequence, 'device_ms': device_ms} | levels)


def offer(gate, given, now_s):
    return gate.offer(given, now_s) if gate.hear(given, now_s) else None


def passed_in_a_second(samples_at):
    """Runs a gate for a second in steps of 1 ms; returns when samples passed [s]."""
    gate, passed, due = SampleGate(rate_hz=40.0), [], []
    for millisecond in range(1000):
        now = millisecond / 1000
        for _ in [at for at in due if at <= now]:
            if gate.take(now) is not None:
                passed.append(now)
        due = [at for at in due if at > now]
        delay = offer(gate, samples_at(millisecond), now)
        if delay == 0.0:
            passed += [now] if gate.take(now) is not None else []
        elif delay is not None:
            due.append(now + delay)
    return passed


def test_a_lone_sample_passes_at_once():
    gate = SampleGate()
    assert offer(gate, sample(1), 10.0) == 0.0
    assert gate.take(10.0)['sequence'] == 1
    assert gate.take(10.0) is None


def test_of_a_burst_the_first_passes_at_once_and_the_newest_when_its_turn_comes():
    gate = SampleGate(rate_hz=40.0)
    assert offer(gate, sample(1), 10.0) == 0.0
    gate.take(10.0)
    assert abs(offer(gate, sample(2), 10.005) - 0.020) < 1e-9
    assert offer(gate, sample(3), 10.010) is None, 'one timer is enough'
    assert gate.take(10.025)['sequence'] == 3


def test_no_more_than_forty_pass_in_a_second():
    assert 38 <= len(passed_in_a_second(sample)) <= 41


def test_forty_in_a_second_hold_too_where_every_sample_says_something_new():
    passed = passed_in_a_second(lambda millisecond: sample(millisecond, press_counts=(millisecond,)))
    assert 38 <= len(passed) <= 43
    assert all(later - earlier >= 0.024 for earlier, later in itertools.pairwise(passed[3:]))


@pytest.mark.parametrize('news', [{'buttons': 1}, {'engaged': True}, {'press_counts': (1,)}])
def test_what_changes_passes_at_once_and_overtakes_what_waits(news):
    gate = SampleGate(rate_hz=40.0)
    offer(gate, sample(1), 10.0)
    gate.take(10.0)
    assert offer(gate, sample(2), 10.005) > 0.0
    assert offer(gate, sample(3, **news), 10.010) == 0.0
    assert gate.take(10.010)['sequence'] == 3
    assert offer(gate, sample(4, **news), 10.015) > 0.0
    assert gate.take(10.025) is None, "the turn of the one that was overtaken is nobody's"
    assert gate.take(10.061)['sequence'] == 4


def test_after_three_quick_changes_the_fourth_waits_for_its_token():
    gate = SampleGate(rate_hz=40.0)
    for number in range(3):
        assert offer(gate, sample(number, buttons=number), 10.0) == 0.0
        assert gate.take(10.0)['sequence'] == number
    assert abs(offer(gate, sample(3, buttons=9), 10.0) - 0.025) < 1e-9
    assert gate.take(10.025)['buttons'] == 9


def test_an_older_sample_is_dropped():
    gate = SampleGate()
    offer(gate, sample(5), 1.0)
    gate.take(1.0)
    assert offer(gate, sample(4), 1.1) is None
    assert gate.take(1.2) is None


def test_losses_and_jitter_are_counted():
    gate = SampleGate()
    for sequence, at in ((1, 1.00), (2, 1.05), (5, 1.10)):
        offer(gate, sample(sequence, at * 1000), at)
    counts = gate.take_counts()
    assert (counts.received, counts.lost) == (3, 2)
    assert counts.jitter_ms < 1e-6
    assert gate.take_counts().received == 0


HOUR_MS = 3_600_000.0


def run(gate, arrivals):
    """Offers samples as (sequence, device time [ms], arrival [s], buttons); returns the sequences that passed."""
    passed = []
    for sequence, device_ms, at, buttons in arrivals:
        if offer(gate, sample(sequence, device_ms, buttons), at) == 0.0:
            passed.append(gate.take(at)['sequence'])
    return passed


def test_what_was_pressed_before_a_cut_and_arrives_after_it_moves_nothing():
    gate = SampleGate()
    steady = [(number, HOUR_MS + number * 40.0, 5.0 + number * 0.04, 0) for number in range(50)]
    run(gate, steady)
    # Three samples wait in the sender over a cut of two seconds: a key pressed, held, let go.
    stale = [(50, HOUR_MS + 2000.0, 9.01, 1), (51, HOUR_MS + 2040.0, 9.01, 1), (52, HOUR_MS + 2080.0, 9.01, 0)]
    fresh = [(53, HOUR_MS + 4020.0, 9.03, 0)]
    assert run(gate, stale) == []
    assert run(gate, fresh) == [53]
    counts = gate.take_counts()
    assert counts.lost == 3


def test_bursts_of_wi_fi_are_let_through_newest_first():
    gate = SampleGate()
    passed = []
    for burst in range(20):
        arrival = 5.0 + (burst + 1) * 0.150
        held_back = [(burst * 4 + n, HOUR_MS + (burst * 4 + n) * 37.5, arrival, 2) for n in range(4)]
        passed += run(gate, held_back)
        waiting = gate.take(arrival + 0.075)
        passed += [waiting['sequence']] if waiting else []
    assert passed == sorted(passed)
    assert passed[-1] == 79
    assert gate.take_counts().lost == 0


def test_a_way_that_stays_longer_is_taken_for_what_it_is_after_a_while():
    gate = SampleGate()
    run(gate, [(number, number * 200.0, number * 0.2 + 0.01, 0) for number in range(50)])
    longer = [(number, number * 200.0, number * 0.2 + 0.7, number) for number in range(50, 120)]
    passed = run(gate, longer)
    assert passed
    assert 25 <= passed[0] - 50 <= 51, 'within five to ten seconds'
