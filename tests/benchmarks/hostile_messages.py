"""Messages that no page should send: from valid ones, by small and large harm. A seed gives the same ones again."""

import json
import random
from collections.abc import Callable, Mapping
from typing import Any

from cobalt_teleop.bridge.wire import page_messages
from cobalt_teleop.bridge.wire.page_messages import PageMessageError

_Table = Mapping[str, Mapping[str, Callable[[str, Any], Any]]]

# Of these, one fits each field that a page may send.
_PLAUSIBLE: tuple[Any, ...] = (
    0, 1, 7.5, True, '', 'env_0', 'lift', 'Ada', None, [], ['front', 5], [0] * 14, [0, 1, 2], 'track', 'control',
    'success', 'good', 'operator', 'spectator', {}, 'ab12', 60.0, 3600, 'phone', 'view', [2, 3],
)  # fmt: skip

_HOSTILE: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**32, 2**53, 2**64, 10**400, -0.0, 1e308, -1e308, 5e-324, 'NaN', 'Infinity',
    '', ' ', 'x', 'x' * 3000, '\0', '\r\n', '\x1b[2J', '\u202e', '\ud800', '漢' * 100, '../../etc/passwd', '/', '*',
    'env_0', '{}', '%s%n', '__proto__',
    "';--", [], [[]], [None], [0] * 5000, {}, {'type': 'hello'}, {'a': {'b': {'c': []}}},
)  # fmt: skip

_TEXTS = (
    '', ' ', '{', '[', '"', 'null', 'true', '0', '-', 'NaN', '[NaN]', '{"type": NaN}', '{"type": Infinity}', '[' * 5000,
    '{"a":' * 3000, '{"type":"hello"', '{"type":"stats","type":"hello"}', '1e999', '{"type": 1e999}', '\ufeff{}',
    '{}\0', '"' + '\\u0000' * 500 + '"', '{"type":"' + 'a' * 9000 + '"}', '9' * 5000, '{"type":["hello"]}',
    '{"type":{}}',
)  # fmt: skip

_SDP_LINES = (
    'v=0', 'm=video 9 UDP/TLS/RTP/SAVPF 96', 'm=application 9 DTLS/SCTP 5000', 'a=mid:0', 'a=mid:', 'a=setup:active',
    'a=candidate:1 1 udp 2130706431 256.256.256.256 99999 typ host', 'a=candidate:', 'a=ice-ufrag:' + 'x' * 300,
    'a=fingerprint:sha-256 00', 'a=rtpmap:96 VP8/0', 'a=fmtp:96 ' + ';' * 500, 'a=ssrc:4294967296 cname:x',
    'a=group:BUNDLE 0 0 0', 'a=sctp-port:99999999', 'c=IN IP4 0.0.0.0', 'o=- 1 1 IN IP4', 'a=rtcp-fb:* nack',
    'a=extmap:0 x', 'm=video', '=', '\0',
)  # fmt: skip

TABLES: dict[str, _Table] = {
    'signals': page_messages._SIGNALS,
    'samples': page_messages._SAMPLES,
    'unit_requests': page_messages._UNIT_REQUESTS,
    'checks': page_messages._CHECKS,
}
"""What pages may say, by where they say it: a message that is added there is attacked from then on."""


