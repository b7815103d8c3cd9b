"""Whatever a page says, the bridge answers with a sentence or a checked message, and never with a traceback."""

import json
import random

import pytest

from cobalt_teleop.bridge.wire.page_messages import (
    MAX_SAMPLE_BYTES,
    PageMessageError,
    parse_sample,
    parse_signal,
    parse_unit_request,
)
from cobalt_teleop.core.keyboard_actions import ACTIONS

KEYS = {
    'type': 'keys',
    'sequence': 7,
    'device_ms': 1796036308770.25,
    'clock_offset_ms': -0.07,
    'clock_uncertainty_ms': 0.7,
    'buttons': 3,
    'press_counts': [0] * len(ACTIONS),
    'engaged': True,
    'clutch_epoch': 2,
    'reference': 'view',
    'heading': 0.0,
    'frame': ['front', 3341643459],
}
HELLO = {
    'type': 'hello',
    'session': '',
    'workcell': 'env_0',
    'operator': 'Ada',
    'codecs': ['h264'],
    'token': '',
    'road': 'units',
    'live': [0, 0],
}
STATS = {
    'type': 'stats',
    'rtt_ms': 1.5,
    'clock_offset_ms': None,
    'clock_uncertainty_ms': 0.2,
    'loss_down': 0,
    'level': 'fair',
    'cause': 'age_ms',
    'cameras': [
        {
            'name': 'front',
            'fps': 20,
            'frame_age_ms': None,
            'kbit_s': 800.5,
            'dropped': 0,
            'freezes': 1,
            'shown_width': 900,
        }
    ],
}
MISSING = {'type': 'missing', 'unit': 7, 'fragments': [0, 3]}
ODD_VALUES = (
    None, True, False, -1, 0, 1, 2**31, 2**32, 2**70, -(2**70), 0.5, 1e300, '', 'x', 'x' * 70000, '\0', '\ud800',
    [], [1], [None] * 30, ['front', -1], {}, {'type': 'keys'}, [[[]]],
)  # fmt: skip


def test_good_messages_pass_as_they_are():
    keys = parse_sample(json.dumps(KEYS))
    assert keys.type == 'keys'
    assert keys['frame'] == ('front', 3341643459)
    assert keys['press_counts'] == (0,) * len(ACTIONS)
    assert parse_signal(json.dumps(HELLO))['operator'] == 'Ada'
    assert parse_signal(json.dumps(STATS))['cameras'][0].freezes == 1
    assert parse_signal('{"type": "start"}').type == 'start'
    assert parse_unit_request(json.dumps(MISSING))['fragments'] == (0, 3)


@pytest.mark.parametrize(
    ('parse', 'good'),
    [(parse_sample, KEYS), (parse_signal, HELLO), (parse_signal, STATS), (parse_unit_request, MISSING)],
)
def test_odd_values_in_any_field_are_refused_or_stay_within_bounds(parse, good):
    for name in good:
        for value in ODD_VALUES:
            try:
                parse(json.dumps(good | {name: value}))
            except PageMessageError as error:
                assert 10 < len(str(error)) < 800
        with pytest.raises(PageMessageError):
            parse(json.dumps({key: value for key, value in good.items() if key != name}))
        with pytest.raises(PageMessageError):
            parse(json.dumps(good | {'more': 1}))


def test_random_bytes_never_raise_anything_else():
    chance = random.Random(2)
    good = json.dumps(KEYS)
    for _ in range(3000):
        letters = list(good)
        for _ in range(chance.randrange(1, 6)):
            at = chance.randrange(len(letters))
            letters[at] = chance.choice('{}[]",:0123456789eE-+.tfnul\\\x00\u00e9 ')
        text = ''.join(letters)[: chance.randrange(1, len(letters) + 1)]
        for parse in (parse_sample, parse_signal, parse_unit_request):
            try:
                parse(text)
            except PageMessageError:
                pass


@pytest.mark.parametrize(
    'text',
    [
        '', 'null', '[]', '"keys"', '{}', '{"type": []}', '{"type": "shutdown"}', '{"type": "keys"}', 'NaN', '[' * 5000,
        json.dumps(KEYS | {'device_ms': 1.0}).replace('1.0', 'NaN'),
        json.dumps(KEYS | {'device_ms': 1.0}).replace('1.0', '1e999'),
        ' ' * (MAX_SAMPLE_BYTES + 1),
    ],
)  # fmt: skip
def test_what_is_no_message_is_refused(text):
    with pytest.raises(PageMessageError):
        parse_sample(text)


def test_an_outcome_must_be_one_that_exists():
    assert parse_signal('{"type": "end", "outcome": "success"}')['outcome'] == 'success'
    with pytest.raises(PageMessageError, match='success, failure, aborted, discarded'):
        parse_signal('{"type": "end", "outcome": "winning"}')


def test_an_answer_names_no_endless_list_of_places():
    line = 'a=candidate:1 1 udp 1 192.0.2.1 9 typ host\r\n'
    answer = {'type': 'answer', 'connection': 'control', 'number': 1}
    parse_signal(json.dumps(answer | {'sdp': line * 40}))
    with pytest.raises(PageMessageError, match='41 candidates; the most are 40'):
        parse_signal(json.dumps(answer | {'sdp': line * 41}))
