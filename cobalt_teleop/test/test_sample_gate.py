"""Samples are coalesced, newest first, and losses are counted."""

from cobalt_teleop.bridge.page_messages import PageMessage
from cobalt_teleop.bridge.sample_gate import SampleGate


def sample(sequence, device_ms=0.0):
    return PageMessage('keys', {'sequence': sequence, 'device_ms': device_ms})


def test_a_lone_sample_passes_at_once():
    gate = SampleGate()
    assert gate.offer(sample(1), 10.0) == 0.0
    assert gate.take(10.0)['sequence'] == 1
    assert gate.take(10.0) is None


def test_of_a_burst_the_first_passes_at_once_and_the_newest_when_its_turn_comes():
    gate = SampleGate(rate_hz=40.0)
    assert gate.offer(sample(1), 10.0) == 0.0
    gate.take(10.0)
    assert abs(gate.offer(sample(2), 10.005) - 0.020) < 1e-9
    assert gate.offer(sample(3), 10.010) is None, 'one timer is enough'
    assert gate.take(10.025)['sequence'] == 3


def test_no_more_than_forty_pass_in_a_second():
    gate, passed, due = SampleGate(rate_hz=40.0), 0, None
    for millisecond in range(1000):
        now = millisecond / 1000
        if due is not None and now >= due:
            passed, due = passed + (gate.take(now) is not None), None
        delay = gate.offer(sample(millisecond), now)
        if delay == 0.0:
            passed += gate.take(now) is not None
        elif delay is not None:
            due = now + delay
    assert 38 <= passed <= 41


def test_an_older_sample_is_dropped():
    gate = SampleGate()
    gate.offer(sample(5), 1.0)
    gate.take(1.0)
    assert gate.offer(sample(4), 1.1) is None
    assert gate.take(1.2) is None


def test_losses_and_jitter_are_counted():
    gate = SampleGate()
    for sequence, at in ((1, 1.00), (2, 1.05), (5, 1.10)):
        gate.offer(sample(sequence, at * 1000), at)
    counts = gate.take_counts()
    assert (counts.received, counts.lost) == (3, 2)
    assert counts.jitter_ms < 1e-6
    assert gate.take_counts().received == 0
