"""What a page asks for: by its role, one thing at a time, and never without an answer."""

import asyncio
import json
import re

import pytest

from cobalt_teleop.bridge.door.guest import Role
from cobalt_teleop.bridge.host_services import ServiceError
from cobalt_teleop.bridge.operators.page_pace import PagePace
from cobalt_teleop.bridge.operators.page_requests import PageRequests


class Voice:
    def __init__(self):
        self.said = []

    def tell(self, event):
        self.said.append(event)

    def notice(self, text, level='error'):
        self.said.append({'type': 'notice', 'text': text})

    def complain(self, error):
        self.said.append({'type': 'error', 'text': str(error)})

    def may_complain(self):
        return True


class Asker:
    full_name = 'Ada (session 1)'

    def __init__(self, role):
        self.role = role
        self.active = 0

    def note_activity(self):
        self.active += 1


def hear(role, texts, work=None, messages_per_s=1000.0):
    """Returns what was done, what was said, and the log, after all that was heard."""
    done, log, floods = [], [], []
    voice, asker = Voice(), Asker(role)

    async def scenario():
        async def note(message):
            done.append(message.type)

        async def on_flood():
            floods.append(True)

        kinds = (
            'stats',
            'ping',
            'acquire',
            'release',
            'start',
            'end',
            'emergency_stop',
            'stop_all',
            'watch',
            'join_line',
        )
        table = dict.fromkeys(kinds, note) | (work or {})
        requests = PageRequests(asker, table, voice, PagePace(messages_per_s, lambda: 0.0), on_flood, log.append)
        for text in texts:
            requests.on_signal(text)
        for _ in range(20):
            await asyncio.sleep(0)

    asyncio.run(scenario())
    return done, voice.said, log, floods, asker


@pytest.mark.parametrize(
    ('role', 'may'),
    [
        (Role.SPECTATOR, {'ping', 'emergency_stop', 'watch'}),
        (Role.OPERATOR, {'ping', 'emergency_stop', 'watch', 'acquire', 'start', 'join_line'}),
        (Role.SUPERVISOR, {'ping', 'emergency_stop', 'watch', 'acquire', 'start', 'join_line', 'stop_all'}),
    ],
)
def test_each_role_may_what_it_may_and_is_refused_the_rest_in_words(role, may):
    asked = {
        'ping': '{"type": "ping"}',
        'emergency_stop': '{"type": "emergency_stop"}',
        'watch': '{"type": "watch", "workcell": "env_0"}',
        'acquire': '{"type": "acquire", "ask": false}',
        'start': '{"type": "start"}',
        'join_line': '{"type": "join_line"}',
        'stop_all': '{"type": "stop_all"}',
    }
    done, said, log, _, _ = hear(role, asked.values())
    assert set(done) == may
    refused = [event['text'] for event in said if event['type'] == 'notice']
    assert len(refused) == len(log) == len(asked) - len(may)
    assert all(re.match(f'you are here as {role}: that takes an invitation as', text) for text in refused)


def test_a_stop_waits_for_nothing_and_other_things_for_each_other():
    async def never(_):
        await asyncio.Event().wait()

    texts = ['{"type": "start"}', '{"type": "release"}', '{"type": "emergency_stop"}']
    done, _, _, _, asker = hear(Role.OPERATOR, texts, {'start': never})
    assert done == ['emergency_stop']
    assert asker.active == 3


def test_what_a_host_refuses_is_told_and_what_is_done_too():
    async def refuse(_):
        raise ServiceError('Bo holds control')

    _, said, _, _, _ = hear(
        Role.OPERATOR, ['{"type": "acquire", "ask": false}', '{"type": "release"}'], {'acquire': refuse}
    )
    assert said == [{'type': 'notice', 'text': 'Bo holds control'}, {'type': 'done', 'what': 'release'}]


def test_malformed_messages_and_a_second_hello_get_a_sentence():
    hello = {'type': 'hello', 'session': '', 'workcell': '', 'operator': '', 'token': '', 'codecs': [], 'road': 'track'}
    hello['live'] = [0, 0]
    done, said, _, _, _ = hear(Role.SUPERVISOR, ['{', json.dumps(hello)])
    assert done == [] and [event['type'] for event in said] == ['error', 'error']
    assert 'comes once, first' in said[1]['text']


def test_a_page_that_says_much_too_much_is_sent_away_once():
    done, _, log, floods, _ = hear(Role.OPERATOR, ['{"type": "ping"}'] * 50, messages_per_s=5.0)
    assert len(done) <= 20 and floods == [True]
    assert log == ['Ada (session 1) sends too much at once, and is sent away']
