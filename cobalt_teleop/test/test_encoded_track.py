"""A track of encoded packets never hands out a broken group of pictures, and asks for key frames."""

import asyncio

import pytest
from aiortc import RTCConfiguration, RTCPeerConnection
from aiortc.mediastreams import MediaStreamError
from aiortc.rtp import RTCP_PSFB_PLI, RtcpPsfbPacket

from cobalt_teleop.bridge.media.encoded_packet import encoded_packet
from cobalt_teleop.bridge.media.encoded_track import EncodedVideoTrack
from cobalt_teleop.bridge.media.sent_frames import SentFrames

KEY = b'\0\0\0\1\x67key'
DELTA = b'\0\0\0\1\x41delta'


class Sent:
    """Stands where the sender would: tells the RTP timestamp of the last packet."""

    _RTCRtpSender__rtp_timestamp = 0
    _send_keyframe = None


def frame(data, number):
    return encoded_packet(data, number * 50_000_000)


def run(scenario):
    asyncio.run(scenario())


def made(sent=None):
    asked, anchors = [], []
    track = EncodedVideoTrack(
        lambda: asked.append(1), sent or SentFrames(), lambda rtp, stamp: anchors.append((rtp, stamp))
    )
    return track, asked, anchors


def test_it_starts_with_a_key_frame_and_asks_for_one():
    async def scenario():
        track, asked, _ = made()
        receiving = asyncio.ensure_future(track.recv())
        await asyncio.sleep(0)
        assert asked
        track.push(frame(DELTA, 1))
        track.push(frame(KEY, 2))
        assert bytes(await receiving) == KEY

    run(scenario)


def test_a_queue_that_overflows_goes_on_with_the_next_key_frame():
    async def scenario():
        track, asked, _ = made()
        receiving = asyncio.ensure_future(track.recv())
        await asyncio.sleep(0)
        track.push(frame(KEY, 0))
        await receiving
        asked.clear()
        for number in range(1, 20):
            track.push(frame(DELTA, number))
        assert asked and track.overflows == 1
        track.push(frame(KEY, 20))
        track.push(frame(DELTA, 21))
        first, second = await track.recv(), await track.recv()
        assert (first.pts, second.pts) == (20 * 4500, 21 * 4500)

    run(scenario)


def test_a_viewer_who_fetches_nothing_slows_nobody_and_costs_no_memory():
    async def scenario():
        slow, _, _ = made()
        quick, asked, _ = made()
        first = [asyncio.ensure_future(track.recv()) for track in (slow, quick)]
        await asyncio.sleep(0)
        for track in (slow, quick):
            track.push(frame(KEY, 0))
        await asyncio.gather(*first)
        asked.clear()
        for number in range(1, 200):
            for track in (slow, quick):
                track.push(frame(DELTA, number))
            assert (await quick.recv()).pts == number * 4500
        assert not asked and quick.overflows == 0
        assert slow.overflows == 1 and not slow._queue

    run(scenario)


def test_frames_that_nobody_fetches_yet_are_not_kept():
    async def scenario():
        track, _, _ = made()
        for number in range(50):
            track.push(frame(KEY, number))
        receiving = asyncio.ensure_future(track.recv())
        await asyncio.sleep(0)
        track.push(frame(KEY, 60))
        assert (await receiving).pts == 60 * 4500

    run(scenario)


def test_sent_frames_are_known_by_their_rtp_timestamp():
    async def scenario():
        sent = SentFrames()
        track, _, anchors = made(sent)
        sender = Sent()
        track.bind(sender)
        receiving = asyncio.ensure_future(track.recv())
        await asyncio.sleep(0)
        track.push(frame(KEY, 3))
        await receiving
        sender._RTCRtpSender__rtp_timestamp = 777
        track.push(frame(DELTA, 4))
        await track.recv()
        assert anchors == [(777, 150_000_000)]
        assert sent.stamp_of(777) == 150_000_000
        assert sent.stamp_of(778) is None

    run(scenario)


def test_a_stopped_track_ends_its_receiver():
    async def scenario():
        track, _, _ = made()
        receiving = asyncio.ensure_future(track.recv())
        await asyncio.sleep(0)
        track.stop()
        with pytest.raises(MediaStreamError):
            await asyncio.wait_for(receiving, 1.0)

    run(scenario)


def test_the_private_names_of_aiortc_are_where_we_reach_for_them():
    async def scenario():
        track, asked, _ = made()
        connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        sender = connection.addTransceiver(track, direction='sendonly').sender
        track.bind(sender)
        assert sender._RTCRtpSender__rtp_timestamp == 0
        await sender._handle_rtcp_packet(RtcpPsfbPacket(fmt=RTCP_PSFB_PLI, ssrc=1, media_ssrc=sender._ssrc))
        assert asked, 'PLI asks the encoder for a key frame'
        await connection.close()

    run(scenario)