class HostileMessages:
    """Makes them.

    Args:
        seed: Of the generator.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def message(self, where: str, answer: str = '') -> str | bytes:
        """Returns one message.

        Args:
            where: A key of `TABLES`.
            answer: A valid SDP answer, to be harmed too; empty if there is none.
        """
        die = self._random.random()
        if die < 0.05:
            return self._random.choice(_TEXTS)
        if die < 0.08:
            return self._random.randbytes(self._random.choice((0, 1, 3, 50, 2000)))
        table = TABLES[where]
        kind = self._random.choice(list(table))
        message = {'type': kind, **{name: _plausible(name, check) for name, check in table[kind].items()}}
        if 'sdp' in message:
            message['sdp'] = self._sdp(answer)
        if die < 0.20:
            return json.dumps(message)
        for _ in range(self._random.choice((1, 1, 1, 2, 5))):
            self._harm(message)
        text = json.dumps(message)
        if die < 0.30:
            text = self._harmed_text(text)
        return text

    def request(self) -> bytes:
        """Returns the bytes of one HTTP request, or of something else."""
        pick = self._random.choice
        if self._random.random() < 0.1:
            return self._random.randbytes(pick((1, 10, 500, 5000)))
        method = pick(('GET', 'GET', 'GET', 'POST', 'PUT', 'HEAD', 'OPTIONS', 'CONNECT', 'get', 'G\0T', 'X' * 3000, ''))
        path = pick(
            (
                '/', '/ws', '/ws/check', '/healthz', '/metrics', '/main.js', '/../x', '//', '/%00', '/%ff%fe',
                '/?token=x',
                '/' + 'a' * 9000, '*', 'http://[', '/\x80\xff', '/?' + '&a=b' * 500, '/ws?token=%zz', ' ', '',
            )
        )  # fmt: skip
        version = pick(('HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/9.9', 'HTTP/2.0', 'x', ''))
        lines = [
            f'{method} {path} {version}',
            f'Host: {pick(("127.0.0.1", "localhost", "[::1]", "[", "evil", "", "a b"))}',
        ]
        headers = (
            'Origin: null', 'Origin: https://evil', 'Upgrade: websocket', 'Connection: Upgrade', 'Connection: close',
            'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Version: 99', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
            'Sec-WebSocket-Key: x', 'Sec-WebSocket-Extensions: permessage-deflate; server_max_window_bits=99',
            'Content-Length: -1', 'Content-Length: 99999999999', 'Content-Length: 3', 'Transfer-Encoding: chunked',
            'Transfer-Encoding: x', 'Authorization: Bearer x', 'Authorization: Bearer \xff', 'Authorization:',
            'X: ' + 'y' * 9000, 'X-Forwarded-For: a, b, 1.2.3.4', 'X-Forwarded-For: \xff', 'Cookie: ' + 'a=b;' * 500,
            ': x', 'no colon',
            ' folded', 'Expect: 100-continue', 'Range: bytes=0-99999', 'If-None-Match: *', 'Content-Encoding: gzip',
            'Host: twice',
        )  # fmt: skip
        lines += [pick(headers) for _ in range(pick((0, 1, 2, 5, 20)))]
        body = pick((b'', b'', b'abc', b'0\r\n\r\n', b'ffffffffff\r\n', self._random.randbytes(200)))
        return pick(('\r\n', '\r\n', '\n')).join([*lines, '', '']).encode('latin-1', 'replace') + body

    def _harm(self, message: dict[str, Any]) -> None:
        names = [name for name in message if name != 'type'] or ['type']
        name = self._random.choice(names)
        die = self._random.random()
        if die < 0.70:
            message[name] = self._random.choice(_HOSTILE)
        elif die < 0.80:
            message.pop(name, None)
        elif die < 0.90:
            message[self._random.choice(('extra', '', '__class__', 'x' * 500))] = self._random.choice(_HOSTILE)
        else:
            message['type'] = self._random.choice(_HOSTILE)

    def _harmed_text(self, text: str) -> str:
        place = self._random.randrange(len(text) + 1)
        return self._random.choice(
            (
                text[:place],
                text[:place] + self._random.choice('{}[]",:\\\0\x7f٣') + text[place:],
                text + text,
                text.replace('"', "'"),
                text.replace(': ', ': NaN, "x": ', 1),
                text + ' ' * 70_000,
            )
        )

    def _sdp(self, answer: str) -> str:
        lines = answer.split('\r\n') if answer else list(self._random.sample(_SDP_LINES, 8))
        for _ in range(self._random.choice((0, 1, 2, 10))):
            place = self._random.randrange(len(lines))
            if self._random.random() < 0.5:
                lines.insert(place, self._random.choice(_SDP_LINES))
            elif len(lines) > 1:
                lines.pop(place)
        return '\r\n'.join(lines)


def _plausible(name: str, check: Callable[[str, Any], Any]) -> Any:
    for value in _PLAUSIBLE:
        try:
            check(name, value)
        except PageMessageError:
            continue
        return value
    raise LookupError(f'no plausible value for {name!r}: add one')
