"""A page's two connections: what it is taken to see, and what an answer that comes too late does."""

import asyncio

import pytest

from cobalt_teleop.bridge.media.peer import PeerError
from cobalt_teleop.bridge.media.session_media import SessionMedia
from cobalt_teleop.bridge.network.media_way import MediaWay
from cobalt_teleop.bridge.wire.page_messages import PageMessage


class Source:
    """A workcell with one camera."""

    cameras = ('front',)

    def __init__(self):
        self.sinks = []

    def add_sink(self, camera, codec, sink):
        self.sinks.append((camera, codec, sink))

    def remove_sink(self, camera, codec, sink):
        self.sinks.remove((camera, codec, sink))

    def ask_key_frame(self, camera):
        pass


def nothing(*_):
    pass


def made(road='units', codecs=('h264', 'vp8')):
    media = SessionMedia(
        on_sample=nothing,
        on_event=nothing,
        on_open=nothing,
        complain=nothing,
        may_have_again=lambda fragments: True,
        way=MediaWay(),
        name='ada',
    )
    media.meet(PageMessage('hello', {'codecs': codecs, 'road': road}))
    return media


def run(scenario):
    asyncio.run(asyncio.wait_for(scenario(), 20.0))


@pytest.mark.parametrize(
    ('road', 'codecs', 'taken'),
    [
        ('units', ('h264', 'vp8'), ('units', 'h264')),
        ('units', (), ('units', 'h264')),
        ('track', ('h264', 'vp8'), ('track', 'h264')),
        ('track', ('vp8',), ('track', 'vp8')),
    ],
)
def test_a_page_gets_the_road_that_it_asks_for_in_a_codec_that_it_knows(road, codecs, taken):
    async def scenario():
        media, source = made(road, codecs), Source()
        offer = await media.offer_video(source)
        assert (offer['connection'], offer['road']) == ('video', road)
        assert (media.road, media.codec) == taken
        assert [(camera, codec) for camera, codec, _ in source.sinks] == [('front', taken[1])]
        await media.drop()
        assert not source.sinks and media.road == ''

    run(scenario)


def test_a_page_without_any_way_to_show_video_gets_none_and_sees_nothing():
    async def scenario():
        media = made('track', ())
        assert await media.offer_video(Source()) is None
        assert not media.sees(['front'], None)
        assert media.sees([], None), 'a workcell without cameras is driven without'

    run(scenario)


def test_what_a_page_shows_is_known_by_the_frames_that_it_was_sent():
    media = made()
    assert not media.sees(['front'], None), 'nothing was sent yet'
    sent = media._sent['front']
    sent.note(7, 100)
    sent.note(8, 200)
    assert media.shown_frame_stamp(['front'], ('front', 7)) == 100
    assert media.sees(['front'], ('front', 8))
    assert not media.sees(['front'], ('front', 9)), 'a picture that it cannot have'
    assert not media.sees(['front'], ('wrist', 7))
    # Who names none shows nothing newer than what was sent: if video stops, his picture ages.
    assert media.shown_frame_stamp(['front'], None) == 200


def test_a_page_on_the_fast_road_that_names_no_picture_sees_none():
    async def scenario():
        media = made()
        await media.offer_video(Source())
        media._sent['front'].note(7, 100)
        assert media.sees(['front'], ('front', 7))
        assert not media.sees(['front'], None)
        await media.drop()

    run(scenario)


def test_an_offer_takes_one_answer():
    async def scenario():
        media = made()
        await media.offer_video(Source())
        with pytest.raises(PeerError):
            await media.accept('video', 1, 'nonsense')
        with pytest.raises(PeerError, match='has had its answer'):
            await media.accept('video', 1, 'nonsense')
        await media.drop()

    run(scenario)


def test_frames_keep_their_numbers_when_video_starts_anew_on_the_other_road():
    async def scenario():
        media, source = made(), Source()
        await media.offer_video(source)
        media._sent['front'].note(media._sent['front'].next_unit(), 100)
        media.wanted_road = 'track'
        await media.offer_video(source)
        assert len(source.sinks) == 1
        assert media.sees(['front'], ('front', 1)), 'what stays on the screen until the first frame of the other road'
        assert media._sent['front'].next_unit() == 2
        await media.drop()

    run(scenario)


def test_an_answer_to_an_offer_that_a_newer_one_has_replaced_says_nothing():
    async def scenario():
        media, source = made(), Source()
        first = await media.offer_video(source)
        second = await media.offer_video(source)
        control = await media.offer_control()
        assert (first['number'], second['number'], control['number']) == (1, 2, 1)
        await media.accept('video', 1, 'nonsense')
        with pytest.raises(PeerError):
            await media.accept('video', 2, 'nonsense')
        await media.drop()
        await media.accept('video', 2, 'nonsense')

    run(scenario)


class StandingPeer:
    """A connection that stands; it says when it is closed."""

    def __init__(self, kind, closed, state):
        self.kind, self.closed, self.state = kind, closed, state
        self.sinks = {}

    async def close(self):
        self.closed.append(self.kind)


@pytest.mark.parametrize(
    ('live', 'state', 'ended'),
    [
        ((3, 5), 'connected', []),
        ((3, 0), 'connected', ['video']),
        ((2, 5), 'connected', ['control']),
        ((0, 0), 'connected', ['control', 'video']),
        ((3, 5), 'closed', ['control', 'video']),
    ],
)
def test_what_a_page_still_has_is_kept_when_its_socket_comes_anew(live, state, ended):
    async def scenario():
        media, closed = made(), []
        media._numbers = {'control': 3, 'video': 5}
        media._control, media._video = (StandingPeer(kind, closed, state) for kind in ('control', 'video'))
        media._sent['front'].note(7, 100)
        await media.keep(live)
        assert closed == ended
        assert (media.has_control, media.has_video) == ('control' not in ended, 'video' not in ended)
        assert media.sees(['front'], ('front', 7)) == (len(ended) < 2), 'its pictures are known as long as it has some'

    run(scenario)
