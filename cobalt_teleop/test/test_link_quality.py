"""A person without a technical eye is told how the link is, and what to do."""

import pytest
from page_module import evaluate

GOOD = {'silent_ms': 40, 'rtt_ms': 30, 'jitter_ms': 4, 'loss': 0.0, 'age_ms': 80, 'freezes': 0}


def words(**changes):
    return evaluate('link_quality.js', 'return m.linkQuality(facts);', facts=GOOD | changes)


def test_a_good_link_is_called_good():
    assert words()['word'] == 'Good'


@pytest.mark.parametrize(
    ('changes', 'level', 'says'),
    [
        ({'loss': 0.05}, 'fair', '5 of 100 messages are lost'),
        ({'loss': 0.2}, 'poor', 'cable'),
        ({'age_ms': 300}, 'fair', '300 ms old: move slowly'),
        ({'rtt_ms': 600, 'age_ms': None}, 'poor', '600 ms'),
        ({'jitter_ms': 60}, 'fair', 'bursts'),
        ({'freezes': 9}, 'poor', '9 times'),
        ({'silent_ms': 4200}, 'lost', 'Nothing has come for 4 s. The arm holds.'),
        ({'rtt_ms': None}, 'unknown', 'Not enough'),
        ({'loss': 0.05, 'rtt_ms': 900}, 'poor', '900 ms'),
    ],
)
def test_the_worst_of_it_is_named_with_advice(changes, level, says):
    found = words(**changes)
    assert found['level'] == level
    assert says in found['text']


def test_what_is_not_known_is_not_held_against_the_link():
    assert words(loss=None, jitter_ms=None, age_ms=None)['level'] == 'good'


def test_the_meter_tells_trips_loss_and_freezes_of_the_last_half_minute():
    found = evaluate(
        'link_quality.js',
        """
        const meter = new m.LinkMeter();
        for (let id = 0; id < 100; id += 1) {
          const at_ms = id * 250;
          meter.onPing(id, at_ms);
          if (id % 5) meter.onPong(id, at_ms + (id % 2 ? 20 : 30)); // one in five is lost
        }
        meter.onFreezes(3, 20_000);
        meter.onFreezes(5, 24_000);
        return [meter.read(28_000), meter.read(80_000)];
        """,
    )
    recent, later = found
    assert recent['rtt_ms'] in (20, 30)
    assert 5 < recent['jitter_ms'] <= 10
    assert recent['loss'] == pytest.approx(1 - 0.8**0.5, abs=0.01)
    assert recent['freezes'] == 2
    assert later == {'rtt_ms': None, 'jitter_ms': None, 'loss': None, 'freezes': 0}
