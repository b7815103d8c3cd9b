"""What is kept of a topic before an episode: the newest, from a key frame on, and not without bound."""

import pytest

from cobalt_recorder import pre_roll
from cobalt_recorder.bag_thread import RawMessage
from cobalt_recorder.pre_roll import _Newest


def message(at, data=b'row'):
    return RawMessage(topic='/cell/a', data=data, received_ns=at, published_ns=at, sequence=at)


def times(kept):
    return [one.received_ns for one in kept.messages()]


@pytest.fixture
def video(monkeypatch):
    monkeypatch.setattr(pre_roll, 'is_key_frame', lambda data: data == b'key')
    return _Newest(is_video=True)


def drop_older_than(kept, time_ns):
    while kept.has_older_than(time_ns):
        kept.drop_oldest()


def test_rows_that_are_too_old_go():
    kept = _Newest(is_video=False)
    assert [kept.add(message(at)) for at in range(5)] == [3] * 5
    drop_older_than(kept, 3)
    assert times(kept) == [3, 4]
    drop_older_than(kept, 9)
    assert times(kept) == []


def test_a_video_keeps_the_key_frame_before_what_is_asked_for(video):
    for at in range(9):
        video.add(message(at, b'key' if at % 3 == 0 else b'delta'))
    drop_older_than(video, 4)
    assert times(video) == [3, 4, 5, 6, 7, 8]
    drop_older_than(video, 6)
    assert times(video) == [6, 7, 8]
    drop_older_than(video, 99)
    assert times(video) == [6, 7, 8]


def test_frames_without_a_key_frame_are_not_kept(video):
    assert video.add(message(1, b'delta')) == 0 and times(video) == []
    video.add(message(2, b'key'))
    assert video.drop_oldest() == 3
    assert video.add(message(3, b'delta')) == 0 and times(video) == []
