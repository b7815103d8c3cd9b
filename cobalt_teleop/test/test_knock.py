import re

import pytest

from cobalt_teleop.bridge.door.listening import is_loopback
from cobalt_teleop.foxglove.knock import KnockError, knock_of

ORIGINS = ('https://app.foxglove.dev',)


def head(*lines, target='/', host='127.0.0.1'):
    return '\r\n'.join([f'GET {target} HTTP/1.1', f'Host: {host}', 'Upgrade: websocket', *lines, '', '']).encode()


def check(request_head):
    knock_of(request_head).check(is_loopback, ORIGINS)


def test_programs_and_the_listed_pages_may_pass():
    check(head())
    check(head('Origin: https://app.foxglove.dev'))


def test_the_token_is_read_from_the_address_and_not_passed_on():
    knock = knock_of(head('X: y', target='/path?token=a%2Bb&x=1'))
    assert knock.token == 'a+b'
    assert knock.head == head('X: y')
    assert knock_of(head()).token == ''


def test_a_proxy_is_noticed():
    assert knock_of(head('X-Forwarded-For: 192.0.2.1')).forwarded
    assert not knock_of(head()).forwarded


@pytest.mark.parametrize(
    ('request_head', 'reason'),
    [
        (head('Origin: https://evil.example'), 'pages of'),
        (head('Origin: null'), "pages of 'null'"),
        (head('Origin: https://app.foxglove.dev', 'Origin: https://evil.example'), 'evil.example'),
        (head('Origin: https://app.foxglove.dev.evil.example'), 'pages of'),
        (head('Host: 127.0.0.1'), 'the host'),
        (head(host='evil.example'), 'not this machine'),
        (head().replace(b'Host', b'X-Host'), 'the host'),
        (head('Host : evil.example'), 'no HTTP'),
        (head(target='http://[/'), 'no HTTP'),
        (b'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n', 'for the WebSocket'),
        (b'POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n\r\n', 'for the WebSocket'),
        (b'\x16\x03\x01\r\n\r\n', 'for the WebSocket'),
        (head('Origin: \x1b[2Jred'), r"'\\x1b\[2Jred'"),
    ],
)
def test_all_else_is_refused_in_words_that_a_terminal_can_show(request_head, reason):
    with pytest.raises(KnockError) as refused:
        check(request_head)
    assert re.search(reason, str(refused.value))
    assert str(refused.value).isprintable()
