"""Answers are bounded before they are parsed: one that takes long stops everybody."""

import asyncio
import json
import time

import pytest
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.sdp import SessionDescription

from cobalt_teleop.bridge.media.peer import Peer
from cobalt_teleop.bridge.wire.answers import MAX_CHARACTERS, AnswerError, check_answer
from cobalt_teleop.bridge.wire.page_messages import PageMessageError, parse_signal

HEAD = 'v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\n'
VIDEO = 'm=video 9 UDP/TLS/RTP/SAVPF 96\r\nc=IN IP4 0.0.0.0\r\na=mid:0\r\n'
MAPPED = 'a=rtpmap:96 H264/90000\r\n'
ALL_TYPES = 'm=video 9 UDP/TLS/RTP/SAVPF ' + ' '.join(str(kind) for kind in range(96, 128)) + '\r\n'
ALL_MAPPED = ''.join(f'a=rtpmap:{kind} H264/90000\r\n' for kind in range(96, 128))

HUGE = {
    'too long': HEAD + 'a=x:' + 'y' * MAX_CHARACTERS,
    'many lines': HEAD + 'a=x\r\n' * 700,
    'many media': HEAD + VIDEO * 21,
    'many payload types': HEAD + 'm=video 9 UDP/TLS/RTP/SAVPF ' + '96 ' * 6000 + '\r\n',
    'one mapped again and again': HEAD + VIDEO + MAPPED * 30,
    'much feedback': HEAD + ALL_TYPES + ALL_MAPPED + 'a=rtcp-fb:* nack\r\n' * 520,
    'feedback for types mapped again': HEAD + ALL_TYPES + ALL_MAPPED * 2 + 'a=rtcp-fb:* nack\r\n' * 500,
    'many sources': HEAD + VIDEO + ''.join(f'a=ssrc:{number} cname:a\r\n' for number in range(100)),
    'many candidates': HEAD + VIDEO + 'a=candidate:1 1 udp 1 192.0.2.1 9 typ host\r\n' * 41,
    'many parameters': HEAD + VIDEO + MAPPED + 'a=fmtp:96 ' + 'a=1;' * 100 + '\r\n',
}


@pytest.mark.parametrize('what', HUGE)
def test_an_answer_larger_than_any_browsers_is_refused_in_words(what):
    with pytest.raises(AnswerError, match='answer'):
        check_answer(HUGE[what])


def test_the_largest_answer_that_is_let_through_is_parsed_in_an_eye_blink():
    worst = HEAD + ALL_TYPES + ALL_MAPPED + 'a=rtcp-fb:* nack\r\n' * 500
    check_answer(worst)
    started_s = time.process_time()
    SessionDescription.parse(worst)
    assert time.process_time() - started_s < 0.25


def test_what_a_real_peer_answers_passes_and_a_huge_one_is_no_message():
    def parsed(sdp):
        return parse_signal(json.dumps({'type': 'answer', 'number': 1, 'connection': 'control', 'sdp': sdp}))['sdp']

    async def scenario():
        peer = Peer()
        for number in range(4):
            peer._connection.addTransceiver('video', direction='sendonly')
            peer._connection.createDataChannel(f'channel {number}')
        offer = await peer.offer()
        page = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        await page.setRemoteDescription(RTCSessionDescription(offer['sdp'], 'offer'))
        await page.setLocalDescription(await page.createAnswer())
        with pytest.raises(PageMessageError, match='twice'):
            parsed(HUGE['one mapped again and again'])
        await peer.accept(parsed(page.localDescription.sdp))
        await page.close()
        await peer.close()

    asyncio.run(asyncio.wait_for(scenario(), 20.0))
