"""The page's idea of the host's clock: never further off than it says, on crooked ways and with clocks that drift."""

import random

import pytest
from page_module import evaluate

OFFSET_MS = 3_600_000.0

REPLAY = """
const clock = new m.HostClock();
return exchanges.map(([sent_ms, host_ms, received_ms]) => {
  clock.addExchange(sent_ms, host_ms, received_ms);
  return [clock.offset_ms, clock.uncertainty_ms];
});
"""


def exchanges(up_ms, down_ms, *, drift_ppm=0.0, count=800, seed=1):
    """Pings every 750 ms; ways up and down by functions of a random generator."""
    chance = random.Random(seed)
    made, truth = [], []
    for number in range(count):
        sent = 1000.0 + number * 750.0
        there = sent + up_ms(chance)
        host = there * (1 + drift_ppm * 1e-6) + OFFSET_MS
        received = there + down_ms(chance)
        made.append((sent, host, received))
        truth.append(received * drift_ppm * 1e-6 + OFFSET_MS)
    return made, truth


def errors_of(made, truth):
    told = evaluate('clock.js', REPLAY, exchanges=made)
    return [(offset - true, uncertainty) for (offset, uncertainty), true in zip(told, truth, strict=True)]


@pytest.mark.parametrize('drift_ppm', [0.0, 100.0, -100.0])
def test_a_way_that_is_longer_in_one_direction_stays_within_what_is_told(drift_ppm):
    made, truth = exchanges(
        lambda chance: 10 + chance.expovariate(1 / 15),
        lambda chance: 40 + chance.expovariate(1 / 5),
        drift_ppm=drift_ppm,
    )
    errors = errors_of(made, truth)
    # The window of exchanges spans 18 s, in which a clock may drift by 1.8 ms.
    assert all(abs(error) <= uncertainty + 1.9 for error, uncertainty in errors)
    assert max(uncertainty for _, uncertainty in errors[24:]) < 35


def test_an_even_way_is_known_to_a_few_milliseconds_although_wi_fi_holds_packets_back():
    def burst(chance):
        return 5 + (chance.uniform(0, 150) if chance.random() < 0.5 else chance.expovariate(1 / 2))

    made, truth = exchanges(burst, burst)
    late = [abs(error) for error, _ in errors_of(made, truth)[24:]]
    assert sorted(late)[int(0.95 * len(late))] < 5


def test_a_drift_is_followed_for_ten_minutes():
    made, truth = exchanges(lambda _: 10.0, lambda _: 10.0, drift_ppm=200.0)
    assert max(abs(error) for error, _ in errors_of(made, truth)) < 4
