"""A person without a technical eye is told how the link is, and what to do."""

import pytest
from page_module import evaluate

from cobalt_teleop.bridge.wire.page_messages import LINK_CAUSES, LINK_LEVELS

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
        ({'age_ms': 300, 'rtt_ms': 150}, 'fair', '300 ms old: move slowly. Pause downloads'),
        ({'rtt_ms': 600, 'age_ms': None}, 'poor', '600 ms'),
        ({'jitter_ms': 60}, 'fair', 'bursts'),
        ({'freezes': 9, 'jitter_ms': 30}, 'poor', '9 times in half a minute. Use a cable'),
        ({'silent_ms': 4200}, 'lost', 'Nothing has come for 4 s. The arm holds.'),
        ({'rtt_ms': None}, 'unknown', 'Not enough'),
        ({'loss': 0.05, 'rtt_ms': 900}, 'poor', '900 ms'),
        ({'device_ms': 120}, 'fair', 'its processor is busy'),
        ({'device_ms': 90, 'freezes': 9, 'age_ms': 500, 'rtt_ms': 300}, 'poor', 'about 90 ms late'),
        ({'device_ms': 90, 'loss': 0.2}, 'poor', 'cable'),
        ({'device_ms': 30, 'freezes': 9}, 'poor', '9 times'),
    ],
)
def test_the_worst_of_it_is_named_with_advice(changes, level, says):
    found = words(**changes)
    assert found['level'] == level
    assert says in found['text']


@pytest.mark.parametrize(
    ('changes', 'says'),
    [
        ({'own_machine': True, 'freezes': 9, 'jitter_ms': 90}, 'This computer is too busy'),
        ({'own_machine': True, 'loss': 0.3}, 'This computer is too busy'),
        ({'freezes': 9}, "robot's computer is too busy"),
        ({'age_ms': 500}, "robot's computer is too busy"),
        ({'missed': 0.2, 'rtt_ms': 500, 'jitter_ms': 300}, "robot's computer is too busy"),
    ],
)
def test_what_a_busy_computer_makes_late_is_not_blamed_on_the_network(changes, says):
    found = words(**changes)
    assert (found['level'], found['cause']) == ('poor', 'computer')
    assert says in found['text'] and 'Wi-Fi' not in found['text'] and 'downloads' not in found['text']


def test_missed_ticks_are_told_as_a_share_of_the_last_half_minute():
    shares = evaluate(
        'link_quality.js',
        """
        const meter = new m.TickMeter();
        const told = [meter.share(100)];
        for (let s = 0; s <= 60; s += 1) meter.onStep(s < 30 ? 7 : 7 + (s - 30) * 20, s * 1000);
        told.push(meter.share(100));
        meter.onStep(0, 61_000);
        told.push(meter.share(100));
        return told;
        """,
    )
    assert shares == [None, pytest.approx(0.2), None]


def test_each_level_and_cause_of_a_page_is_one_that_the_bridge_takes():
    facts = [
        {},
        {'silent_ms': 9000},
        {'rtt_ms': None},
        *({name: 1e6, 'loss': 0.05} for name in GOOD if name not in ('silent_ms', 'loss')),
    ]
    told = [words(**changes) for changes in (*facts, {'loss': 0.3}, {'freezes': 9}, {'device_ms': 300})]
    assert {one['level'] for one in told} <= set(LINK_LEVELS)
    assert {one['cause'] for one in told} == set(LINK_CAUSES)
    others = evaluate('link_quality.js', 'return all.map(m.qualityWords);', all=told)
    assert others[:3] == ['link good', 'link lost: nothing arrives', '']
    assert all(words.startswith('link poor: ') for words in others[3:])


def test_a_busy_processor_shows_in_the_pace_of_the_page_and_a_hidden_page_tells_nothing():
    late = evaluate(
        'pace.js',
        """
        const pace = new m.Pace(100);
        const told = [];
        let now_ms = 0;
        for (const [gap_ms, hidden] of [[102, false], [300, false], [1000, true], [100, false]]) {
          for (let beat = 0; beat < 40; beat += 1) pace.beat(now_ms += gap_ms, hidden);
          told.push(pace.late_ms());
        }
        return told;
        """,
    )
    assert late == [2, 200, None, 0]


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
