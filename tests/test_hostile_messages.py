"""Every input of the bridge under hostile messages: a short run of the fuzzer."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / 'benchmarks'))

from hostile_messages import TABLES, HostileMessages

from cobalt_teleop.bridge.wire.page_messages import (
    PageMessageError,
    parse_check,
    parse_sample,
    parse_signal,
    parse_unit_request,
)

PARSERS = {
    'signals': parse_signal,
    'samples': parse_sample,
    'unit_requests': parse_unit_request,
    'checks': parse_check,
}


@pytest.mark.parametrize('where', TABLES)
def test_a_message_is_taken_or_refused_in_words_and_both_happen(where):
    hostile, taken, refused = HostileMessages(5), set(), 0
    for _ in range(6000):
        message = hostile.message(where)
        if isinstance(message, bytes):
            continue
        try:
            taken.add(PARSERS[where](message).type)
        except PageMessageError as error:
            refused += 1
            assert len(str(error)) < 1000
    assert taken == set(TABLES[where]), 'a message that is never valid is hardly attacked'
    assert refused > 2000


def test_a_bridge_shrugs_off_hostile_messages():
    from fuzz_bridge import SHARES, attack

    figures = attack(1500, seed=11)
    assert all(figures[f'messages.{where}'] > 0 for where in SHARES)
    assert figures['rss_highest_mb'] - figures['rss_after_0_percent_mb'] < 150
