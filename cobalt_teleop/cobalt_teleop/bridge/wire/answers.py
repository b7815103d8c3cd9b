"""What a page's answer may hold. Parsing one takes time that all others wait for: its size is bounded before."""

from collections import Counter

from cobalt_teleop.core.errors import CobaltError

MAX_CHARACTERS = 32_000
MAX_LINES = 600
MAX_MEDIA = 20
"""Media lines: as many cameras, and the data channels."""

MAX_PAYLOAD_TYPES = 128
"""RTP has no more numbers for them (RFC 3551)."""

MAX_CANDIDATES = 40
"""Places at which a page can be reached: addresses of its machine, and those that STUN and TURN gave it. Each costs a
check, and nobody shall knock elsewhere through us."""

MAX_OF_KIND = {'rtpmap': 128, 'fmtp': 128, 'rtcp-fb': 512, 'ssrc': 32, 'ssrc-group': 16, 'extmap': 64}
"""Attributes of one media line. Browsers need far fewer."""

MAX_PARAMETERS = 40
"""In one format's parameters."""


class AnswerError(CobaltError):
    """An answer is larger than any browser's."""


def check_answer(sdp: str) -> None:
    """Looks at the size of an answer (SDP, RFC 8866) in one pass.

    Raises:
        AnswerError: It is larger than any browser's, or repeats what must be said once.
    """
    lines = sdp.splitlines()
    if len(sdp) > MAX_CHARACTERS or len(lines) > MAX_LINES:
        raise AnswerError(
            f'an answer of {len(sdp)} characters in {len(lines)} lines is too long; the longest has '
            f'{MAX_CHARACTERS} in {MAX_LINES}'
        )
    candidates = sdp.count('a=candidate:')
    if candidates > MAX_CANDIDATES:
        raise AnswerError(f'an answer names {candidates} candidates; the most are {MAX_CANDIDATES}')
    media = 0
    seen: Counter[str] = Counter()
    mapped: set[str] = set()
    for line in lines:
        if line.startswith('m='):
            media += 1
            seen.clear()
            mapped.clear()
            _check_media(line, media)
        elif line.startswith('a='):
            kind, _, value = line[2:].partition(':')
            seen[kind] += 1
            if seen[kind] > MAX_OF_KIND.get(kind, MAX_LINES):
                raise AnswerError(f'an answer has more than {MAX_OF_KIND[kind]} lines {kind!r} for one media')
            if kind == 'rtpmap':
                _check_mapped(value, mapped)
            elif kind == 'fmtp' and value.count(';') >= MAX_PARAMETERS:
                raise AnswerError(f'an answer has a format of more than {MAX_PARAMETERS} parameters')


def _check_media(line: str, media: int) -> None:
    if media > MAX_MEDIA:
        raise AnswerError(f'an answer has more than {MAX_MEDIA} media')
    if len(line.split()) - 3 > MAX_PAYLOAD_TYPES:
        raise AnswerError(f'an answer has a media of more than {MAX_PAYLOAD_TYPES} payload types')


def _check_mapped(value: str, mapped: set[str]) -> None:
    payload_type = value.partition(' ')[0]
    if payload_type in mapped:
        raise AnswerError('an answer maps a payload type twice')
    mapped.add(payload_type)
